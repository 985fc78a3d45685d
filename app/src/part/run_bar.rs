//! The set-up of the run, changed while it runs. A control shows what is set, never what was asked for:
//! when a change is refused it goes back.

use leptos::prelude::*;
use locks::setup::{Handler, Setup};
use locks::strategy;
use serde_json::{Value, json};

use super::icons::Icon;
use super::keys::fire;
use super::play::{Play, play};
use crate::html::Html;
use crate::stage::Stage;
use crate::stage::view::words;

/// The bar.
#[component]
pub(crate) fn RunBar() -> impl IntoView {
    let play = play();
    let setup = Memo::new(move |_| play.with_set(|stage| stage.setup.clone()));
    let count = Memo::new(move |_| play.with_set(|stage| stage.replicas.len()));
    let open = RwSignal::new(false);
    // One replica at a time comes or goes: until the run says so, further clicks are passed over.
    let pending = RwSignal::new(false);
    Effect::new(move |_| {
        play.refused.track();
        count.track();
        pending.set(false);
    });
    let change = move |action: Option<Value>| {
        if let (false, Some(action)) = (pending.get_untracked(), action) {
            pending.set(true);
            play.act(action);
        }
    };
    let busy = move || if pending.get() { "true" } else { "false" };
    let id = play.id.get_value();
    let summary = move || {
        let n = count.get();
        let replicas = if n == 1 { "replica" } else { "replicas" };
        format!("guard {}, {n} {replicas}", words::guards(&setup.read().guard))
    };
    view! {
        <section
            class="runbar"
            aria-label="Set-up of this run"
            on:keydown=move |event| {
                if event.key() == "Escape" {
                    open.set(false);
                }
            }
        >
            <button
                class="btn show-s grow setup-b"
                aria-expanded=move || if open.get() { "true" } else { "false" }
                aria-controls="setup"
                on:click=move |_| open.update(|open| *open = !*open)
            >
                <Icon name="sliders" />
                <code>{move || setup.read().strategy.to_string()}</code>
                <span class="muted">{summary}</span>
            </button>
            <div class=move || if open.get() { "setup open" } else { "setup" } id="setup">
                <Pick
                    label="Strategy"
                    mono=true
                    groups=strategies()
                    value=Signal::derive(move || setup.read().strategy.to_string())
                    change=|value| json!({ "strategy": value })
                />
                <Pick
                    label="Guard"
                    mono=true
                    groups=guards()
                    value=Signal::derive(move || words::guards(&setup.read().guard))
                    change=|value| json!({ "guard": value })
                />
                <Number label="Lease" unit="ms" min=100 max=600_000 value=|setup| setup.lease_ms key="lease_ms" setup />
                <Number label="Work" unit="ms" min=0 max=60_000 value=|setup| setup.work_ms key="work_ms" setup />
                <Number label="Every" unit="s" min=1 max=60 value=|setup| setup.every_s key="every_s" setup />
                <Pick
                    label="Handler"
                    mono=false
                    groups=handlers()
                    value=Signal::derive(move || words::handler(setup.read().handler).to_owned())
                    change=|value| json!({ "handler": value })
                />
                <label class="check" title=words::RENEW>
                    <input
                        type="checkbox"
                        disabled=!play.owner
                        checked=setup.get_untracked().renew
                        prop:checked=move || {
                            play.refused.track();
                            setup.read().renew
                        }
                        on:change=move |event| set(play, json!({ "renew": event_target_checked(&event) }))
                    />
                    "Renew"
                </label>
                <span class="field">
                    <span>"Replicas"</span>
                    <span class="seg seg-s" role="group" aria-label="Replicas">
                        <button
                            aria-label="One replica less"
                            disabled=move || { !play.owner || count.get() <= 1 }
                            aria-disabled=busy
                            on:click=move |_| change(last(play).map(|name| json!({ "remove": name })))
                        >
                            <Icon name="minus" small=true />
                        </button>
                        <span class="num b ink">{count}</span>
                        <button
                            aria-label="One replica more"
                            disabled=move || { !play.owner || count.get() >= Setup::MAX_LIVE_REPLICAS }
                            aria-disabled=busy
                            on:click=move |_| change(next(play).map(|name| json!({ "add": name })))
                        >
                            <Icon name="plus" small=true />
                        </button>
                    </span>
                </span>
            </div>
            <span class="grow hide-s"></span>
            {play.owner.then(|| view! { <StepSwitch /> })}
            <a class="muted num hide-s run-id" href=format!("/runs/{id}") rel="external" title="A link to this run">
                "run "
                {id.get(..4).unwrap_or(&id).to_owned()}
            </a>
            <Show when=move || play.owner>
                <button class="btn btn-main" on:click=move |_| fire(play)>
                    "Fire slot "
                    <kbd class="hide-s">"f"</kbd>
                </button>
            </Show>
        </section>
    }
    .into_any()
}

/// Another lab: one in which nobody moves without a step, or one that runs by itself again.
#[component]
fn StepSwitch() -> impl IntoView {
    let gated = play().peek(Stage::is_gated);
    let (to, name) = if gated { ("false", "Run by itself") } else { ("true", "Step by step") };
    let button = format!(
        r#"<button class="btn" name="gated" value="{to}" title="Begins a new run; this one stays under Runs">{name} <span class="sr">, begins a new run</span></button>"#
    );
    view! { <form method="post" action="/lab" inner_html=button></form> }.into_any()
}

fn set(play: Play, change: Value) {
    play.act(json!({ "set": change }));
}

/// The first name that nobody has.
fn next(play: Play) -> Option<String> {
    untrack(|| play.with_live(|stage| ('A'..='I').map(String::from).find(|name| !stage.replicas.contains_key(name))))
}

fn last(play: Play) -> Option<String> {
    untrack(|| play.with_live(|stage| stage.replicas.keys().next_back().cloned()))
}

/// A value that can be chosen.
struct Choice {
    value: String,
    /// What it means.
    text: String,
    /// It is broken on purpose, which its line says.
    broken: bool,
}

/// A heading and the values under it.
type Group = (&'static str, Vec<Choice>);

fn choice(value: impl Into<String>, text: &str) -> Choice {
    Choice { value: value.into(), text: text.to_owned(), broken: false }
}

/// What the work does when its grant is over.
fn handlers() -> Vec<Group> {
    let all = [Handler::Cooperative, Handler::Stubborn, Handler::Blocking];
    vec![("", all.map(|handler| choice(words::handler(handler), words::handler_text(handler))).into())]
}

/// Strategies, each with its mutants under it.
fn strategies() -> Vec<Group> {
    strategy::ALL
        .iter()
        .map(|info| {
            let mut values = vec![choice(info.name, info.text)];
            values.extend(info.mutants.iter().map(|mutant| Choice {
                broken: mutant.broken,
                ..choice(format!("{}/{}", info.name, mutant.name), mutant.text)
            }));
            (info.name, values)
        })
        .collect()
}

fn guards() -> Vec<Group> {
    let mut values = vec![choice("none", "checks nothing")];
    values.extend(locks::guard::Guard::LADDER.map(|guard| choice(guard.to_string(), words::guard_text(guard))));
    vec![("", values)]
}

/// A choice among values.
#[component]
fn Pick(
    label: &'static str,
    mono: bool,
    groups: Vec<Group>,
    value: Signal<String>,
    change: fn(String) -> Value,
) -> impl IntoView {
    let play = play();
    let options = Memo::new(move |_| options(&groups, &value.read()));
    view! {
        <label class="field">
            <span>{label}</span>
            <select
                class=if mono { "pick mono" } else { "pick" }
                disabled=!play.owner
                inner_html=move || options.get()
                prop:value=move || {
                    play.refused.track();
                    value.get()
                }
                on:change=move |event| set(play, change(event_target_value(&event)))
            ></select>
        </label>
    }
    .into_any()
}

/// The values as options. What is set may be none of them, as a list of guards: then it stands first.
fn options(groups: &[Group], set: &str) -> String {
    let mut html = Html::new();
    if !groups.iter().any(|(_, values)| values.iter().any(|choice| choice.value == set)) {
        option(&mut html, &choice(set, ""), set);
    }
    for (heading, values) in groups {
        if !heading.is_empty() {
            html.open("optgroup").attr("label", heading);
        }
        values.iter().for_each(|choice| option(&mut html, choice, set));
        if !heading.is_empty() {
            html.close();
        }
    }
    html.finish()
}

fn option(html: &mut Html, choice: &Choice, set: &str) {
    html.open("option").attr("value", &choice.value);
    if !choice.text.is_empty() {
        html.attr("title", &choice.text);
    }
    if choice.value == set {
        html.attr("selected", "");
    }
    html.text(&choice.value).text(if choice.broken { " (broken)" } else { "" }).close();
}

/// A number with its unit.
#[component]
fn Number(
    label: &'static str,
    unit: &'static str,
    min: u64,
    max: u64,
    value: fn(&Setup) -> u64,
    key: &'static str,
    setup: Memo<Setup>,
) -> impl IntoView {
    let play = play();
    let say = move |event: web_sys::Event| {
        // What is no number is put back by the refusal counter.
        match event_target_value(&event).trim().parse::<u64>() {
            Ok(number) => set(play, json!({ key: number.clamp(min, max) })),
            Err(_) => play.refused.update(|n| *n += 1),
        }
    };
    view! {
        <label class="field">
            <span>{label}</span>
            <span class="pick pick-n">
                <input
                    type="number"
                    inputmode="numeric"
                    min=min
                    max=max
                    disabled=!play.owner
                    value=value(&setup.get_untracked())
                    prop:value=move || {
                        play.refused.track();
                        value(&setup.read()).to_string()
                    }
                    on:change=say
                />
                <span class="muted">{unit}</span>
            </span>
        </label>
    }
    .into_any()
}
