//! The set-up of the run, changed while it runs. A control shows what is set, never what was asked for:
//! when a change is refused it goes back.

use leptos::prelude::*;
use locks::setup::Setup;
use locks::strategy;
use serde_json::{Value, json};

use super::icons::Icon;
use super::keys::fire;
use super::play::{Play, play};
use crate::stage::view::words;

/// The bar.
#[component]
pub(crate) fn RunBar() -> impl IntoView {
    let play = play();
    let setup = Memo::new(move |_| play.with_live(|stage| stage.setup.clone()));
    let count = Memo::new(move |_| play.with_live(|stage| stage.replicas.len()));
    let open = RwSignal::new(false);
    // Names that were asked for and are not there yet, so that a second click asks for the next one.
    let coming = StoredValue::new(Vec::<String>::new());
    let refusals = StoredValue::new(0);
    Effect::new(move |_| {
        if play.refused.get() != refusals.get_value() {
            refusals.set_value(play.refused.get_untracked());
            coming.set_value(Vec::new());
        }
        play.with_live(|stage| coming.update_value(|names| names.retain(|name| !stage.replicas.contains_key(name))));
    });
    let id = play.id.get_value();
    let summary = move || {
        let n = count.get();
        let replicas = if n == 1 { "replica" } else { "replicas" };
        format!("guard {}, {n} {replicas}", words::guards(&setup.read().guard))
    };
    view! {
        <section class="runbar" aria-label="Set-up of this run">
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
                    groups=one_group(&["cooperative", "stubborn", "blocking"])
                    value=Signal::derive(move || words::handler(setup.read().handler).to_owned())
                    change=|value| json!({ "handler": value })
                />
                <label class="check">
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
                            on:click=move |_| remove_last(play)
                        >
                            <Icon name="minus" small=true />
                        </button>
                        <span class="num b ink">{count}</span>
                        <button
                            aria-label="One replica more"
                            disabled=move || { !play.owner || count.get() >= Setup::MAX_LIVE_REPLICAS }
                            on:click=move |_| add_next(play, coming)
                        >
                            <Icon name="plus" small=true />
                        </button>
                    </span>
                </span>
            </div>
            <span class="grow hide-s"></span>
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

fn set(play: Play, change: Value) {
    play.act(json!({ "set": change }));
}

fn add_next(play: Play, coming: StoredValue<Vec<String>>) {
    let free = untrack(|| {
        play.with_live(|stage| {
            let taken = |name: &String| stage.replicas.contains_key(name) || coming.read_value().contains(name);
            ('A'..='I').map(String::from).find(|name| !taken(name))
        })
    });
    if let Some(name) = free {
        coming.update_value(|names| names.push(name.clone()));
        play.act(json!({ "add": name }));
    }
}

fn remove_last(play: Play) {
    if let Some(name) = untrack(|| play.with_live(|stage| stage.replicas.keys().next_back().cloned())) {
        play.act(json!({ "remove": name }));
    }
}

/// A heading and the values under it.
type Group = (&'static str, Vec<(String, String)>);

fn one_group(values: &[&str]) -> Vec<Group> {
    vec![("", values.iter().map(|value| ((*value).to_owned(), String::new())).collect())]
}

/// Strategies, each with its mutants under it.
fn strategies() -> Vec<Group> {
    strategy::ALL
        .iter()
        .map(|info| {
            let mut values = vec![(info.name.to_owned(), info.text.to_owned())];
            let mutants = info.mutants.iter();
            values.extend(mutants.map(|mutant| (format!("{}/{}", info.name, mutant.name), mutant.text.to_owned())));
            (info.name, values)
        })
        .collect()
}

fn guards() -> Vec<Group> {
    let mut values = vec![("none".to_owned(), "checks nothing".to_owned())];
    values.extend(locks::guard::Guard::LADDER.map(|guard| (guard.to_string(), String::new())));
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
    // What is set may be none of the values, as a list of guards: then it stands first.
    let known = groups.iter().flat_map(|(_, values)| values).map(|(value, _)| value.clone()).collect::<Vec<_>>();
    let other = move || {
        let value = value.get();
        (!known.contains(&value)).then(|| view! { <option selected=true>{value}</option> })
    };
    let option = move |(name, text): (String, String)| {
        let (is, was, sent) = (name.clone(), name.clone(), name.clone());
        view! {
            <option
                value=sent
                title=text
                selected=value.get_untracked() == was
                prop:selected=move || {
                    play.refused.track();
                    value.read() == is
                }
            >
                {name}
            </option>
        }
        .into_any()
    };
    let lists = groups
        .into_iter()
        .map(|(heading, values)| {
            let options = values.into_iter().map(option).collect_view();
            if heading.is_empty() {
                options.into_any()
            } else {
                view! { <optgroup label=heading>{options}</optgroup> }.into_any()
            }
        })
        .collect_view();
    view! {
        <label class="field">
            <span>{label}</span>
            <select
                class=if mono { "pick mono" } else { "pick" }
                disabled=!play.owner
                on:change=move |event| set(play, change(event_target_value(&event)))
            >
                {other}
                {lists}
            </select>
        </label>
    }
    .into_any()
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
