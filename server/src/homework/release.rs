//! Exercise 1: the script that releases a Redis lock. The oracle is a map from keys to tokens and expiries: a
//! release takes its own key away and nothing else.

use locks::event::Event;
use locks::homework::release::EXERCISE;
use locks::homework::{Graded, Mistake};
use locks::ids::Endpoint;

use super::evidence::{About, Evidence};
use super::graded::{Watch, came_to, within};
use super::play_lua::{Keys, Oracle, Scripts, Seen, play};
use super::sandbox::redis::{Sandbox, Workshop};
use super::sandbox::resp::Came;
use super::schedule::{Arg, Dice, Replica, Schedule, Step, of, printable};
use super::stop::{Reason, Stop, Violation};
use crate::lab::{Lab, LabError};

/// How its schedules are shown.
pub(super) const ABOUT: About =
    About { strategy: "redis-set-nx", replicas: &["A", "B", "C"], endpoint: Endpoint::Redis(1), lock: "settle" };

/// The lock of most schedules.
const KEY: &str = "lock:settle";
/// A lease that no other here is: whoever gives another's lock a lease of its own gives it another one.
const ODD_MS: u64 = 47_123;
/// A lease that does not end by itself while a schedule is played.
const LEASE_MS: u64 = 60_000;
/// How many series of a seed.
const SEEDS: u64 = 200;

/// Grade a submission.
pub(super) async fn grade(lab: &Lab, workshop: &Workshop, text: &str) -> Result<Graded, LabError> {
    let scripts = match Scripts::read(text) {
        Ok(scripts) => scripts,
        Err(mistake) => return Ok(Graded::YourError(mistake)),
    };
    let watch = Watch::default();
    let mut sandbox = Sandbox::open(lab, workshop).await?;
    let graded = within(&watch, all(&mut sandbox, &scripts, text, &watch)).await;
    sandbox.close().await;
    match graded {
        Ok(graded) => Ok(graded),
        Err(schedule) => model_lives(lab, workshop, &schedule).await,
    }
}

/// Play that schedule alone; the log too if no rule was broken.
pub(super) async fn alone(
    lab: &Lab,
    workshop: &Workshop,
    text: &str,
    schedule: Schedule,
) -> Result<(Graded, Vec<Event>), LabError> {
    let scripts = match Scripts::read(text) {
        Ok(scripts) => scripts,
        Err(mistake) => return Ok((Graded::YourError(mistake), Vec::new())),
    };
    let mut sandbox = Sandbox::open(lab, workshop).await?;
    let (played, evidence) = one(&mut sandbox, &scripts, text, &schedule, &Watch::default()).await;
    sandbox.close().await;
    if played.is_ok() {
        return Ok((Graded::passed(1), evidence.ended()));
    }
    Ok(match came_to(played, schedule, evidence, reason) {
        Ok(graded) => (graded.unwrap_or(Graded::passed(1)), Vec::new()),
        Err(schedule) => (model_lives(lab, workshop, &schedule).await?, Vec::new()),
    })
}

/// All schedules, to the first that stops; `Err`: its server ended.
async fn all(sandbox: &mut Sandbox, scripts: &Scripts, text: &str, watch: &Watch) -> Result<Graded, Schedule> {
    let schedules = schedules(scripts.len());
    let count = schedules.len() as u32;
    for schedule in schedules {
        let (played, evidence) = one(sandbox, scripts, text, &schedule, watch).await;
        if let Some(graded) = came_to(played, schedule, evidence, reason)? {
            return Ok(graded);
        }
    }
    Ok(Graded::passed(count))
}

/// Play a schedule against a model of its own.
async fn one(
    sandbox: &mut Sandbox,
    scripts: &Scripts,
    text: &str,
    schedule: &Schedule,
    watch: &Watch,
) -> (Result<(), Stop>, Evidence) {
    let mut evidence = Evidence::new(&EXERCISE, schedule, &ABOUT, text, watch);
    let played = play(sandbox, scripts, &schedule.steps, &mut Model::default(), &mut evidence).await;
    (played, evidence)
}

/// A server ended. It was the script's doing if the model's lives through the same schedule on another.
async fn model_lives(lab: &Lab, workshop: &Workshop, schedule: &Schedule) -> Result<Graded, LabError> {
    let mut sandbox = Sandbox::open(lab, workshop).await?;
    let (model, watch) = (Scripts::one(EXERCISE.model), Watch::default());
    let (played, _) = one(&mut sandbox, &model, EXERCISE.model, schedule, &watch).await;
    sandbox.close().await;
    Ok(match played {
        Ok(()) => Graded::YourError(Mistake {
            message: "your script ended the server".to_owned(),
            schedule: Some(schedule.name.clone()),
            ..Mistake::default()
        }),
        Err(_) => Graded::LabFailed { why: "the attempt's Redis ends whatever runs in it".to_owned() },
    })
}

fn set(key: &str, token: &[u8], lease_ms: Option<u64>) -> Step {
    let mut parts = vec![b"SET".to_vec(), key.as_bytes().to_vec(), token.to_vec(), b"NX".to_vec()];
    if let Some(ms) = lease_ms {
        parts.extend([b"PX".to_vec(), ms.to_string().into_bytes()]);
    }
    Step::Redis(parts)
}

fn args(key: &str, token: &[u8]) -> Vec<Arg> {
    vec![Arg::Bytes(key.as_bytes().to_vec()), Arg::Bytes(token.to_vec())]
}

fn release(by: Replica, key: &str, token: &[u8]) -> Step {
    Step::Submit(by, args(key, token))
}

/// A's lease is over, B holds; A releases, and C still finds it busy.
fn late(a: &[u8], b: &[u8]) -> Vec<Step> {
    vec![
        set(KEY, a, Some(LEASE_MS)),
        Step::Elapse(LEASE_MS as i64 + 1),
        set(KEY, b, Some(ODD_MS)),
        release("A", KEY, a),
        set(KEY, b"c0ffee", Some(LEASE_MS)),
    ]
}

/// Every schedule for a submission of so many scripts: forced ones, then seeds.
pub fn schedules(scripts: usize) -> Vec<Schedule> {
    const A: &[u8] = b"7f3a9c21";
    const B: &[u8] = b"e05d44b8";
    let schedule =
        |name: &str, title: &str, steps: Vec<Step>| Schedule { name: name.to_owned(), title: title.to_owned(), steps };
    let mut all = vec![
        schedule("1", "A works and releases", vec![set(KEY, A, Some(LEASE_MS)), release("A", KEY, A)]),
        schedule(
            "2",
            "A releases twice",
            vec![set(KEY, A, Some(LEASE_MS)), release("A", KEY, A), release("A", KEY, A)],
        ),
        schedule("3", "A's lease is over, B holds; A releases", late(A, B)),
        schedule(
            "4",
            "A's lease is over, nobody holds; A releases",
            vec![set(KEY, A, Some(LEASE_MS)), Step::Elapse(LEASE_MS as i64 + 1), release("A", KEY, A)],
        ),
    ];
    for step in 2..=scripts {
        let gate = ["", "", "release-2", "release-3", "release-4"].get(step).copied().unwrap_or("release-2");
        all.push(schedule(
            &format!("5-{step}"),
            &format!("before A's step {step} its lease runs out and B acquires"),
            vec![
                set(KEY, A, Some(LEASE_MS)),
                Step::Send("A", args(KEY, A), Some(gate)),
                Step::Elapse(LEASE_MS as i64 + 1),
                set(KEY, B, Some(ODD_MS)),
                Step::Answer(of("A")),
            ],
        ));
    }
    let both = |name: &str, title: &str, a: &[u8], b: &[u8]| {
        schedule(name, title, [late(a, b), vec![Step::Elapse(LEASE_MS as i64 * 2)], late(b, a)].concat())
    };
    all.extend([
        both("6", "tokens that begin alike, one longer", b"7f3a", b"7f3a9c"),
        both("7", "a token that ends like the other", b"b7f3", b"7f3"),
        both("8", "tokens that differ in case", b"ab", b"AB"),
        both("9", "tokens that are the same number", b"1e2", b"100"),
        schedule(
            "10",
            "another lock, while B holds the first",
            vec![
                set("lock:dispatch", A, Some(LEASE_MS)),
                set("lock:settle", B, Some(ODD_MS)),
                release("A", "lock:dispatch", A),
            ],
        ),
        schedule(
            "10-2",
            "two locks of one holder under one token",
            vec![
                set("lock:dispatch", A, Some(ODD_MS)),
                set("lock:settle", A, Some(LEASE_MS)),
                release("A", "lock:dispatch", A),
                release("A", "lock:dispatch", A),
            ],
        ),
        both("11", "tokens that look like patterns", b"a.c", b"abc"),
    ]);
    for (number, token) in [&b"a-1.c%w*[x]"[..], b"\0\xff", b" ", b"0"].into_iter().enumerate() {
        let steps = [
            late(token, B),
            vec![Step::Elapse(LEASE_MS as i64 * 2)],
            vec![set(KEY, token, Some(LEASE_MS)), release("A", KEY, token)],
        ];
        all.push(schedule(&format!("11-{}", number + 1), "a token of any bytes", steps.concat()));
    }
    all.extend([
        both("12", "an older grant of the same replica", b"replica-A:1", b"replica-A:2"),
        schedule("12-2", "a lock without expiry", vec![set(KEY, A, None), release("B", KEY, B), release("A", KEY, A)]),
    ]);
    all.extend((1..=SEEDS).map(seeded));
    all
}

/// A series of acquisitions, releases and expiries on three locks with tokens that look alike.
fn seeded(seed: u64) -> Schedule {
    const KEYS: [&str; 3] = ["lock:settle", "lock:dispatch", "lock:digest"];
    const TOKENS: [&[u8]; 8] = [b"7f3a", b"7f3a9c", b"7F3A", b"100", b"1e2", b"a.c", b"abc", b"replica-A:1"];
    let mut dice = Dice::new(seed);
    let steps = (0..dice.between(4, 12)).map(|_| {
        let (key, token) = (dice.one(&KEYS), dice.one(&TOKENS));
        match dice.between(1, 10) {
            1..=4 => set(key, token, (!dice.percent(10)).then_some(dice.between(10_000, 90_000) as u64)),
            5 => Step::Elapse(dice.between(5_000, 95_000)),
            _ => release(dice.one(&["A", "B", "C"]), key, token),
        }
    });
    let steps = steps.collect();
    Schedule { name: format!("seed-{seed}"), title: "a series of its own".to_owned(), steps }
}

/// What the keys must be.
#[derive(Default)]
struct Model {
    keys: Keys,
    /// The release that is under way: its key, its token, and whether it has freed its own lock already.
    pending: Option<(Vec<u8>, Vec<u8>, bool)>,
}

impl Oracle for Model {
    fn judge(&mut self, step: &Step, seen: &Seen) -> Result<(), Violation> {
        match step {
            Step::Submit(_, args) => {
                self.begin(args);
                self.release(seen, true)
            }
            Step::Send(_, args, _) => {
                self.begin(args);
                self.release(seen, false)
            }
            Step::Answer(_) => self.release(seen, true),
            _ => {
                // What the grader itself did is as it is.
                self.keys.clone_from(&seen.keys);
                Ok(())
            }
        }
    }
}

impl Model {
    fn begin(&mut self, args: &[Arg]) {
        let mut args = args.iter().map(Arg::bytes);
        self.pending = Some((args.next().unwrap_or_default(), args.next().unwrap_or_default(), false));
    }

    /// A release has run, whole or up to a gate.
    fn release(&mut self, seen: &Seen, over: bool) -> Result<(), Violation> {
        let Some((key, token, freed)) = &mut self.pending else { return Ok(()) };
        let own = self.keys.get(key).is_some_and(|(value, _)| value == token);
        if own && !seen.keys.contains_key(key) {
            self.keys.remove(key);
            *freed = true;
        }
        let freed = *freed;
        let (key, token) = (key.clone(), token.clone());
        self.compare(seen, &key, &token)?;
        if !over {
            return Ok(());
        }
        if self.keys.get(&key).is_some_and(|(value, _)| *value == token) {
            return Err(Violation::new("not freed", "the key is gone, and the answer is 1", self.shown(seen, &key)));
        }
        let expected = i64::from(freed);
        match &seen.answer {
            Some(Came::Int(answer)) if *answer == expected => Ok(()),
            answer => Err(Violation::new("answer", format!("the integer {expected}"), said(answer.as_ref()))),
        }
    }

    /// Nothing but the own lock may have been changed.
    fn compare(&mut self, seen: &Seen, key: &[u8], token: &[u8]) -> Result<(), Violation> {
        for (name, (value, expires)) in &self.keys {
            let mine = name == key && value == token;
            let shown = || self.shown(seen, name);
            let stood = format!("{} still holds {}", printable(name), printable(value));
            match seen.keys.get(name) {
                None => return Err(Violation::new("freed", stood, shown())),
                Some((now, _)) if now != value && mine => {
                    return Err(Violation::new("not freed", "the key is gone, and the answer is 1", shown()));
                }
                Some((now, _)) if now != value => return Err(Violation::new("freed", stood, shown())),
                // Its own lock on its way out: what counts is that it is gone in the end.
                Some((_, now)) if now != expires && !mine => {
                    let at = |at: &Option<i64>| at.map_or("never".to_owned(), |at| format!("at {at} ms"));
                    let expected = format!("{} still expires {}", printable(name), at(expires));
                    return Err(Violation::new("lease", expected, format!("it expires {}", at(now))));
                }
                Some(_) => {}
            }
        }
        match seen.keys.keys().find(|name| !self.keys.contains_key(*name)) {
            Some(name) => {
                let expected = format!("no key {}", printable(name));
                Err(Violation::new("made", expected, self.shown(seen, name)))
            }
            None => Ok(()),
        }
    }

    fn shown(&self, seen: &Seen, key: &[u8]) -> String {
        let key_is = match seen.keys.get(key) {
            Some((value, _)) => format!("{} holds {}", printable(key), printable(value)),
            None => format!("{} is gone", printable(key)),
        };
        format!("{key_is}; the answer was {}", said(seen.answer.as_ref()))
    }
}

fn said(answer: Option<&Came>) -> String {
    match answer {
        Some(Came::Int(number)) => format!("the integer {number}"),
        Some(Came::Nil) | None => "nil".to_owned(),
        Some(Came::Text(text)) => format!("the string {:?}", printable(text)),
        Some(came) => format!("{came:?}"),
    }
}

fn reason(schedule: &str, rule: &str) -> Reason {
    match (schedule, rule) {
        (_, "freed") if schedule.starts_with("5-") => (
            "freed another's, acquired between two steps",
            "Between your two steps A's lease ran out and B acquired: what you had looked at was no longer true when \
             you deleted.",
        ),
        ("6" | "7" | "8" | "9" | "11", "freed") => (
            "freed another's (look-alike token)",
            "B's token only looks like A's. A token is yours if every byte of it is, and no other.",
        ),
        ("12", "freed") => (
            "freed the newer grant of the same replica",
            "The older grant and the newer one are of the same replica, but only one of them holds.",
        ),
        ("10" | "10-2", "freed") => ("freed another lock", "You freed a lock that you were not asked to free."),
        (_, "freed") => ("freed another's", "A's lease was over and B held the lock. A's release took B's lock away."),
        (_, "lease") => (
            "changed another's lease",
            "B still holds, but its lease is no longer the one that Redis granted: it ends at another time.",
        ),
        (_, "made") => ("made a key", "A release leaves no key that was not there."),
        (_, "not freed") => ("own lock not freed", "The lock was A's own, and it still stands after A's release."),
        _ => (
            "answer",
            "The caller must be able to tell: the integer 1 if its lock was freed, the integer 0 if it was not its \
             own. Nil, a string or a truth value is neither.",
        ),
    }
}
