//! Replica cards: header, task machine, three witnesses with the joints between them; under them, the map.

use leptos::prelude::*;

use super::icons::Icon;
use super::map::{self, Map};
use super::play::{Part, play_of};
use crate::stage::menu::Target;
use crate::stage::replica::Process;
use crate::stage::view::machine::TASK_BOX;
use crate::stage::view::{card, hue};

/// All cards.
#[component]
pub(crate) fn Cards() -> impl IntoView {
    let play = play_of(Part::Cards);
    let names = Memo::new(move |_| play.with(|stage| stage.replicas.keys().cloned().collect::<Vec<_>>()));
    view! {
        <section
            class="panel topo"
            aria-label="Replicas, links and stores"
            on:click=move |event| map::on_click(play, &event)
            on:keydown=move |event| map::on_key(play, &event)
        >
            <h2 class="sr">"Replicas, links and stores"</h2>
            <div class=move || {
                match names.read().len() {
                    0..4 => "cards",
                    4 => "cards four",
                    _ => "cards many",
                }
            }>
                <For each=move || names.get() key=Clone::clone children=|name| view! { <CardView name /> } />
            </div>
            <Show when=move || names.read().is_empty()>
                <p class="empty">"No replica runs. Add one with + in the bar above."</p>
            </Show>
            <Map />
        </section>
    }
    .into_any()
}

#[component]
fn CardView(name: String) -> impl IntoView {
    let play = play_of(Part::Cards);
    let of = StoredValue::new(name);
    let card = Memo::new(move |_| {
        let (schedule, now) = (play.schedule.get(), play.now.get());
        of.with_value(|name| play.with(|stage| card::card(stage, name, &schedule, now)))
    });
    let class = move || {
        let card = card.read();
        let process = match card.process {
            Process::Stopped => " stopped",
            Process::Dead => " dead",
            _ => "",
        };
        let agrees = if card.agrees() { " agrees" } else { "" };
        let selected = of.with_value(|name| play.selected.read().as_ref() == Some(name));
        format!("card{process}{agrees}{}", if selected { " selected" } else { "" })
    };
    let truth = Memo::new(move |_| card.read().truth());
    let name = of.get_value();
    let to = Target::Replica(name.clone());
    let opens = to.to_string();
    let is_open = move || play.menu.read().as_ref().is_some_and(|opened| opened.target == to);
    let expanded = Memo::new(move |_| if is_open() { "true" } else { "false" });
    view! {
        <article class=class aria-label=format!("Replica {name}")>
            <div class="card-top">
                <header class="card-h">
                    <span class=format!("rep {} rep-l", hue(&name))>{name.clone()}</span>
                    <h3 class="name">"Replica " {name.clone()}</h3>
                    <span class="pid num">{move || card.read().pid.clone()}</span>
                    <span class="grow"></span>
                    <span class=move || card.read().chip_class() inner_html=move || card.read().chip_html()></span>
                    <span class="fold show-s" inner_html=move || card.read().fold()></span>
                    <Show when=move || play.owner>
                        <button
                            class="btn btn-quiet btn-s btn-ic"
                            id=move || of.with_value(|name| format!("menu-{name}"))
                            aria-haspopup="menu"
                            data-to=opens.clone()
                            aria-expanded=expanded
                            aria-label=move || of.with_value(|name| format!("What to do to replica {name}"))
                        >
                            <Icon name="dots" />
                        </button>
                    </Show>
                </header>
                <svg
                    class="tsm"
                    viewBox=TASK_BOX
                    preserveAspectRatio="xMinYMid meet"
                    role="img"
                    aria-label=move || format!("Task: {}", card.read().state)
                    inner_html=move || card.read().machine.clone()
                ></svg>
                <p class="state-w">{move || card.read().state}</p>
            </div>
            <div class="truth" inner_html=move || truth.get()></div>
        </article>
    }
    .into_any()
}
