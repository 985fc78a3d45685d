//! Nobody waits for ever behind the dead: how long at most, by strategy, and which variants make one wait longer.
//! Each bound is the least one: a moment less is refuted. Without late messages and pauses, because with them
//! nothing can be said of how long anything takes; whatever the order, the moment of the death and of the slots.

use locks::setup::Setup;
use locks::strategy::LockAt;
use locks::strategy::pg_claim::PgClaim;
use locks::strategy::pg_lease::PgLease;
use locks::strategy::pg_row_lock::{BOUND, PgRowLock};
use locks::strategy::redis_set_nx::RedisSetNx;
use locks::strategy::redlock::Redlock;

use crate::lab::{Bounds, Claim, Lab};
use crate::story::{Checkable, check};
use crate::world::World;

/// Longer than any check: nobody stops waiting by itself.
const PATIENCE_MS: u64 = 1000;

/// A waiter is granted in time. A slot that ended in doubt when its claimer died is granted to nobody: who waits
/// for it is told so in time.
fn takes_over<S: Checkable>() -> Claim<S> {
    fn holds<S: Checkable>(lab: &Lab<S>, world: &World<S>) -> bool {
        let Some((waiter, since)) = world.seen.bereft else { return true };
        match world.replicas[waiter].outcome {
            Some(_) => S::info().lock_at == LockAt::SlotRow,
            None => world.now <= since.plus(lab.bounds.takeover_ms),
        }
    }
    ("who waits behind the dead is granted in time", holds)
}

fn setup(strategy: &str, lease_ms: u64) -> Setup {
    Setup {
        strategy: strategy.into(),
        lease_ms,
        margin_ms: 1,
        store_timeout_ms: 1,
        acquire_timeout_ms: PATIENCE_MS,
        ..Setup::default()
    }
}

fn lab<S: Checkable>(setup: &Setup, bounds: Bounds) -> Lab<S> {
    let mutant = setup.strategy.mutant.as_deref().and_then(|name| S::info().mutant(name)).map(|mutant| mutant.name);
    let strategies = ["A", "B"].map(|host| S::new(setup, mutant, host));
    Lab { strategies, setup: setup.clone(), bounds, claims: Vec::new() }
}

/// So many milliseconds are enough, and a moment less is not.
fn within<S: Checkable>(setup: &Setup, bounds: &Bounds) {
    let less = Bounds { takeover_ms: bounds.takeover_ms - bounds.moment_ms, ..bounds.clone() };
    let of = setup.strategy.to_string();
    check(&format!("{of}, a waiter"), Lab { claims: vec![takes_over()], ..lab::<S>(setup, bounds.clone()) }, &[]);
    check(&format!("{of}, a waiter in a hurry"), lab::<S>(setup, less), &[takes_over]);
}

/// No bound within the horizon is enough.
fn never<S: Checkable>(setup: &Setup, bounds: &Bounds) {
    let bounds = Bounds { takeover_ms: bounds.horizon * bounds.moment_ms - 1, ..bounds.clone() };
    check(&setup.strategy.to_string(), lab::<S>(setup, bounds), &[takes_over]);
}

/// A lease that was renewed just before its holder died may end just after a waiter has asked.
#[test]
fn pg_lease_within_a_lease_and_a_pause() {
    for (renew, takeover_ms) in [(false, 8), (true, 9)] {
        within::<PgLease>(&Setup { renew, ..setup("pg-lease", 8) }, &Bounds::timely(13, takeover_ms));
    }
}

#[test]
fn redis_set_nx_within_a_lease_and_a_pause() {
    for (renew, takeover_ms) in [(false, 8), (true, 9)] {
        within::<RedisSetNx>(&Setup { renew, ..setup("redis-set-nx", 8) }, &Bounds::timely(13, takeover_ms));
    }
}

/// A claim must be found dead twice, a heartbeat's time apart.
#[test]
fn pg_claim_within_a_lease_a_pause_and_a_heartbeat() {
    for renew in [false, true] {
        within::<PgClaim>(&Setup { renew, ..setup("pg-claim", 6) }, &Bounds::timely(12, 8));
    }
}

#[test]
fn redlock_within_a_lease_and_a_pause() {
    let setup = Setup { margin_ms: 0, node_timeout_ms: 2, store_timeout_ms: 2, ..setup("redlock", 6) };
    let bounds = Bounds { moment_ms: 2, reach: [&[1, 2, 3], &[3, 4, 5]], ..Bounds::timely(6, 6) };
    within::<Redlock>(&setup, &bounds);
}

/// The end of a process is the end of its connections. Of a machine that is gone the server hears nothing: then it
/// is the bound on idle transactions that ends the lock.
#[test]
fn pg_row_lock_within_a_pause_or_within_its_bound() {
    let setup = setup("pg-row-lock", 2);
    within::<PgRowLock>(&setup, &Bounds { closes: true, ..Bounds::timely(4, 1) });
    within::<PgRowLock>(&setup, &Bounds::timely(2 * BOUND + 3, 2 * BOUND));
}

#[test]
fn mutant_no_bound_of_pg_row_lock_keeps_its_lock_from_everybody() {
    let setup = setup("pg-row-lock/no-bound", 2);
    within::<PgRowLock>(&setup, &Bounds { closes: true, ..Bounds::timely(4, 1) });
    never::<PgRowLock>(&setup, &Bounds::timely(2 * BOUND + 3, 0));
}

/// Who dies between the two commands leaves a lock that never ends.
#[test]
fn mutant_setnx_expire_of_redis_set_nx_dies_between_its_commands() {
    never::<RedisSetNx>(&setup("redis-set-nx/setnx-expire", 8), &Bounds::timely(12, 0));
}

/// Its own keys of earlier tries stand in its way.
#[test]
fn mutant_leaks_on_failure_of_redlock_waits_for_itself() {
    let setup = Setup { margin_ms: 0, node_timeout_ms: 2, store_timeout_ms: 2, ..setup("redlock/leaks-on-failure", 6) };
    let bounds = Bounds { moment_ms: 2, reach: [&[1, 2, 3], &[3, 4, 5]], ..Bounds::timely(6, 6) };
    check("redlock/leaks-on-failure, a waiter", lab::<Redlock>(&setup, bounds), &[takes_over]);
}
