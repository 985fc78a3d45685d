//! Stored runs.

use leptos::prelude::*;

use crate::data::RunLine;
use crate::stage::view::words;

/// `/runs`
pub(crate) fn page(runs: Vec<RunLine>) -> impl IntoView {
    let empty = runs.is_empty();
    view! {
        <main id="main" class="plain">
            <h1>"Runs"</h1>
            <Show when=move || empty>
                <p class="ink2">"No run is stored yet. A lab is stored a minute after its last page was closed."</p>
                <p>
                    <a class="btn btn-main" href="/lab" rel="external">
                        "Open the lab"
                    </a>
                </p>
            </Show>
            <Show when=move || !empty>
                <div class="panel scroll-x">
                    <table class="rows runs">
                        <thead>
                            <tr>
                                <th>"run"</th>
                                <th>"began (UTC)"</th>
                                <th>"strategy"</th>
                                <th class="r">"events"</th>
                                <th class="r">"overlaps"</th>
                                <th class="r">"effects per slot"</th>
                                <th>"ended"</th>
                            </tr>
                        </thead>
                        <tbody>{runs.iter().map(row).collect_view()}</tbody>
                    </table>
                </div>
            </Show>
        </main>
    }
    .into_any()
}

fn row(run: &RunLine) -> AnyView {
    let bad = |is: bool| if is { "r num bad b" } else { "r num" };
    view! {
        <tr>
            <td>
                <a href=format!("/runs/{}", run.id) rel="external">
                    {run.title.clone()}
                </a>
                " "
                <code class="muted">{run.id.get(..4).unwrap_or(&run.id).to_owned()}</code>
            </td>
            <td class="num">{words::date(run.began_ms)}</td>
            <td>
                <code>{run.strategy.clone()}</code>
            </td>
            <td class="r num">{words::grouped(run.events)}</td>
            <td class=bad(run.overlaps > 0)>{run.overlaps}</td>
            <td class=bad(run.effects_per_slot > 1)>{run.effects_per_slot}</td>
            <td>{run.ended.map_or("goes on", words::ended)}</td>
        </tr>
    }
    .into_any()
}
