//! The caption: what is true now, in one sentence, and the judge's six figures.

use leptos::prelude::*;

use super::icons::Icon;
use super::play::play;
use crate::stage::view::caption::{self, Figure};

/// The caption.
#[component]
pub(crate) fn CaptionBar() -> impl IntoView {
    let play = play();
    let said = Memo::new(move |_| {
        let (schedule, now) = (play.schedule.get(), play.now.get());
        play.with(|stage| caption::caption(stage, &schedule, now))
    });
    let figures = Memo::new(move |_| play.with(caption::figures));
    let since = Memo::new(move |_| play.with(caption::since));
    let twice = Memo::new(move |_| play.with(caption::settled_twice));
    let sink = Memo::new(move |_| play.with(|stage| stage.setup.sink.to_string()));
    view! {
        <section
            class=move || if said.read().chip.is_some() { "caption harm wide" } else { "caption wide" }
            aria-label="What is true now"
        >
            {move || {
                said.read()
                    .chip
                    .map(|word| {
                        view! {
                            <span class="viol-chip">
                                <Icon name="oct" />
                                {word}
                            </span>
                        }
                    })
            }}
            <p>
                <b>{move || said.read().what.clone()}</b>
                " "
                {move || said.read().why.clone()}
            </p>
            <div class="figures">
                <p class="since">
                    {move || since.get()}
                    {move || {
                        let n = twice.get();
                        (n > 0)
                            .then(|| {
                                let slots = if n == 1 { "slot" } else { "slots" };
                                view! {
                                    <span class="viol">
                                        <Icon name="oct" small=true />
                                        {format!("{} settled {n} {slots} more than once", sink.get())}
                                    </span>
                                }
                            })
                    }}
                </p>
                <dl class="tally" aria-label="Verdict so far, judged from the log">
                    {move || figures.get().into_iter().map(figure).collect_view()}
                </dl>
            </div>
        </section>
    }
    .into_any()
}

fn figure(figure: Figure) -> AnyView {
    view! {
        <div class=if figure.harm { "harm" } else { "" }>
            <dt>{figure.name}</dt>
            <dd>
                {figure.harm.then(|| view! { <Icon name="oct" small=true /> })}
                {figure.value}
            </dd>
        </div>
    }
    .into_any()
}
