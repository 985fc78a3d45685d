//! Cases in which distributed locks really failed, played on the model of the store: what the right
//! strategy shows, and what the mutant shows that the case is there to catch. The same cases run on real
//! processes as scenario files.

mod lab;

use lab::{Lab, Stop, setup};
use locks::judge::Verdict;
use locks::machine::Outcome;
use locks::setup::{Handler, ReplicaSetup, Setup};

/// What a verdict says: overlaps, stale effects, foreign releases, the most effects of a slot.
fn figures(verdict: &Verdict) -> [usize; 4] {
    let certain = |findings: &[locks::judge::Finding]| {
        assert!(findings.iter().all(|finding| finding.certain), "{findings:?}");
        findings.len()
    };
    [
        certain(&verdict.overlaps),
        certain(&verdict.stale_effects),
        certain(&verdict.foreign_releases),
        verdict.most_effects() as usize,
    ]
}

fn replicas(setup: &Setup) -> Lab {
    let mut lab = Lab::default();
    for name in &setup.replicas {
        lab.add(name, setup);
    }
    lab
}

/// A works longer than its lease, B waits.
fn overrun(setup: Setup) -> Lab {
    let mut lab = replicas(&setup);
    lab.elapse(1000);
    lab.fire("A", 1, Stop::Working);
    lab.elapse(500);
    lab.fire("B", 2, Stop::Working);
    lab.elapse(3000);
    lab
}

fn stubborn(strategy: &str) -> Setup {
    Setup { handler: Handler::Stubborn, acquire_timeout_ms: 20_000, ..setup(strategy) }
}

#[test]
fn c01_work_longer_than_the_lease_overlaps_and_frees_nothing_of_the_others() {
    let mut lab = overrun(stubborn("pg-lease"));
    lab.go_on("A");
    lab.go_on("B");
    let verdict = lab.end();
    assert_eq!(figures(&verdict), [1, 1, 0, 1]);
    assert_eq!(verdict.outcomes["A"], [Outcome::Executed]);
}

#[test]
fn c01_a_cooperative_handler_stops_and_a_renewed_lease_is_not_over() {
    for (renew, outcome) in [(false, Outcome::Lost), (true, Outcome::Executed)] {
        let mut lab = overrun(Setup { renew, handler: Handler::Cooperative, ..stubborn("pg-lease") });
        lab.go_on("A");
        lab.elapse(200);
        lab.go_on("B");
        let verdict = lab.end();
        assert_eq!(figures(&verdict), [0, 0, 0, 1], "renew: {renew}");
        assert_eq!(verdict.outcomes["A"], [outcome]);
        assert_eq!(verdict.outcomes["B"], [Outcome::Executed]);
    }
}

#[test]
fn c02_a_clock_that_runs_ahead() {
    for (strategy, overlaps) in [("pg-lease", 0), ("pg-lease/replica-clock", 1)] {
        let setup = setup(strategy);
        let mut lab = Lab::default();
        lab.add("A", &setup);
        lab.add_with("B", &setup, |b| b.with_clock_ahead(4000));
        lab.elapse(1000);
        lab.fire("A", 1, Stop::Working);
        lab.fire("B", 1, Stop::Working);
        lab.elapse(10);
        assert_eq!(lab.end().overlaps.len(), overlaps, "{strategy}");
    }
}

#[test]
fn c04_a_lock_is_not_a_dedupe() {
    let mut lab = replicas(&setup("pg-lease"));
    lab.fire("A", 1, Stop::Nowhere);
    lab.elapse(300);
    lab.fire("B", 1, Stop::Nowhere);
    assert_eq!(figures(&lab.end()), [0, 0, 0, 2]);
}

#[test]
fn c09_c10_a_late_release() {
    // A's late release frees B's lock, so that C enters, and then B's frees C's.
    for (strategy, overlaps, foreign) in [("pg-lease", 1, 0), ("pg-lease/no-owner-check", 2, 2)] {
        let mut lab = overrun(stubborn(strategy));
        lab.go_on("A");
        lab.elapse(10);
        lab.fire("C", 3, Stop::Working);
        lab.elapse(10);
        lab.go_on("B");
        let verdict = lab.end();
        assert_eq!(verdict.overlaps.len(), overlaps, "{strategy}: {:?}", verdict.overlaps);
        assert_eq!(verdict.foreign_releases.len(), foreign, "{strategy}: {:?}", verdict.foreign_releases);
    }
}

#[test]
fn c11_two_processes_of_one_name() {
    for (strategy, overlaps) in [("pg-lease", 0), ("pg-lease/host-token", 1)] {
        let host = ReplicaSetup { host: Some("worker".to_owned()), ..ReplicaSetup::default() };
        let replica = [("A".to_owned(), host.clone()), ("B".to_owned(), host)].into();
        let mut lab = replicas(&Setup { replica, renew: true, ..setup(strategy) });
        lab.fire("A", 1, Stop::Working);
        lab.fire("B", 1, Stop::Working);
        lab.elapse(5000);
        let verdict = lab.end();
        assert_eq!(verdict.overlaps.len(), overlaps, "{strategy}");
        let held = verdict.outcomes["B"] == [Outcome::Open];
        assert_eq!(held, overlaps > 0, "both renew and hold");
    }
}

#[test]
fn c12_an_acquire_that_fails_while_another_wins() {
    for (strategy, overlaps) in [("pg-lease", 0), ("pg-lease/timeout-as-granted", 1)] {
        let mut lab = replicas(&setup(strategy));
        lab.cut("A", true);
        lab.fire("A", 1, Stop::Working);
        lab.fire("B", 1, Stop::Working);
        lab.elapse(500);
        lab.go_on("B");
        lab.elapse(6000);
        let verdict = lab.end();
        assert_eq!(figures(&verdict)[0], overlaps, "{strategy}");
        assert_eq!(verdict.outcomes["B"], [Outcome::Executed]);
        if overlaps == 0 {
            assert_eq!(verdict.outcomes["A"], [Outcome::Skipped]);
        }
    }
}

#[test]
fn c17_a_leader_that_cannot_reach_the_store() {
    for (strategy, overlaps, outcome) in [("pg-lease", 0, Outcome::Lost), ("pg-lease/leads-on", 1, Outcome::Open)] {
        let mut lab = replicas(&Setup { renew: true, acquire_timeout_ms: 20_000, ..setup(strategy) });
        lab.fire("A", 1, Stop::Working);
        lab.elapse(1500);
        lab.fire("B", 2, Stop::Working);
        lab.cut("A", true);
        lab.elapse(10_000);
        let verdict = lab.end();
        assert_eq!(verdict.overlaps.len(), overlaps, "{strategy}");
        assert_eq!(verdict.outcomes["A"], [outcome]);
        assert_eq!(verdict.outcomes["B"], [Outcome::Open], "it took over, and renews");
    }
}

#[test]
fn a_pause_behind_the_last_check_is_the_window_that_no_lease_closes() {
    let mut lab = replicas(&Setup { acquire_timeout_ms: 20_000, ..setup("pg-lease") });
    lab.fire("A", 1, Stop::Effect);
    lab.pause("A", true);
    lab.fire("B", 1, Stop::Nowhere);
    lab.elapse(4000);
    lab.pause("A", false);
    lab.go_on("A");
    let verdict = lab.end();
    assert_eq!(figures(&verdict), [1, 1, 0, 2]);
    assert_eq!(verdict.outcomes["A"], [Outcome::Executed]);
}
