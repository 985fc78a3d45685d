//! What can be clicked or focused on the map: links, stores, and replicas where they are drawn. They are a
//! layer of their own, which changes only when a name does. One of each group is reached by Tab, the others
//! of it by arrow keys.

use std::fmt::Write;

use locks::ids::Endpoint;

use super::geometry::Area;
use super::{Look, faces, is_used, links};
use crate::html::escaped;
use crate::stage::menu::Target;
use crate::stage::replica::Process;
use crate::stage::topology::Back;

/// The layer.
pub fn svg(look: &Look<'_>) -> String {
    let mut out = String::new();
    let mut first = true;
    if look.geometry.ports {
        for (name, area) in &look.geometry.replicas {
            let process = look.stage.replicas.get(name).map(|replica| replica.process).unwrap_or_default();
            let state = process_words(process);
            let label = if state.is_empty() { format!("Replica {name}") } else { format!("Replica {name}: {state}") };
            open(&Target::Replica(name.clone()), &label, &mut first, &mut out);
            rect(*area, &mut out);
        }
    }
    first = true;
    for (replica, endpoint) in links::drawn(look) {
        let Some(curve) = look.geometry.curve(&replica, endpoint) else { continue };
        let state = links::link_words(look.stage.topology.link(&replica, endpoint));
        let name = match endpoint {
            Endpoint::RedisReplica(_) => format!("Replication link of {replica}"),
            endpoint => format!("Link from {replica} to {endpoint}"),
        };
        let label = if state.is_empty() { name } else { format!("{name}: {state}") };
        open(&Target::Link(replica, endpoint), &label, &mut first, &mut out);
        _ = write!(out, r#"<path d="{}"/></g>"#, curve.path());
    }
    first = true;
    for (endpoint, area) in &look.geometry.stores {
        let state = store_words(look, *endpoint);
        let label = if state.is_empty() { endpoint.to_string() } else { format!("{endpoint}: {state}") };
        open(&Target::Store(*endpoint), &label, &mut first, &mut out);
        rect(*area, &mut out);
    }
    out
}

fn process_words(process: Process) -> &'static str {
    match process {
        Process::Stopped => "paused",
        Process::Dead => "dead",
        Process::Starting => "starting",
        Process::Running => "",
    }
}

/// Words that last: who holds what changes too often to be a name.
fn store_words(look: &Look<'_>, endpoint: Endpoint) -> &'static str {
    let words = process_words(look.stage.topology.process(endpoint));
    match faces::news(look, endpoint) {
        _ if !words.is_empty() => words,
        Some(Back::Promoted) => "its replica took over",
        Some(Back::Empty) => "restarted empty",
        Some(Back::Kept) => "restarted",
        None if !is_used(look.stage, endpoint) => "not used",
        None => "",
    }
}

fn open(target: &Target, label: &str, first: &mut bool, out: &mut String) {
    let tab = if std::mem::take(first) { 0 } else { -1 };
    _ = write!(
        out,
        r#"<g role="button" tabindex="{tab}" aria-haspopup="menu" data-to="{}" aria-label="{}" class="hit">"#,
        escaped(&target.to_string()),
        escaped(label)
    );
}

fn rect(area: Area, out: &mut String) {
    let Area { x, y, w, h } = area;
    _ = write!(out, r#"<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="3"/></g>"#);
}
