//! Setting a driver up: from a schedule and a set-up to a running driver with its sessions, whatever the
//! type of its strategy.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::time::Duration;

use locks::ids::{At, Endpoint, LockName, SinkName, Slot};
use locks::setup::Setup;
use locks::strategy::{LockScope, SessionSpec, Strategy, Visitor};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::{Driver, Gates, Happening, Store};
use crate::replica::audit::Audit;
use crate::replica::effect::{LEDGER, Sink};
use crate::replica::me::Me;
use crate::replica::process::Error;
use crate::replica::session::postgres::{Postgres, Settings};
use crate::replica::session::redis::Redis;
use crate::replica::session::{self, Session};

/// What a driver is made for.
pub(in crate::replica) struct Spec {
    pub(in crate::replica) me: Rc<Me>,
    pub(in crate::replica) schedule: String,
    /// The set-up of the run; the replica's own values are laid over it here.
    pub(in crate::replica) setup: Rc<Setup>,
    pub(in crate::replica) audit: Audit,
}

/// How long a replica waits for a Redis node before it is ready without it: one dead node of five must not
/// keep it from starting.
const NODE_LIMIT: Duration = Duration::from_secs(2);

/// A session that is being opened for the first time.
pub(in crate::replica) struct Opening {
    /// Hears when it is open.
    pub(in crate::replica) first: oneshot::Receiver<()>,
    /// It is waited for at most so long.
    pub(in crate::replica) limit: Option<Duration>,
}

/// The handle of a running driver.
pub(in crate::replica) struct Unit {
    /// It is told through this.
    tell: mpsc::UnboundedSender<Happening>,
    /// Ends when the driver has.
    pub(in crate::replica) ended: JoinHandle<()>,
    /// Each hears when one of its sessions is open for the first time.
    pub(in crate::replica) opened: Vec<Opening>,
    scope: LockScope,
}

impl Unit {
    /// Tell the driver. One that has ended hears nothing any more.
    pub(in crate::replica) fn tell(&self, happening: Happening) {
        let _ = self.tell.send(happening);
    }

    /// The lock that an attempt at a slot competes for.
    pub(in crate::replica) fn lock_of(&self, slot: &Slot) -> LockName {
        self.scope.lock_of(slot)
    }
}

impl Visitor for Spec {
    type Out = Result<Unit, Error>;

    fn visit<S: Strategy>(self, mutant: Option<&'static str>) -> Result<Unit, Error> {
        let Spec { me, schedule, setup, audit } = self;
        let settings = Settings::of(&setup, &me.name);
        let own = setup.of_replica(&me.name);
        let strategy = S::new(&own, mutant, &setup.host_of(&me.name));
        let (tell, inbox) = mpsc::unbounded_channel();
        let limit = Duration::from_millis(own.store_timeout_ms);
        let mut opened = Vec::new();
        let mut stores = BTreeMap::new();
        for SessionSpec { session, to, mut prepare, needs_all_keys, settings: of_strategy } in strategy.sessions() {
            let name = format!("{schedule}/{}", session.0);
            let lost = tell.clone();
            let spec = session::Spec {
                endpoint: to,
                name: name.clone(),
                limit,
                settings: of_strategy.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
                lost: Box::new(move || drop(lost.send(Happening::Lost(session)))),
            };
            if matches!(to, Endpoint::Redis(_)) {
                let client = Redis::new(&me, to, &name, prepare, needs_all_keys).ok_or(Error::NoLink(to))?;
                let (session_, first) = Session::begin(me.clone(), client, spec);
                opened.push(Opening { first, limit: Some(NODE_LIMIT) });
                stores.insert(session, Store::Redis(session_));
                continue;
            }
            if own.sink == SinkName::Ledger {
                // An effect may be sent within this session's transaction.
                prepare.push(LEDGER);
            }
            let settings = Settings { of_strategy, ..settings.clone() };
            let client = Postgres::new(&me, &name, &settings, prepare).ok_or(Error::NoLink(to))?;
            let (session_, first) = Session::begin(me.clone(), client, spec);
            opened.push(Opening { first, limit: None });
            stores.insert(session, Store::Postgres(session_));
        }
        let (sink, first) = Sink::open(&me, &schedule, &own, &settings)?;
        opened.push(Opening { first, limit: None });
        let driver = Driver {
            gates: Gates::new(own.gated.clone()),
            setup: own,
            strategy,
            stores,
            sink,
            audit,
            attempt: None,
            inputs: VecDeque::new(),
            blocking: None,
            ticked: At(0),
            ending: false,
            sends: false,
            tell: tell.clone(),
            inbox,
            me,
            schedule,
        };
        let ended = tokio::task::spawn_local(driver.drive());
        Ok(Unit { tell, ended, opened, scope: S::info().scope })
    }
}
