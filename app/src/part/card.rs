//! Replica cards: header, task machine, three witnesses with the joints between them.

use leptos::prelude::*;

use super::badge::{Size, badge};
use super::icons::Icon;
use super::menu::Menu;
use super::play::play;
use crate::stage::replica::Process;
use crate::stage::view::card::{self, Joint, Witness};
use crate::stage::view::machine::TASK_BOX;

/// All cards.
#[component]
pub(crate) fn Cards() -> impl IntoView {
    let play = play();
    let names = Memo::new(move |_| play.with(|stage| stage.replicas.keys().cloned().collect::<Vec<_>>()));
    view! {
        <section class="panel topo" aria-label="Replicas">
            <h2 class="sr">"Replicas"</h2>
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
        </section>
    }
    .into_any()
}

#[component]
fn CardView(name: String) -> impl IntoView {
    let play = play();
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
    let name = of.get_value();
    let is_open = move || of.with_value(|name| play.menu.read().as_ref() == Some(name));
    let toggle = move |_| {
        let name = of.get_value();
        play.selected.set(Some(name.clone()));
        play.menu.set(if is_open() { None } else { Some(name) });
    };
    view! {
        <article class=class aria-label=format!("Replica {name}")>
            <div class="card-top">
                <header class="card-h">
                    {badge(Some(&name), Size::Large)} <h3 class="name">"Replica " {name.clone()}</h3>
                    <span class="pid num">"pid " {move || card.read().pid}</span>
                    <span class="grow"></span>
                    <span class=move || {
                        let runs = matches!(card.read().process, Process::Running | Process::Starting);
                        if runs { "chip" } else { "chip chip-solid" }
                    }>
                        <svg class="ic" aria-hidden="true">
                            <use href=move || format!("#i-{}", card.read().chip.0) />
                        </svg>
                        {move || card.read().chip.1.clone()}
                    </span>
                    <span class="fold show-s">
                        {move || {
                            let card = card.read();
                            joint(if card.first.cuts() { card.first } else { card.second })
                        }}
                    </span>
                    <Show when=move || play.owner>
                        <button
                            class="btn btn-quiet btn-s btn-ic"
                            id=move || of.with_value(|name| format!("menu-{name}"))
                            aria-haspopup="menu"
                            aria-expanded=move || if is_open() { "true" } else { "false" }
                            aria-label=move || of.with_value(|name| format!("What to do to replica {name}"))
                            on:click=toggle
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
            <div class="truth">
                {move || witness("believes", &card.read().believes, None)}
                {move || witness("store says", &card.read().store, Some(card.read().first))}
                {move || {
                    let sink = play.with(|stage| format!("{} took", stage.setup.sink));
                    witness(&sink, &card.read().sink, Some(card.read().second))
                }}
            </div>
            <Show when=is_open>
                <Menu name=of.get_value() />
            </Show>
        </article>
    }
    .into_any()
}

fn witness(who: &str, says: &Witness, joint_above: Option<Joint>) -> AnyView {
    let class = match joint_above {
        Some(Joint::Harm) => "tr cut harm",
        Some(Joint::Differs) => "tr cut",
        _ => "tr",
    };
    view! {
        <div class=class>
            <span class="who">{joint_above.map(joint)} {who.to_owned()}</span>
            <span class="bd">{badge(says.of.as_deref(), Size::Small)}</span>
            <span class="val">{says.value.clone()}</span>
            <span class="note" title=says.note.clone()>{says.note.clone()}</span>
        </div>
    }
    .into_any()
}

/// The circle between two witnesses.
fn joint(joint: Joint) -> AnyView {
    let (class, d) = match joint {
        Joint::Equal => ("joint", "M1.5 3.6h7M1.5 6.4h7"),
        Joint::Open => ("joint open", "M3.4 3.4A1.7 1.7 0 1 1 5.8 5c-.5.3-.8.6-.8 1.2M5 8.2v.05"),
        Joint::Differs => ("joint ne", "M1.5 3.6h7M1.5 6.4h7M7 .8 3 9.2"),
        Joint::Harm => ("joint ne harm", "M1.5 3.6h7M1.5 6.4h7M7 .8 3 9.2"),
    };
    view! {
        <span class=class role="img" aria-label=joint.words()>
            <svg viewBox="0 0 10 10">
                <path d=d></path>
            </svg>
        </span>
    }
    .into_any()
}
