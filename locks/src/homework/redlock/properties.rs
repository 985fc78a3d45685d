//! What must hold of an answer, looked for in the order in which it is told. The first numbers that break a
//! property are the failing schedule.

use super::super::expression::{self, Expression, Type, Value, Wanted};
use super::super::{Failure, Graded, Mistake};

const NUMBERS: &[(&str, Type)] =
    &[("n", Type::Number), ("granted", Type::Number), ("lease", Type::Number), ("elapsed", Type::Number)];
const ALL: &[(&str, Type)] = &[
    ("n", Type::Number),
    ("granted", Type::Number),
    ("lease", Type::Number),
    ("elapsed", Type::Number),
    ("quorum", Type::Number),
    ("validity", Type::Number),
];
const WANTED: &[Wanted] = &[
    Wanted { name: "quorum", of: Type::Number, uses: &[("n", Type::Number)] },
    Wanted { name: "validity", of: Type::Number, uses: NUMBERS },
    Wanted { name: "acquired", of: Type::Truth, uses: ALL },
    Wanted { name: "node_timeout_ms", of: Type::Number, uses: &[] },
    Wanted { name: "retry_jitter_ms", of: Type::Number, uses: &[] },
];

const NODES: std::ops::RangeInclusive<i64> = 3..=9;
const LONGEST_LEASE: i64 = 60_000;
/// The trial of the time-outs: this lease, this work, replies this late.
const TRIAL_LEASE: i64 = 1500;
const TRIAL_NEEDS: i64 = 1150;
const TRIAL_LATE: i64 = 40;
/// An answer that comes in time still has to be read.
const TRIAL_SLACK: i64 = 10;

/// How many series of delays there are, and the longest delay of a node that is alive.
const SEEDS: u64 = 50;
const LONGEST_DELAY: u64 = 120;

/// A learner's answer, read.
#[derive(Clone, Debug)]
pub struct Answer {
    quorum: Expression,
    validity: Expression,
    acquired: Expression,
    /// How long one node is waited for.
    pub node_timeout_ms: i64,
    /// Retries are spread over so long.
    pub retry_jitter_ms: i64,
}

/// One try: these numbers are known when its answers are counted.
#[derive(Clone, Copy)]
struct Try {
    n: i64,
    granted: i64,
    lease: i64,
    elapsed: i64,
}

impl Answer {
    /// Read one.
    pub fn read(text: &str) -> Result<Answer, Mistake> {
        let read: [Expression; 5] = match expression::read(text, WANTED)?.try_into() {
            Ok(read) => read,
            // As many are read as are wanted.
            Err(_) => return Err(Mistake { message: "nothing could be read".to_owned(), ..Mistake::default() }),
        };
        let [quorum, validity, acquired, timeout, jitter] = read;
        let (node_timeout_ms, retry_jitter_ms) =
            (timeout.value(&|_| None)?.number(), jitter.value(&|_| None)?.number());
        Ok(Answer { quorum, validity, acquired, node_timeout_ms, retry_jitter_ms })
    }

    /// Does whoever asked five nodes, so many of which granted it, hold the lock? What is left of a lease that was asked
    /// for so long ago, in milliseconds, says it too.
    pub fn holds(&self, granted: i64, lease: i64, elapsed: i64) -> Result<bool, Mistake> {
        self.acquired(&Try { n: 5, granted, lease, elapsed })
    }

    fn quorum(&self, n: i64) -> Result<i64, Mistake> {
        let value = self.quorum.value(&|name| (name == "n").then_some(Value::Number(n)));
        Ok(value.map_err(|why| told(why, &format!("n = {n}")))?.number())
    }

    fn validity(&self, of: &Try) -> Result<i64, Mistake> {
        Ok(self.validity.value(&|name| of.number(name)).map_err(|why| told(why, &of.words()))?.number())
    }

    fn acquired(&self, of: &Try) -> Result<bool, Mistake> {
        let (quorum, validity) = (self.quorum(of.n)?, self.validity(of)?);
        let known = |name: &str| match name {
            "quorum" => Some(Value::Number(quorum)),
            "validity" => Some(Value::Number(validity)),
            name => of.number(name),
        };
        Ok(self.acquired.value(&known).map_err(|why| told(why, &of.words()))?.truth())
    }
}

/// The mistake with the numbers at which it showed.
fn told(mistake: Mistake, with: &str) -> Mistake {
    Mistake { message: format!("{}, with {with}", mistake.message), ..mistake }
}

impl Try {
    fn number(&self, name: &str) -> Option<Value> {
        Some(Value::Number(match name {
            "n" => self.n,
            "granted" => self.granted,
            "lease" => self.lease,
            "elapsed" => self.elapsed,
            _ => return None,
        }))
    }

    fn words(&self) -> String {
        let Try { n, granted, lease, elapsed } = self;
        format!("n = {n}, granted = {granted}, lease = {lease}, elapsed = {elapsed}")
    }
}

/// Grade an answer.
pub fn grade(text: &str) -> Graded {
    let answer = match Answer::read(text) {
        Ok(answer) => answer,
        Err(mistake) => return Graded::YourError(mistake),
    };
    let mut checked = 0;
    for property in [disjoint, majority, length, validity_counts, time_outs, jitter, delays] {
        match property(&answer, &mut checked) {
            Ok(None) => {}
            Ok(Some(failure)) => return Graded::Failed(Box::new(failure)),
            Err(mistake) => return Graded::YourError(mistake),
        }
    }
    let said = format!(
        "Checked for {checked} combinations of nodes (3 to 9), grants, leases (10 ms to 60 s) and elapsed times, and {SEEDS} \
         series of delays with a dead node; all of them the same for every submission."
    );
    Graded::Passed { schedules: checked, score: None, said: Some(said) }
}

type Checked = Result<Option<Failure>, Mistake>;

fn failure(name: &str, reason: &str, why: &str, steps: String, expected: String, observed: String) -> Failure {
    Failure {
        schedule: name.to_owned(),
        title: why.to_owned(),
        reason: reason.to_owned(),
        why: why.to_owned(),
        expected,
        observed,
        steps,
        evidence: Vec::new(),
        at: 0,
        run: None,
    }
}

/// Two replicas that share no node never both hold.
fn disjoint(answer: &Answer, checked: &mut u32) -> Checked {
    for n in NODES {
        let quorum = answer.quorum(n)?;
        for granted in 1..=n / 2 {
            let of = Try { n, granted, lease: 3000, elapsed: 5 };
            let both = answer.acquired(&of)?;
            *checked += 1;
            if both || quorum <= granted {
                let steps = format!(
                    "n = {n}, lease = 3000, elapsed = 5\nA is granted by {granted} of the nodes, B by {granted} others\n\
                     quorum = {quorum}, and both count {} as held\n",
                    if both { "the lock" } else { "a quorum" }
                );
                return Ok(Some(failure(
                    "quorum",
                    "two disjoint quorums",
                    "Two replicas that share no node both hold the lock.",
                    steps,
                    format!("Of {n} nodes at most one replica has a quorum at a time."),
                    format!("A with {granted} nodes and B with {granted} others both have one."),
                )));
            }
        }
    }
    Ok(None)
}

/// A majority is enough, wherever time enough is left.
fn majority(answer: &Answer, checked: &mut u32) -> Checked {
    for n in NODES {
        let quorum = answer.quorum(n)?;
        for granted in n / 2 + 1..=n {
            let of = Try { n, granted, lease: 3000, elapsed: 5 };
            *checked += 1;
            if quorum > granted || !answer.acquired(&of)? {
                return Ok(Some(failure(
                    "majority",
                    "majority refused",
                    "A replica that a majority granted the lock is told that it does not hold it.",
                    format!("{}\nquorum = {quorum}\n", of.words()),
                    format!("{granted} of {n} nodes are a majority: no other replica can have one. It holds."),
                    "It does not hold: with fewer nodes than that alive, nobody ever would.".to_owned(),
                )));
            }
        }
    }
    Ok(None)
}

/// Leases that are tried: every short one, and on to the longest in steps that meet every remainder of 100.
fn leases() -> impl Iterator<Item = i64> {
    (10..=1200).chain((1200..=LONGEST_LEASE).step_by(97))
}

/// What is trusted is neither longer than a fast clock leaves of it, nor much shorter.
fn length(answer: &Answer, checked: &mut u32) -> Checked {
    for lease in leases() {
        for elapsed in [0, 1, 2, lease / 100, lease / 10, lease / 3, lease / 2, lease - 3, lease - 1, lease, 2 * lease]
        {
            let of = Try { n: 5, granted: 5, lease, elapsed };
            let validity = answer.validity(&of)?;
            *checked += 1;
            if validity <= 0 {
                continue;
            }
            // One percent of drift, and one millisecond by which the store rounds; in hundredths, to be exact.
            let (most, least) = (99 * lease - 100 - 100 * elapsed, 98 * lease - 100 * elapsed - 1000);
            let at = format!("{}\nvalidity = {validity}\n", of.words());
            if validity > most.div_euclid(100) {
                let most = most.div_euclid(100);
                return Ok(Some(failure(
                    "validity",
                    "trusted too long",
                    "The grant is trusted longer than every node is sure to keep it.",
                    at,
                    format!(
                        "At most {most} ms: the lease of {lease} ms began before the first node was asked, {elapsed} ms \
                         ago, and a node whose clock runs 1 % fast ends it early; a millisecond may be lost to rounding."
                    ),
                    format!("{validity} ms. Somebody else can be granted the lock while this replica still trusts it."),
                )));
            }
            if 100 * validity < least {
                return Ok(Some(failure(
                    "validity",
                    "too timid",
                    "Much more of the lease is given away than clocks can drift.",
                    at,
                    format!(
                        "At least {} ms: 2 % and 10 ms are more than enough for drift.",
                        (least + 99).div_euclid(100)
                    ),
                    format!("{validity} ms."),
                )));
            }
        }
    }
    Ok(None)
}

/// Whoever has no time left has not acquired the lock, however many nodes granted it.
fn validity_counts(answer: &Answer, checked: &mut u32) -> Checked {
    for lease in [10, 99, 100, 101, 1500, 3000] {
        for elapsed in 0..=lease + 5 {
            let of = Try { n: 5, granted: 5, lease, elapsed };
            let validity = answer.validity(&of)?;
            *checked += 1;
            if validity <= 0 && answer.acquired(&of)? {
                return Ok(Some(failure(
                    "acquired",
                    "grant without validity",
                    "The lock counts as acquired although nothing of its lease is left.",
                    format!("{}\nvalidity = {validity}\n", of.words()),
                    "Not acquired: give it back everywhere, and try again.".to_owned(),
                    "Acquired. The replica enters when the nodes may have let others in.".to_owned(),
                )));
            }
        }
    }
    Ok(None)
}

/// A node is waited for long enough to answer, and not so long that a dead one eats the lease.
fn time_outs(answer: &Answer, checked: &mut u32) -> Checked {
    let timeout = answer.node_timeout_ms;
    *checked += 2;
    if timeout < TRIAL_LATE + TRIAL_SLACK {
        return Ok(Some(failure(
            "slow nodes",
            "live nodes given up",
            "All five nodes are alive, their answers come 40 ms late, and they are given up.",
            format!("all five nodes answer after {TRIAL_LATE} ms\nnode_timeout_ms = {timeout}\n"),
            format!("At least {} ms: what answers within {TRIAL_LATE} ms is waited for.", TRIAL_LATE + TRIAL_SLACK),
            format!("After {timeout} ms no node has been heard, and the try has failed. The next one fails as well."),
        )));
    }
    let of = Try { n: 5, granted: 4, lease: TRIAL_LEASE, elapsed: timeout };
    let left = answer.validity(&of)?;
    if left < TRIAL_NEEDS {
        return Ok(Some(failure(
            "one node dead",
            "nothing left",
            "One of five nodes is dead, and waiting for it eats the lease.",
            format!("one node is dead, the others answer at once\n{}\nvalidity = {left}\n", of.words()),
            format!("With a lease of {TRIAL_LEASE} ms at least {TRIAL_NEEDS} ms are left for the work."),
            format!("{} ms are left.", left.max(0)),
        )));
    }
    Ok(None)
}

/// Three replicas whose requests meet each other on the way split the nodes 2, 2, 1; who waits as long as the others
/// meets them again.
fn jitter(answer: &Answer, checked: &mut u32) -> Checked {
    *checked += 1;
    if answer.retry_jitter_ms > 0 && answer.retry_jitter_ms <= TRIAL_LEASE {
        return Ok(None);
    }
    let steps = "A, B and C ask at the same moment: nodes 1 and 2 grant to A, 3 and 4 to B, 5 to C\nnobody has 3 of 5; \
                 all give back, wait, and try again\n";
    let jitter = answer.retry_jitter_ms;
    Ok(Some(match jitter > TRIAL_LEASE {
        false => failure(
            "retries in step",
            "retries in step",
            "Three replicas split the nodes among them, and do so again at every retry.",
            format!("{steps}retry_jitter_ms = {jitter}\n"),
            "Each waits for another time, drawn at random: more than 0 ms.".to_owned(),
            "All wait equally long, and meet again.".to_owned(),
        ),
        true => failure(
            "retries in step",
            "waits too long",
            "A retry is put off for longer than a lease.",
            format!("{steps}retry_jitter_ms = {jitter}\n"),
            format!("At most {TRIAL_LEASE} ms, the lease."),
            format!("Up to {jitter} ms with a free lock in front of everybody."),
        ),
    }))
}

/// Five nodes, one of them dead, each of the others as late as a seed says: whoever heard a majority in time holds, and
/// whoever did not does not.
fn delays(answer: &Answer, checked: &mut u32) -> Checked {
    for seed in 1..=SEEDS {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut below = |most: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % most
        };
        let (lease, dead) = (50 + below(3000) as i64, below(5) as usize);
        let late: Vec<i64> = (0..5).map(|_| below(LONGEST_DELAY) as i64).collect();
        let timeout = answer.node_timeout_ms;
        let heard = late.iter().enumerate().filter(|(node, ms)| *node != dead && **ms <= timeout);
        // The dead one is waited for as long as anybody is.
        let of = Try { n: 5, granted: heard.count() as i64, lease, elapsed: timeout };
        let (acquired, validity) = (answer.acquired(&of)?, answer.validity(&of)?);
        *checked += 1;
        // Between what is surely left and what is surely over, an answer may say either.
        let (sure, over) = (98 * lease - 100 * timeout - 1000 > 0, 99 * lease - 100 - 100 * timeout <= 0);
        let wanted = match of.granted >= 3 {
            true if sure => true,
            true if !over => continue,
            _ => false,
        };
        if acquired != wanted {
            let late: Vec<String> = late.iter().map(i64::to_string).collect();
            let says = |acquired| if acquired { "It holds the lock." } else { "It does not hold the lock." };
            return Ok(Some(failure(
                &format!("seed-{seed}"),
                "counted wrongly",
                "With these delays the answer is not what the nodes' answers amount to.",
                format!(
                    "the nodes are late by {} ms; node {} is dead\n{}\nvalidity = {validity}\n",
                    late.join(", "),
                    dead + 1,
                    of.words()
                ),
                says(wanted).to_owned(),
                says(acquired).to_owned(),
            )));
        }
    }
    Ok(None)
}
