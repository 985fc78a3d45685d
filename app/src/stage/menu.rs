//! What one can do to a replica, a link or a store as it is: a list of entries, each with the real thing that
//! it does and the action that the run is asked for. Only what is possible in the present state is offered;
//! what needs a process of the lab's own says so where the stores are shared.

use std::fmt;

use locks::ids::Endpoint;
use serde_json::{Value, json};

use super::Stage;
use super::replica::Process;
use super::view::topology::is_used;
use super::view::words;

/// What a menu is about. Prints as `replica A`, `link A redis-1`, `store redis-1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A replica.
    Replica(String),
    /// A link; that of a failover pair is its node's.
    Link(String, Endpoint),
    /// A store.
    Store(Endpoint),
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Replica(name) => write!(f, "replica {name}"),
            Target::Link(replica, endpoint) => write!(f, "link {replica} {endpoint}"),
            Target::Store(endpoint) => write!(f, "store {endpoint}"),
        }
    }
}

impl Target {
    /// The target that was printed so.
    pub fn of(text: &str) -> Option<Target> {
        let (kind, rest) = text.split_once(' ')?;
        match kind {
            "replica" => Some(Target::Replica(rest.to_owned())),
            "link" => {
                let (replica, endpoint) = rest.rsplit_once(' ')?;
                Some(Target::Link(replica.to_owned(), endpoint.parse().ok()?))
            }
            _ => rest.parse().ok().map(Target::Store),
        }
    }

    /// In words, as a heading.
    pub fn words(&self) -> String {
        match self {
            Target::Replica(name) => format!("Replica {name}"),
            Target::Link(_, Endpoint::RedisReplica(node)) => format!("redis-{node} → its replica"),
            Target::Link(replica, endpoint) => format!("{replica} – {endpoint}"),
            Target::Store(endpoint) => endpoint.to_string(),
        }
    }
}

/// What an entry does.
#[derive(Clone, Debug, PartialEq)]
pub enum Deed {
    /// Asks the run for this action.
    Act(Value),
    /// Opens a list of its own.
    Open(Vec<Entry>),
    /// Nothing: it cannot be done here.
    NotHere,
}

/// One line of a menu.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// What people call it.
    pub name: String,
    /// By what: the real thing.
    pub by: String,
    /// Its key, on a selected replica.
    pub key: &'static str,
    /// Its icon.
    pub icon: &'static str,
    /// What it does.
    pub deed: Deed,
}

fn entry(icon: &'static str, name: &str, by: &str, deed: Deed) -> Entry {
    Entry { name: name.to_owned(), by: by.to_owned(), key: "", icon, deed }
}

/// Everything that can be done to a target.
pub fn entries(stage: &Stage, target: &Target) -> Vec<Entry> {
    match target {
        Target::Replica(name) => of_replica(stage, name),
        Target::Link(replica, endpoint) => of_link(stage, replica, *endpoint),
        Target::Store(endpoint) => of_store(stage, *endpoint),
    }
}

fn of_replica(stage: &Stage, name: &str) -> Vec<Entry> {
    let Some(replica) = stage.replicas.get(name) else { return Vec::new() };
    let process = replica.process;
    let mut list = Vec::new();
    let mut act = |icon, name_: &str, by: &str, key, action: &str| {
        list.push(Entry { key, ..entry(icon, name_, by, Deed::Act(json!({ action: name }))) });
    };
    match process {
        Process::Stopped => act("play", "Continue", "SIGCONT", "c", "resume"),
        Process::Dead => act("redo", "Start", "a new process", "s", "start"),
        _ => act("pause", "Pause", "SIGSTOP", "p", "pause"),
    }
    if process != Process::Dead {
        act("kill", "Kill", "SIGKILL", "k", "kill");
    }
    let under_way = replica.attempts.values().any(|attempt| attempt.outcome.is_none());
    if under_way && !matches!(process, Process::Dead | Process::Stopped) {
        act("x", "Cancel its attempt", "gives back", "x", "cancel");
    }
    let links: Vec<Endpoint> = Endpoint::of_replicas().collect();
    let open = |endpoint: Endpoint| stage.topology.link(name, endpoint);
    let each = |icon, verb: &str, by: &str, which: &dyn Fn(Endpoint) -> bool| {
        let which = links.iter().copied().filter(|endpoint| which(*endpoint));
        let lines = which.map(|endpoint| {
            let note = if is_used(stage, endpoint) { "" } else { "not used" };
            let action = json!({ verb: { "replica": name, "endpoint": endpoint.to_string() } });
            entry(icon, &endpoint.to_string(), note, Deed::Act(action))
        });
        (icon, by.to_owned(), lines.collect::<Vec<_>>())
    };
    let per_link = |icon, title: &str, by: &str, of: &dyn Fn(Endpoint) -> Vec<Entry>| {
        let lines = links.iter().filter_map(|endpoint| {
            let inner = of(*endpoint);
            let note = if is_used(stage, *endpoint) { "" } else { "not used" };
            (!inner.is_empty()).then(|| entry(icon, &endpoint.to_string(), note, Deed::Open(inner)))
        });
        entry(icon, title, by, Deed::Open(lines.collect()))
    };
    let uncut = |endpoint: Endpoint| open(endpoint).is_none_or(|link| link.cut_us.is_none());
    let (icon, by, lines) = each("cut", "cut", "no FIN, no RST", &uncut);
    list.push(entry(icon, "Cut from", &by, Deed::Open(lines)));
    list.push(per_link("link", "Heal", "what waited arrives", &|end| heal_lines(stage, name, end)));
    list.push(per_link("clock", "Delay", "both ways", &|end| delay_lines(stage, name, end)));
    list.push(per_link("hand", "Hold", "requests or replies", &|end| hold_lines(stage, name, end)));
    list.push(per_link("play", "Let go", "deliver what is held", &|end| let_go_lines(stage, name, end)));
    let shift = stage.topology.clock(name);
    if process != Process::Dead {
        let shifts = [-60_000_i64, -5000, -1000, 0, 1000, 5000, 60_000].into_iter().filter(|ms| *ms != shift);
        let lines = shifts.map(|ms| {
            let action = json!({ "clock": { "replica": name, "shift_ms": ms } });
            entry("clock", &words::signed(ms), if ms == 0 { "right again" } else { "wall clock" }, Deed::Act(action))
        });
        list.push(entry("clock", "Shift its clock", &words::signed(shift), Deed::Open(lines.collect())));
        let backend = json!({ "terminate_backend": name });
        list.push(entry("kill", "End its backends", "pg_terminate_backend", Deed::Act(backend)));
    }
    list.push(Entry { key: "r", ..entry("minus", "Remove", "shut down", Deed::Act(json!({ "remove": name }))) });
    list.retain(|entry| entry.deed != Deed::Open(Vec::new()));
    list
}

fn on_link(verb: &str, replica: &str, endpoint: Endpoint, further: &[(&str, Value)]) -> Deed {
    let mut links = serde_json::Map::new();
    if !matches!(endpoint, Endpoint::RedisReplica(_)) {
        links.insert("replica".to_owned(), json!(replica));
    }
    links.insert("endpoint".to_owned(), json!(endpoint.to_string()));
    links.extend(further.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    Deed::Act(json!({ verb: links }))
}

fn heal_lines(stage: &Stage, replica: &str, endpoint: Endpoint) -> Vec<Entry> {
    let cut = stage.topology.link(replica, endpoint).is_some_and(|link| link.cut_us.is_some());
    if !cut {
        return Vec::new();
    }
    vec![
        entry("link", "Heal", "what waited arrives", on_link("heal", replica, endpoint, &[])),
        entry(
            "x",
            "Heal with a reset",
            "RST, what waited is lost",
            on_link("heal", replica, endpoint, &[("drop", json!(true))]),
        ),
    ]
}

fn delay_lines(stage: &Stage, replica: &str, endpoint: Endpoint) -> Vec<Entry> {
    let now = stage.topology.link(replica, endpoint).and_then(|link| link.delay_ms).map_or(0, |(ms, _)| ms);
    let values = [0, 50, 300, 1750, 5000].into_iter().filter(|ms| *ms != now);
    let line = |ms: u64| {
        let deed = on_link("delay", replica, endpoint, &[("ms", json!(ms))]);
        match ms {
            0 => entry("play", "No delay", "at once", deed),
            ms => entry("clock", &format!("{} ms", words::grouped(ms)), "each way", deed),
        }
    };
    values.map(line).collect()
}

fn hold_lines(stage: &Stage, replica: &str, endpoint: Endpoint) -> Vec<Entry> {
    let link = stage.topology.link(replica, endpoint);
    let mut lines = Vec::new();
    for (what, name, held) in [
        ("request", "Hold requests", link.and_then(|link| link.requests_us)),
        ("reply", "Hold replies", link.and_then(|link| link.replies_us)),
    ] {
        if held.is_none() {
            let deed = on_link("hold", replica, endpoint, &[("what", json!(what))]);
            lines.push(entry("hand", name, "bytes wait in the link", deed));
        }
    }
    lines
}

fn let_go_lines(stage: &Stage, replica: &str, endpoint: Endpoint) -> Vec<Entry> {
    let Some(link) = stage.topology.link(replica, endpoint) else { return Vec::new() };
    let mut lines = Vec::new();
    for (what, name, held) in
        [("request", "Let requests go", link.requests_us), ("reply", "Let replies go", link.replies_us)]
    {
        if held.is_some() {
            let deed = on_link("let_go", replica, endpoint, &[("what", json!(what))]);
            lines.push(entry("play", name, "what is held arrives", deed));
        }
    }
    lines
}

fn of_link(stage: &Stage, replica: &str, endpoint: Endpoint) -> Vec<Entry> {
    let mut list = heal_lines(stage, replica, endpoint);
    if list.is_empty() {
        list.push(entry("cut", "Cut", "no FIN, no RST", on_link("cut", replica, endpoint, &[])));
    }
    list.extend(let_go_lines(stage, replica, endpoint));
    list.extend(hold_lines(stage, replica, endpoint));
    let delay = stage.topology.link(replica, endpoint).and_then(|link| link.delay_ms).map_or(0, |(ms, _)| ms);
    let lines = delay_lines(stage, replica, endpoint);
    list.push(entry("clock", "Delay", &format!("{} ms now", words::grouped(delay)), Deed::Open(lines)));
    list
}

/// Something that needs a process of the lab's own.
fn own(stage: &Stage, entry: Entry) -> Entry {
    if stage.topology.has_own_stores() {
        return entry;
    }
    Entry { by: "not applicable: a shared store".to_owned(), deed: Deed::NotHere, ..entry }
}

fn of_store(stage: &Stage, endpoint: Endpoint) -> Vec<Entry> {
    let process = stage.topology.process(endpoint);
    match endpoint {
        Endpoint::Postgres => of_postgres(stage, process),
        Endpoint::Redis(_) => of_node(stage, endpoint, process),
        // Its process can only be disturbed by its link and by a failover.
        Endpoint::RedisReplica(node) => {
            let link = of_link(stage, &Endpoint::Redis(node).to_string(), endpoint);
            let failover = json!({ "failover": Endpoint::Redis(node).to_string() });
            [entry("redo", "Fail over to it", "REPLICAOF NO ONE", Deed::Act(failover))]
                .into_iter()
                .chain(link)
                .collect()
        }
        Endpoint::Bank => cut_from_all(stage, endpoint).into_iter().collect(),
    }
}

/// The links of all replicas to a store.
fn cut_from_all(stage: &Stage, endpoint: Endpoint) -> Option<Entry> {
    let cut = |name: &&String| stage.topology.link(name, endpoint).is_some_and(|link| link.cut_us.is_some());
    let all: Vec<&String> = stage.replicas.keys().collect();
    let is_cut = !all.is_empty() && all.iter().all(cut);
    let links = json!({ "replica": all, "endpoint": endpoint.to_string() });
    let line = match is_cut {
        true => entry("link", "Heal all its links", "what waited arrives", Deed::Act(json!({ "heal": links }))),
        false => entry("cut", "Cut from all", "no FIN, no RST", Deed::Act(json!({ "cut": links }))),
    };
    (!all.is_empty()).then_some(line)
}

fn of_postgres(stage: &Stage, process: Process) -> Vec<Entry> {
    let act = |icon, name: &str, by: &str, what: &str| entry(icon, name, by, Deed::Act(json!({ "postgres": what })));
    let mut list = match process {
        Process::Dead => vec![own(stage, act("redo", "Start", "committed data stays", "start"))],
        Process::Stopped => vec![
            own(stage, act("play", "Continue", "SIGCONT to all backends", "resume")),
            own(stage, act("kill", "Kill", "SIGKILL to all", "kill")),
        ],
        _ => {
            let by = if stage.topology.has_own_stores() { "immediate shutdown" } else { "ends its sessions" };
            vec![
                own(stage, act("pause", "Pause", "SIGSTOP to all backends", "pause")),
                act("redo", "Restart", by, "restart"),
                own(stage, act("kill", "Kill", "SIGKILL to all", "kill")),
            ]
        }
    };
    list.extend(cut_from_all(stage, Endpoint::Postgres));
    list
}

fn of_node(stage: &Stage, endpoint: Endpoint, process: Process) -> Vec<Entry> {
    let node = endpoint.to_string();
    let act =
        |icon, name: &str, by: &str, what: &str| entry(icon, name, by, Deed::Act(json!({ "node": { what: node } })));
    let kill = act("kill", "Kill", "SIGKILL, memory lost", "kill");
    let mut list = match process {
        Process::Dead => vec![act("redo", "Start", "with empty memory", "start")],
        Process::Stopped => vec![own(stage, act("play", "Continue", "SIGCONT", "resume")), kill],
        _ => {
            let shifts = [1000_i64, 5000, 60_000, -5000].into_iter().map(|ms| {
                let action = json!({ "node": { "clock_shift": node, "ms": ms } });
                let by = if ms > 0 { "expiries come nearer" } else { "expiries go away" };
                entry("clock", &words::signed(ms), by, Deed::Act(action))
            });
            let jumped = stage.topology.store(endpoint).map_or(0, |store| store.jumped_ms);
            vec![
                own(stage, act("pause", "Pause", "SIGSTOP", "pause")),
                kill,
                entry("clock", "Let its clock jump", &words::signed(jumped), Deed::Open(shifts.collect())),
                own(stage, act("x", "Forget its scripts", "SCRIPT FLUSH", "script_flush")),
            ]
        }
    };
    if let Endpoint::Redis(number) = endpoint
        && stage.topology.store(Endpoint::RedisReplica(number)).is_some()
    {
        list.push(entry("redo", "Fail over", "to its replica", Deed::Act(json!({ "failover": node }))));
    } else if node == "redis-1" && stage.setup.strategy.strategy == "redis-set-nx" {
        let by = "not applicable: no replica; redis-set-nx/wait-1 has one";
        list.push(entry("redo", "Fail over", by, Deed::NotHere));
    }
    list.extend(cut_from_all(stage, endpoint));
    list
}
