//! Stored runs.

use leptos::prelude::*;

use crate::data::RunLine;
use crate::stage::view::words;

/// `/runs`
pub(crate) fn page(runs: Vec<RunLine>) -> impl IntoView {
    let (empty, count) = (runs.is_empty(), runs.len());
    view! {
        <main id="main" class="plain">
            <header class="runs-h">
                <h1>"Runs"</h1>
                <span class="grow"></span>
                <Show when=move || { count > 1 }>
                    <button class="btn" form="compare" id="compare-b">
                        "Compare two"
                    </button>
                </Show>
                <label class="btn" for="import">
                    "Import a run"
                </label>
                <input class="sr" type="file" id="import" accept=".json,application/json"/>
            </header>
            <p class="ink2">
                "Sessions that you ended in this browser, and runs that you imported: what Export wrote, or "
                <code>"aegis run --record"</code> ". Whoever knows a run's address can watch it."
            </p>
            <p id="runs-said" role="status" hidden></p>
            <Show when=move || empty>
                <p class="ink2">"No run is stored yet. A lab session is stored a minute after its last page was closed."</p>
                <p>
                    <a class="btn btn-main" href="/lab" rel="external">
                        "Open the lab"
                    </a>
                </p>
            </Show>
            <Show when=move || !empty>
                <form class="panel scroll-x" id="compare" action="/runs/compare" tabindex="0" aria-label="Stored runs">
                    <table class="rows runs">
                        <thead>
                            <tr>
                                <th>
                                    <span class="sr">"chosen"</span>
                                </th>
                                <th>"run"</th>
                                <th class="hide-s">"began (UTC)"</th>
                                <th>"strategies and guards"</th>
                                <th class="r hide-s">"events"</th>
                                <th class="r">"overlaps"</th>
                                <th class="r">"effects per slot"</th>
                                <th class="hide-s">"ended"</th>
                                <th>
                                    <span class="sr">"as a file, or gone"</span>
                                </th>
                            </tr>
                        </thead>
                        <tbody>{runs.iter().map(row).collect_view()}</tbody>
                    </table>
                </form>
            </Show>
        </main>
    }
    .into_any()
}

fn row(run: &RunLine) -> AnyView {
    view! {
        <tr>
            <td class="pick-c">
                <input type="checkbox" name="run" value=run.id.clone() aria-label=format!("Compare {}", run.title)/>
            </td>
            <td>
                <a href=format!("/runs/{}", run.id) rel="external">
                    {run.title.clone()}
                </a>
                " "
                <code class="muted">{run.id.get(..4).unwrap_or(&run.id).to_owned()}</code>
            </td>
            <td class="num hide-s">{words::date(run.began_ms)}</td>
            <td class="eras">
                <code>{run.strategy.clone()}</code>
            </td>
            <td class="r num hide-s">{words::grouped(run.events)}</td>
            {figure(run.counted.map(|counted| (counted.overlaps, 0)))}
            {figure(run.counted.map(|counted| (counted.effects_per_slot, 1)))}
            <td class="hide-s">{run.ended.map_or("goes on", words::ended)}</td>
            <td class="run-acts">
                <a class="btn btn-quiet btn-s" href=format!("/api/runs/{}/export", run.id) rel="external">
                    "Export"
                    <span class="sr">{format!(" {}", run.title)}</span>
                </a>
                <button type="button" class="btn btn-quiet btn-s" data-delete=run.id.clone()>
                    "Delete"
                    <span class="sr">{format!(" {}", run.title)}</span>
                </button>
            </td>
        </tr>
    }
    .into_any()
}

/// A figure with the most that is sound; nothing: it was not counted.
fn figure(counted: Option<(u32, u32)>) -> AnyView {
    match counted {
        Some((is, sound)) => {
            let class = if is > sound { "r num bad b" } else { "r num" };
            view! { <td class=class>{is}</td> }.into_any()
        }
        None => view! {
            <td class="r muted" title="A schedule of homework: its sessions enter no critical section.">
                "\u{2013}"
            </td>
        }
        .into_any(),
    }
}
