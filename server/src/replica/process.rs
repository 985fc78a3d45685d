//! The replica's process: obeys control lines, binds the catalog, and keeps one driver a schedule. A changed
//! set-up makes new drivers for new attempts; old ones live until their attempts are final.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use locks::event::{Kind, Problem, Schedule, Whose};
use locks::ids::{Endpoint, Slot};
use locks::setup::{PROCESS_START, Setup};
use locks::strategy::{Unknown, dispatch};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::audit::Audit;
use super::binder::Binder;
use super::control::Control;
use super::driver::{Happening, Opening, Spec, Unit};
use super::me::{self, Me};
use super::voice::Voice;

/// Why a replica cannot do what it was told.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// The first line says who one is.
    #[error("the first control line must be `hello`, and only that")]
    Hello,
    /// Standard output cannot be had.
    #[error("no standard output: {0}")]
    Voice(#[from] std::io::Error),
    /// A strategy that is not there.
    #[error(transparent)]
    Strategy(#[from] Unknown),
    /// A session leads where there is no link.
    #[error("there is no link to {0}")]
    NoLink(Endpoint),
}

/// How long giving back may take.
const END_LIMIT: Duration = Duration::from_secs(2);
/// Pause between tries to read the catalog.
const PAUSE_MS: u64 = 50;

type Controls = mpsc::UnboundedReceiver<Control>;

/// Be a replica until told to end.
pub(super) async fn run(mut controls: Controls) -> Result<(), Error> {
    let Some(Control::Hello { name, incarnation, setup, ports, postgres, redis }) = controls.recv().await else {
        return Err(Error::Hello);
    };
    let me = Rc::new(Me::new(name, incarnation, setup.seed, ports, postgres, redis, Voice::stdout()?));
    me.shift(setup.replica.get(&me.name).and_then(|own| own.clock_shift_ms).unwrap_or_default());
    let started_ms = me.wall_us() / 1000;
    let binder = if setup.has_broken(PROCESS_START) { Binder::counting_from(started_ms) } else { Binder::default() };
    let (audit, opened) = Audit::open(&me, Duration::from_millis(setup.store_timeout_ms))?;
    let (read, catalogs) = mpsc::unbounded_channel();
    let (ready, all_open) = mpsc::unbounded_channel();
    let process = Process {
        me,
        setup: Rc::from(setup),
        audit,
        binder,
        units: BTreeMap::new(),
        retired: Vec::new(),
        early: Vec::new(),
        bound: false,
        opened: vec![Opening { first: opened, limit: None }],
        read,
        ready,
    };
    process.obey(controls, catalogs, all_open).await
}

struct Process {
    me: Rc<Me>,
    setup: Rc<Setup>,
    audit: Audit,
    binder: Binder,
    units: BTreeMap<String, Unit>,
    /// Drivers that end when their attempts are final.
    retired: Vec<Unit>,
    /// Told before the catalog was read for the first time.
    early: Vec<Control>,
    bound: bool,
    /// What must be open before the replica is ready.
    opened: Vec<Opening>,
    read: mpsc::UnboundedSender<Vec<Schedule>>,
    ready: mpsc::UnboundedSender<()>,
}

impl Process {
    async fn obey(
        mut self,
        mut controls: Controls,
        mut catalogs: mpsc::UnboundedReceiver<Vec<Schedule>>,
        mut all_open: mpsc::UnboundedReceiver<()>,
    ) -> Result<(), Error> {
        self.read_catalog();
        loop {
            let next = self.binder.next_ms().filter(|_| self.setup.cron);
            tokio::select! {
                biased;
                control = controls.recv() => match control {
                    None => return Ok(()),
                    Some(Control::Shutdown) => return self.shut_down().await,
                    Some(control) if !self.bound => self.early.push(control),
                    Some(control) => self.take(control)?,
                },
                Some(catalog) = catalogs.recv() => self.bind(&catalog)?,
                Some(()) = all_open.recv() => {
                    self.me.say(Kind::Ready);
                }
                () = due(&self.me, next) => {
                    self.give_due();
                }
            }
        }
    }

    fn take(&mut self, control: Control) -> Result<(), Error> {
        match control {
            Control::Hello { .. } => return Err(Error::Hello),
            Control::Fire { slot, lock } => self.give(slot, Some(lock)),
            Control::Pass { attempt, gate } => self.tell_all(|| Happening::Pass(attempt.clone(), gate.clone())),
            Control::Set { setup } => self.set(*setup)?,
            Control::Rebind => self.read_catalog(),
            Control::Cancel => self.tell_all(|| Happening::Cancel),
            Control::EndWork => self.tell_all(|| Happening::EndWork),
            Control::Clock { shift_ms } => {
                self.me.shift(shift_ms);
                self.binder.reset(self.wall_ms());
                self.me.say_clocks();
            }
            Control::Elapsed { elapsed_ms } => {
                me::elapse(elapsed_ms);
                self.me.say_clocks();
                self.tell_all(|| Happening::Elapsed);
            }
            // Obeyed before it comes here.
            Control::Shutdown => {}
        }
        Ok(())
    }

    fn wall_ms(&self) -> i64 {
        self.me.wall_us() / 1000
    }

    /// Give the slots that are due by the timers.
    fn give_due(&mut self) {
        for slot in self.binder.due(self.wall_ms()) {
            if self.setup.cron {
                self.give(slot, None);
            }
        }
    }

    /// Give a slot to its schedule's driver, for that lock or the one that the strategy's scope says.
    fn give(&self, slot: Slot, lock: Option<String>) {
        let Some(unit) = self.units.get(&slot.schedule) else {
            self.trouble(format!("there is no schedule {} in the catalog", slot.schedule));
            return;
        };
        let by_timer = lock.is_none();
        let lock = lock.unwrap_or_else(|| unit.lock_of(&slot));
        unit.tell(Happening::Due { slot, lock, by_timer });
    }

    fn trouble(&self, text: String) {
        self.me.say(Kind::Trouble { problem: Problem { whose: Whose::Yours, text } });
    }

    fn tell_all(&self, happening: impl Fn() -> Happening) {
        for unit in self.units.values().chain(&self.retired) {
            unit.tell(happening());
        }
    }

    /// Read the catalog, as often as it takes; it comes back through `read`.
    fn read_catalog(&self) {
        let (audit, read, me) = (self.audit.clone(), self.read.clone(), self.me.clone());
        tokio::task::spawn_local(async move {
            let catalog = loop {
                match audit.catalog().await {
                    Ok(catalog) => break catalog,
                    Err(error) => tracing::warn!("the catalog could not be read: {error}"),
                }
                sleep(Duration::from_millis(PAUSE_MS + u64::from(me.jitter()) % PAUSE_MS)).await;
            };
            // Nobody reads it when the process ends.
            let _ = read.send(catalog);
        });
    }

    /// Bind the catalog: timers, and a driver for each schedule that is there.
    fn bind(&mut self, catalog: &[Schedule]) -> Result<(), Error> {
        // What was due by the old timers is not lost to the new ones.
        self.give_due();
        for problem in self.binder.bind(catalog, self.wall_ms()) {
            self.trouble(problem);
        }
        let gone: Vec<String> =
            self.units.keys().filter(|name| !catalog.iter().any(|row| row.name == **name)).cloned().collect();
        for unit in gone.iter().filter_map(|name| self.units.remove(name)).collect::<Vec<_>>() {
            self.retire(unit);
        }
        for Schedule { name, .. } in catalog {
            if !self.units.contains_key(name) {
                let mut unit = self.unit(name)?;
                self.opened.append(&mut unit.opened);
                self.units.insert(name.clone(), unit);
            }
        }
        if !std::mem::replace(&mut self.bound, true) {
            self.announce();
            for control in std::mem::take(&mut self.early) {
                self.take(control)?;
            }
        }
        Ok(())
    }

    /// Say that the replica is ready once all its sessions are open.
    fn announce(&mut self) {
        let (opened, ready) = (std::mem::take(&mut self.opened), self.ready.clone());
        tokio::task::spawn_local(async move {
            let began = Instant::now();
            for Opening { first, limit } in opened {
                // A session that was given up meanwhile holds nothing up.
                match limit {
                    Some(limit) => drop(timeout_at(began + limit, first).await),
                    None => drop(first.await),
                }
            }
            let _ = ready.send(());
        });
    }

    fn unit(&self, schedule: &str) -> Result<Unit, Error> {
        let spec = Spec {
            me: self.me.clone(),
            schedule: schedule.to_owned(),
            setup: self.setup.clone(),
            audit: self.audit.clone(),
        };
        dispatch(&self.setup.of_replica(&self.me.name).strategy, spec)?
    }

    fn retire(&mut self, unit: Unit) {
        unit.tell(Happening::Retire);
        self.retired.retain(|unit| !unit.ended.is_finished());
        self.retired.push(unit);
    }

    /// The set-up from now on. Drivers are made anew unless nothing changes for them.
    fn set(&mut self, setup: Setup) -> Result<(), Error> {
        let before = std::mem::replace(&mut self.setup, Rc::new(setup));
        if self.setup.cron && !before.cron {
            self.binder.reset(self.wall_ms());
        }
        let timers_only = Setup { cron: before.cron, every_s: before.every_s, ..(*self.setup).clone() };
        if timers_only == *before {
            return Ok(());
        }
        for schedule in self.units.keys().cloned().collect::<Vec<_>>() {
            let unit = self.unit(&schedule)?;
            if let Some(old) = self.units.insert(schedule, unit) {
                self.retire(old);
            }
        }
        Ok(())
    }

    /// Give back what is held, and end.
    async fn shut_down(self) -> Result<(), Error> {
        self.tell_all(|| Happening::Shutdown);
        let ended: Vec<JoinHandle<()>> = self.units.into_values().chain(self.retired).map(|unit| unit.ended).collect();
        let all = async {
            for driver in ended {
                let _ = driver.await;
            }
        };
        if timeout(END_LIMIT, all).await.is_err() {
            tracing::warn!("{}: something is still held at the end", self.me.name);
        }
        Ok(())
    }
}

/// Wait until a time of the replica's wall clock.
async fn due(me: &Me, at_ms: Option<i64>) {
    match at_ms {
        Some(at_ms) => {
            let left_us = at_ms.saturating_mul(1000).saturating_sub(me.wall_us());
            sleep(Duration::from_micros(u64::try_from(left_us).unwrap_or_default())).await;
        }
        None => std::future::pending().await,
    }
}
