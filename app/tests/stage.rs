//! The stage as a fold: what each moment of a hand-written log shows.

mod sample;

use locks::event::{EffectAnswer, Kind, Param, Reply, Source};
use locks::guard::Guard;
use locks::ids::{Endpoint, Token};
use locks::machine::{LockState, Outcome, TaskState};
use locks::packed::{pack_text, unpack_text};
use locks::setup::{Setup, SetupChange};

use app::stage::Stage;
use app::stage::era::{eras, listed};
use app::stage::reel::Reel;
use app::stage::replica::Process;
use app::stage::view::caption::{caption, figures, figures_html, run_html, settled_twice, strategy_html};
use app::stage::view::card::{Card, Joint, card};
use app::stage::view::lock_card::lock_card;
use app::stage::view::rows;
use sample::{Log, SETTLE, collision, dead_holder, paused_holder, rejected_effect};

fn at_end(log: &Log) -> (Stage, u64) {
    let stage = Stage::of(&log.events);
    let now = stage.at_us;
    (stage, now)
}

fn card_of(log: &Log, name: &str) -> Card {
    let (stage, now) = at_end(log);
    card(&stage, name, SETTLE, now)
}

#[test]
fn under_none_nobody_is_asked_and_all_are_harmed() {
    let log = collision();
    for name in ["A", "B", "C"] {
        let card = card_of(&log, name);
        assert_eq!(card.believes.of.as_deref(), Some(name));
        assert_eq!((card.store.value.as_str(), card.first), ("not asked", Joint::Harm));
        assert_eq!(card.state, "Running");
    }
    let (stage, now) = at_end(&log);
    let said = caption(&stage, SETTLE, now);
    assert_eq!(said.chip, Some("Overlap"));
    assert_eq!(said.what, "A, B and C are inside at the same time.");
    assert_eq!(settled_twice(&stage), 5, "every finished slot was settled three times");
    let proof = figures(&stage)[1].event.and_then(|seq| log.events.iter().find(|event| event.seq == seq)).unwrap();
    assert!(matches!(proof.kind, Kind::EffectSettled { nth: 3, .. }), "the latest of three: {proof:?}");
    assert!(figures_html(&stage).contains("settle-invoices more than once"));
    let harmed: Vec<&str> = figures(&stage).iter().filter(|figure| figure.harm).map(|figure| figure.name).collect();
    assert!(harmed.contains(&"overlaps") && harmed.contains(&"effects per slot"), "{harmed:?}");
}

#[test]
fn the_audit_shows_one_slot_executed_by_several() {
    let (stage, _) = at_end(&collision());
    let audit = rows::sheets(&stage, Some(SETTLE)).into_iter().find(|sheet| sheet.table.starts_with("audit")).unwrap();
    let harmed = audit.rows.iter().filter(|(_, cells)| cells.last().unwrap().harm).count();
    assert_eq!(harmed, 9, "three slots of three");
}

#[test]
fn a_paused_holder_believes_what_the_store_denies() {
    let log = paused_holder();
    let a = card_of(&log, "A");
    assert_eq!(a.process, Process::Stopped);
    assert_eq!((a.believes.value.as_str(), a.store.value.as_str()), ("holds epoch 8", "holds epoch 9"));
    assert!(a.believes.note.starts_with("deadline ") && a.store.note.starts_with("A expired "), "{a:?}");
    assert_eq!((a.first, a.second), (Joint::Harm, Joint::Equal));
    let b = card_of(&log, "B");
    assert_eq!((b.first, b.agrees()), (Joint::Equal, true));
    let c = card_of(&log, "C");
    assert_eq!((c.believes.value.as_str(), c.first), ("holds nothing", Joint::Equal), "nothing equals somebody else");

    let (stage, now) = at_end(&log);
    let said = caption(&stage, SETTLE, now);
    assert_eq!(said.what, "A and B are both inside.");
    assert!(said.why.contains("while it was stopped"), "{}", said.why);
}

#[test]
fn before_the_other_enters_a_denied_belief_does_no_harm() {
    let log = paused_holder();
    let entered = |event: &&locks::event::Event| {
        event.replica() == Some("B") && matches!(event.kind, locks::event::Kind::Granted { epoch: Some(9), .. })
    };
    let until = log.events.iter().find(entered).unwrap().seq as usize - 3;
    let stage = Stage::of(&log.events[..until]);
    let a = card(&stage, "A", SETTLE, stage.at_us);
    assert_eq!((a.first, a.store.value.as_str()), (Joint::Differs, "expired"));
    let lock = lock_card(&stage, SETTLE, stage.at_us);
    assert_eq!((lock.holder, lock.before.as_str()), (None, "A, epoch 8, expired"));
}

#[test]
fn a_rejected_effect_is_no_harm() {
    let log = rejected_effect();
    let a = card_of(&log, "A");
    assert_eq!((a.state, a.first, a.second), ("Failed", Joint::Equal, Joint::Equal));
    assert_eq!(a.sink.note, "rejected by current-epoch");
    let (stage, now) = at_end(&log);
    assert_eq!(caption(&stage, SETTLE, now).chip, None);
    let effects = &figures(&stage)[1];
    assert_eq!((effects.value.as_str(), effects.harm), ("1", false), "counted since the strategy was changed");
}

#[test]
fn a_slot_that_is_skipped_because_the_one_before_still_runs_hides_nothing() {
    let mut log = Log::new(Setup { strategy: "pg-lease".into(), ..Setup::live() });
    let inside = log.due(100.0, "A", SETTLE);
    log.acquire(110.0, &inside, Some(1));
    log.enter(120.0, &inside, Some(1));
    let skipped = log.due(5100.0, "A", SETTLE);
    log.finish(5101.0, &skipped, TaskState::Due, Outcome::Skipped, "previous slot still running");
    let c = card_of(&log, "A");
    assert_eq!((c.state, c.believes.value.as_str()), ("Running", "holds epoch 1"));
}

/// Granted before, entered behind: the store's word was news to whoever stood at the gate between.
#[test]
fn a_store_that_named_another_since_the_grant_denies_whoever_enters_late() {
    let mut log = Log::new(Setup { strategy: "pg-lease".into(), ..Setup::live() });
    let (a, b) = (log.due(1000.0, "A", SETTLE), log.due(1000.5, "B", SETTLE));
    log.acquire(1002.0, &a, Some(1));
    // A waits at its gate instead.
    log.events.retain(|event| !matches!(&event.kind, Kind::Entered { .. } | Kind::Task { to: TaskState::Running, .. }));
    for (event, seq) in log.events.iter_mut().zip(1..) {
        event.seq = seq;
    }
    log.acquire(1010.0, &b, Some(2));
    log.enter(1500.0, &a, Some(1));
    let card = card_of(&log, "A");
    assert_eq!((card.store.value.as_str(), card.first), ("holds epoch 2", Joint::Harm));
}

#[test]
fn a_dead_holder_still_holds_at_the_store() {
    let log = dead_holder();
    let c = card_of(&log, "C");
    assert_eq!((c.process, c.believes.value.as_str(), c.first), (Process::Dead, "nothing", Joint::Differs));
    assert_eq!(c.store.value, "holds epoch 2");
    let (stage, now) = at_end(&log);
    assert_eq!(caption(&stage, SETTLE, now).what, "C is gone; the store still holds its lock.");
}

#[test]
fn a_stage_at_any_event_is_the_fold_up_to_it() {
    let log = rejected_effect();
    let mut reel = Reel::default();
    log.events.iter().cloned().for_each(|event| reel.push(event));
    for seq in [1, 2, 40, log.events.len() as u64] {
        assert_eq!(reel.at(seq), Stage::of(&log.events[..seq as usize]), "at event {seq}");
    }
}

#[test]
fn checkpoints_do_not_change_what_is_shown() {
    let mut log = collision();
    for round in 0..40 {
        log.none_slot(20_000.0 + f64::from(round) * 5000.0, SETTLE, &["A", "B", "C"]);
    }
    assert!(log.events.len() > 1300, "more than one checkpoint");
    let mut reel = Reel::default();
    log.events.iter().cloned().for_each(|event| reel.push(event));
    for seq in [999, 1000, 1001, 1002, 1300] {
        assert_eq!(reel.at(seq), Stage::of(&log.events[..seq as usize]), "at event {seq}");
    }
}

#[test]
fn events_that_are_known_are_passed_over() {
    let log = paused_holder();
    let mut stage = Stage::of(&log.events);
    let before = stage.clone();
    log.events.iter().for_each(|event| stage.push(event));
    assert_eq!(stage, before);
}

#[test]
fn a_stage_survives_the_way_into_a_page() {
    let (stage, _) = at_end(&paused_holder());
    let text = pack_text(&stage);
    let mut back: Stage = unpack_text(&text).unwrap();
    back.judge();
    assert_eq!(back, stage);
    assert!(text.len() < 40_000, "{} bytes", text.len());
}

#[test]
fn a_long_run_stays_small() {
    let mut log = collision();
    for round in 0..300 {
        log.none_slot(20_000.0 + f64::from(round) * 5000.0, SETTLE, &["A", "B", "C"]);
    }
    let (stage, _) = at_end(&log);
    assert!(stage.track.sections.len() <= 480 && stage.wire.rows.len() <= 80);
    assert_eq!(
        stage.wire.total as usize,
        log.events.iter().filter(|e| matches!(e.kind, locks::event::Kind::EffectSent { .. })).count()
    );
}

#[test]
fn who_was_overwritten_gave_nothing_back() {
    let mut log = Log::new(Setup { strategy: "pg-lease".into(), ..Setup::live() });
    let (a, b) = (log.due(1000.0, "A", SETTLE), log.due(1000.5, "B", SETTLE));
    log.acquire(1002.0, &a, Some(1));
    log.acquire(1010.0, &b, Some(2));
    let before = |log: &Log| {
        let (stage, now) = at_end(log);
        let lock = lock_card(&stage, SETTLE, now);
        (lock.before, lock.machine.matches("sm-l took").count())
    };
    // Of the arrows only that of the grant was taken.
    assert_eq!(before(&log), ("A, epoch 1, overwritten".to_owned(), 1));
    log.store_says(1020.0, &b, LockState::Free, None);
    assert_eq!(before(&log).0, "B, epoch 2, taken away");
    let mut log = Log::new(Setup { strategy: "pg-lease".into(), ..Setup::live() });
    log.lease_slot(1000.0, SETTLE, &["A"], 4);
    assert_eq!(before(&log), ("A, epoch 4, released".to_owned(), 1));
}

#[test]
fn only_where_there_is_no_lock_is_it_said_that_none_keeps_them_apart() {
    let why = |strategy: &str| {
        let mut log = Log::new(Setup { strategy: strategy.into(), ..Setup::live() });
        let (a, b) = (log.due(1000.0, "A", SETTLE), log.due(1000.5, "B", SETTLE));
        log.enter(1002.0, &a, None);
        log.enter(1003.0, &b, None);
        let (stage, now) = at_end(&log);
        caption(&stage, SETTLE, now).why
    };
    assert!(why("none").ends_with("no lock keeps them apart."));
    assert!(why("redis-set-nx/look-then-take").ends_with("redis-set-nx/look-then-take let them in together."));
}

#[test]
fn work_that_outlasts_the_lease_is_said_beforehand() {
    let warns = |strategy: &str, work_ms: u64, renew: bool| {
        let strategy = strategy.into();
        let log = Log::new(Setup { strategy, work_ms, renew, lease_ms: 1500, ..Setup::live() });
        strategy_html(&at_end(&log).0).contains("outlasts the lease")
    };
    assert!(warns("pg-lease", 1500, false) && warns("redis-set-nx/look-then-take", 4000, false));
    assert!(!warns("pg-lease", 1499, false) && !warns("pg-lease", 4000, true));
    assert!(!warns("none", 4000, false), "what has no lease outlasts none");
}

/// `pg-lease` with epoch 4, released; then another strategy.
fn changed_to(strategy: &str) -> Log {
    let mut log = Log::new(Setup { strategy: "pg-lease".into(), ..Setup::live() });
    log.lease_slot(1000.0, SETTLE, &["A", "B", "C"], 4);
    log.set(2400.0, SetupChange { strategy: Some(strategy.into()), ..SetupChange::default() });
    log
}

#[test]
fn an_epoch_stays_with_the_strategy_whose_lock_had_it() {
    for (strategy, endpoint) in
        [("pg-row-lock", Endpoint::Postgres), ("redis-set-nx", Endpoint::Redis(1)), ("redlock", Endpoint::Redis(1))]
    {
        let mut log = changed_to(strategy);
        let (stage, now) = at_end(&log);
        let lock = lock_card(&stage, SETTLE, now);
        assert_eq!((lock.epoch.as_str(), lock.before.as_str()), ("–", "–"), "{strategy}");
        // What a store of another strategy says now, and an epoch that was published by an earlier one.
        let a = log.due(3000.0, "A", SETTLE);
        let says = |epoch| Kind::StoreSays {
            lock: SETTLE.to_owned(),
            state: LockState::Held,
            token: None,
            owner: Some(a.id.clone()),
            epoch,
            ttl_ms: None,
        };
        log.say(3010.0, Source::Store(endpoint), says(Some(4)));
        let (stage, now) = at_end(&log);
        let lock = lock_card(&stage, SETTLE, now);
        assert_eq!((lock.epoch.as_str(), lock.holder.as_deref()), ("–", Some("A")), "{strategy}");
        assert!(stage.track.holds.last().is_some_and(|hold| hold.epoch.is_none()), "{strategy}");
        assert_eq!(card_of(&log, "A").store.value, "holds", "{strategy}");
    }
}

#[test]
fn another_strategys_store_is_not_heard() {
    let mut log = changed_to("redis-set-nx");
    let a = log.due(3000.0, "A", SETTLE);
    log.store_says(3010.0, &a, LockState::Held, Some(("t", 5, 1500)));
    let (stage, now) = at_end(&log);
    assert_eq!(lock_card(&stage, SETTLE, now).holder, None, "Postgres has no word in a Redis key");
}

#[test]
fn what_another_strategys_store_says_is_no_denial() {
    let mut log = Log::new(Setup { strategy: "pg-lease".into(), ..Setup::live() });
    let a = log.due(1000.0, "A", SETTLE);
    log.acquire(1003.0, &a, Some(1));
    log.set(1200.0, SetupChange { strategy: Some("redis-set-nx".into()), ..SetupChange::default() });
    let free = Kind::StoreSays {
        lock: SETTLE.to_owned(),
        state: LockState::Free,
        token: None,
        owner: None,
        epoch: None,
        ttl_ms: None,
    };
    log.say(1210.0, Source::Store(Endpoint::Redis(1)), free);
    let (stage, now) = at_end(&log);
    assert!(stage.track.sections.iter().all(|section| section.denied.is_empty()), "{:?}", stage.track.sections);
    assert_eq!(card(&stage, "A", SETTLE, now).first, Joint::Open, "nobody asks that store any more");
    let said = caption(&stage, SETTLE, now);
    assert_eq!((said.chip, said.why.contains("A began under pg-lease")), (None, true), "{}", said.why);
}

#[test]
fn who_began_under_an_earlier_strategy_is_named() {
    let mut log = Log::new(Setup::live());
    let a = log.due(1000.0, "A", SETTLE);
    log.enter(1001.0, &a, None);
    log.set(1100.0, SetupChange { strategy: Some("pg-lease".into()), ..SetupChange::default() });
    let b = log.due(2000.0, "B", SETTLE);
    log.acquire(2003.0, &b, Some(1));
    let (stage, now) = at_end(&log);
    let said = caption(&stage, SETTLE, now);
    assert_eq!(said.chip, Some("Overlap"));
    assert!(said.why.contains("A began under none"), "{}", said.why);
    assert!(figures(&stage).iter().all(|figure| !figure.harm), "pg-lease is not charged with it");
}

/// A's effect with epoch 8 arrives after B's grant; the guard was changed while A was inside.
fn stale_after_a_guard_change() -> Log {
    let mut log = paused_holder();
    let guard = SetupChange { guard: Some(vec![Guard::MaxSeen]), ..SetupChange::default() };
    log.set(18_000.0, guard);
    let a = sample::Go { id: "A.1.5".parse().unwrap(), slot: sample::settle_slot(16) };
    log.settled(18_300.0, &a, Some(8), EffectAnswer::Accepted, 2);
    log
}

#[test]
fn a_stale_effect_after_a_guard_change_is_stale_in_figures_and_marks() {
    let mut log = stale_after_a_guard_change();
    let (stage, _) = at_end(&log);
    let effect = stage.track.effects.last().unwrap().seq;
    let figures_of = |stage: &Stage| figures(stage).iter().map(|figure| figure.value.clone()).collect::<Vec<_>>();
    assert_eq!(figures_of(&stage)[..3], ["1", "2", "1"], "the overlap went on, the slot counts whole");
    assert!(stage.is_stale(effect));
    // Another strategy: none of it is its doing, and the effect stays what it was.
    log.set(19_000.0, SetupChange { strategy: Some("redis-set-nx".into()), ..SetupChange::default() });
    let (stage, _) = at_end(&log);
    assert_eq!(figures_of(&stage)[..3], ["0", "0", "0"]);
    assert!(stage.is_stale(effect));
}

#[test]
fn a_stored_run_is_opened_where_something_was_found() {
    let opening = |log: &Log| at_end(log).0.opening(&log.events);
    let log = collision();
    let seq = opening(&log).unwrap();
    let stage = Stage::of(&log.events[..seq as usize]);
    assert_eq!(caption(&stage, SETTLE, stage.at_us).chip, Some("Overlap"), "the first thing that was found is seen");
    assert!(!stage.verdict.overlaps.is_empty(), "and by the judge");
    let later = Stage::of(&log.events[..seq as usize + 20]);
    assert!(later.replicas.values().any(|replica| !replica.attempts[SETTLE].is_inside()), "just before it ends");
    let calm = changed_to("pg-lease/no-owner-check");
    let entered = calm.events.iter().find(|event| matches!(event.kind, Kind::Entered { .. })).unwrap().seq;
    assert_eq!(opening(&calm), Some(entered), "nothing was found");
    assert_eq!(opening(&Log::new(Setup::live())), None, "nobody ever entered: at its end");
}

#[test]
fn a_stored_run_says_its_strategies_and_the_verdict_of_the_whole() {
    let mut log = collision();
    log.set(12_000.0, SetupChange { strategy: Some("pg-lease".into()), ..SetupChange::default() });
    log.set(13_000.0, SetupChange { guard: Some(vec![Guard::MaxSeen]), ..SetupChange::default() });
    log.set(14_000.0, SetupChange { strategy: Some("redlock".into()), ..SetupChange::default() });
    log.set(15_000.0, SetupChange { guard: Some(vec![]), lease_ms: Some(900), ..SetupChange::default() });
    let (stage, _) = at_end(&log);
    assert_eq!(listed(&stage.history), "none, then pg-lease, then guard max-seen, then redlock, then guard none");
    assert_eq!(eras(&log.events), stage.history);
    assert!(figures(&stage).iter().all(|figure| figure.value == "0" || figure.value == "–"), "since redlock");
    let html = run_html(&stage.run, &stage);
    assert!(html.contains("none, then pg-lease") && html.contains("harm"), "{html}");
}

#[test]
fn a_process_that_has_no_number_yet_is_starting() {
    let stage = Stage::of(&collision().events[..1]);
    assert_eq!(card(&stage, "A", SETTLE, stage.at_us).pid, "starting");
    assert_eq!(card_of(&collision(), "A").pid, "pid 48265");
}

#[test]
fn the_strategy_says_how_it_works_and_a_broken_variant_that_it_is() {
    let how =
        |name: &str| strategy_html(&Stage::of(&Log::new(Setup { strategy: name.into(), ..Setup::live() }).events));
    assert!(how("pg-lease").contains("One row a lock") && !how("pg-lease").contains("broken"));
    let mutant = how("pg-lease/no-owner-check");
    assert!(mutant.contains("broken on purpose") && mutant.contains("do not ask whose"), "{mutant}");
}

#[test]
fn a_missed_slot_is_a_violation_and_takeover_and_missed_say_what_they_are() {
    let mut log = Log::new(Setup::live());
    let a = log.due(1000.0, "A", SETTLE);
    log.finish(1100.0, &a, TaskState::Due, Outcome::Skipped, "cancelled");
    log.process(2000.0, "B", locks::event::ProcessState::Stopped);
    let (stage, _) = at_end(&log);
    let missed = figures(&stage).pop().unwrap();
    assert_eq!((missed.value.as_str(), missed.harm), ("1", true));
    let html = figures_html(&stage);
    assert!(html.contains("title=\"Slots that were due") && html.contains("title=\"From the latest fault"), "{html}");
    assert!(html.contains("all schedules"), "{html}");
}

/// Five nodes are asked in one try: this is what each of them answers, `None` for "busy".
fn try_of_five(log: &mut Log, at_ms: f64, go: &sample::Go, answers: [bool; 5]) {
    let ask = |n: u8| locks::event::StoreCommand {
        command: locks::ids::CommandId(u32::from(n) + at_ms as u32),
        name: "acquire".to_owned(),
        to: Endpoint::Redis(n),
        session: format!("{SETTLE}/lock"),
        text: "SET $1 $2 NX PX $3".to_owned(),
        params: Vec::new(),
        timeout_ms: 100,
    };
    let (attempt, lock) = (Some(go.id.clone()), SETTLE.to_owned());
    for n in 1..=5 {
        let kind = Kind::Sent { attempt: attempt.clone(), lock: lock.clone(), command: ask(n) };
        log.replica(at_ms, &go.id.replica, kind);
    }
    for (n, granted) in (1..=5).zip(answers) {
        let reply = Reply::Redis(if granted { Param::Text("OK".to_owned()) } else { Param::Null });
        let kind = Kind::Answered {
            attempt: attempt.clone(),
            lock: lock.clone(),
            command: ask(n).command,
            name: "acquire".to_owned(),
            reply,
            took_us: 900,
        };
        log.replica(at_ms + 1.0, &go.id.replica, kind);
    }
}

#[test]
fn of_a_quorum_tries_are_counted_and_the_winner_was_not_busy() {
    let mut log = Log::new(Setup { strategy: "redlock".into(), ..Setup::live() });
    let (a, b) = (log.due(1000.0, "A", SETTLE), log.due(1000.0, "B", SETTLE));
    try_of_five(&mut log, 1001.0, &a, [true, true, true, true, false]);
    let nodes: Vec<Endpoint> = (1..=4).map(Endpoint::Redis).collect();
    let token = Token("33e1aaaaaaaaaaaafc".to_owned());
    let lock = SETTLE.to_owned();
    let (attempt, epoch, trusted_until_us) = (a.id.clone(), None, Some(5_002_450_000));
    log.replica(1002.5, "A", Kind::Granted { attempt, lock, token: token.clone(), epoch, trusted_until_us, nodes });
    log.enter(1003.0, &a, None);
    try_of_five(&mut log, 1001.2, &b, [false; 5]);
    for n in 1..=4 {
        let key = format!("x{}{SETTLE}", Param::KEY);
        let kind = Kind::Key { key, value: Some(token.0.clone()), pttl_ms: 1400 };
        log.say(1004.0, Source::Store(Endpoint::Redis(n)), kind);
    }
    let says = Kind::StoreSays {
        lock: SETTLE.to_owned(),
        state: LockState::Held,
        token: Some(token),
        owner: Some(a.id.clone()),
        epoch: None,
        ttl_ms: Some(1400),
    };
    log.say(1004.0, Source::Store(Endpoint::Redis(1)), says);
    let (stage, now) = at_end(&log);
    let busy = |name: &str| stage.replicas[name].attempts[SETTLE].busy;
    assert_eq!((busy("A"), busy("B")), (0, 1));
    let said = caption(&stage, SETTLE, now).why;
    assert!(said.contains("B was told") && !said.contains('A'), "{said}");
    let rings: Vec<usize> = stage.track.waits.iter().map(|wait| wait.busy.len()).collect();
    assert_eq!(rings, [0, 1]);
    let lock = lock_card(&stage, SETTLE, now);
    assert_eq!((lock.source.as_str(), lock.nodes.as_deref()), ("by 4 of 5 nodes", Some("1 2 3 4: a quorum")));
}

#[test]
fn a_row_lock_is_bounded_by_idleness_and_says_so() {
    let mut log = Log::new(Setup { strategy: "pg-row-lock".into(), ..Setup::live() });
    let a = log.due(1000.0, "A", SETTLE);
    let (attempt, lock, token) = (a.id.clone(), SETTLE.to_owned(), Token(String::new()));
    let nodes = vec![Endpoint::Postgres];
    let trusted_until_us = Some(5_005_500_000);
    log.replica(1001.0, "A", Kind::Granted { attempt, lock, token, epoch: None, trusted_until_us, nodes });
    log.enter(1002.0, &a, None);
    let says = Kind::StoreSays {
        lock: SETTLE.to_owned(),
        state: LockState::Held,
        token: None,
        owner: Some(a.id.clone()),
        epoch: None,
        ttl_ms: None,
    };
    log.say(1003.0, Source::Store(Endpoint::Postgres), says);
    let card = card_of(&log, "A");
    assert!(card.believes.note.starts_with("idle bound in 4,"), "{}", card.believes.note);
    assert_eq!(card.store.note, "no expiry; idle bound 4,500 ms", "three leases");
}

#[test]
fn a_slot_settled_again_by_attempts_of_an_earlier_strategy_is_said_to_be_theirs() {
    let mut log = Log::new(Setup::live());
    let goes = ["A", "B"].map(|name| log.due(1000.0, name, SETTLE));
    goes.iter().for_each(|go| log.enter(1001.0, go, None));
    log.set(1100.0, SetupChange { strategy: Some("pg-lease".into()), ..SetupChange::default() });
    for (nth, go) in (1..).zip(&goes) {
        log.execute(1300.0, go, None, nth);
    }
    let (stage, now) = at_end(&log);
    let said = caption(&stage, SETTLE, now);
    assert_eq!(said.chip, Some("Settled twice"));
    assert!(said.why.ends_with("A began under none."), "{}", said.why);
    assert!(figures(&stage).iter().all(|figure| !figure.harm), "and pg-lease is not charged with it");
}

#[test]
fn a_slot_is_called_unsettled_only_once_the_judge_says_so() {
    let log = collision();
    let due = log.events.iter().find(|event| matches!(event.kind, Kind::SlotDue { .. })).unwrap().seq as usize;
    let mut events = log.events[..due].to_vec();
    let Kind::SlotDue { attempt, slot, .. } = events.last().unwrap().kind.clone() else { unreachable!() };
    let mut last = events.last().unwrap().clone();
    (last.seq, last.at_us) = (last.seq + 1, last.at_us + 1000);
    last.kind = Kind::Finished { attempt, slot, outcome: Outcome::Skipped, why: String::new() };
    events.push(last.clone());
    let why = |events: &[locks::event::Event]| {
        let mut stage = Stage::of(events);
        stage.judge();
        caption(&stage, SETTLE, stage.at_us).why
    };
    assert!(why(&events).contains("is not settled yet"), "another may come with it: {}", why(&events));
    // Half a second later nobody has.
    let kind = Kind::CatalogChanged { catalog: Vec::new() };
    let at_us = last.at_us + 600_000;
    events.push(locks::event::Event { seq: last.seq + 1, at_us, source: Source::Runner, kind, until_us: None });
    assert!(why(&events).contains("was not settled: no effect was accepted"), "{}", why(&events));
}
