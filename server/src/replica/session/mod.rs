//! Pinned connections: one a session, never pooled. A session opens its connection, carries one call after
//! the other, and opens a new connection by itself when the old one was lost or thrown away. It never
//! repeats a call: what was sent once and not answered is unknown, and what to do then is the caller's affair.

pub(super) mod bank;
mod peer;
pub(super) mod postgres;
pub(super) mod redis;

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use locks::event::Kind;
use locks::ids::Endpoint;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::control::NOT_NEEDED;
use super::me::Me;

/// One kind of connection.
pub(super) trait Client: 'static {
    /// An open connection.
    type Conn;
    /// What is asked over it.
    type Call;
    /// What is answered.
    type Answer;
    /// The answer to a call of which certainly no byte was sent.
    const NOT_SENT: Self::Answer;
    /// The answer to a call that may or may not have been executed.
    const UNKNOWN: Self::Answer;
    /// Open a connection and make everything ready on it; each round trip within `limit`.
    fn open(&self, limit: Duration) -> impl Future<Output = Result<Self::Conn, String>>;
    /// Ask. An error means that the connection was lost.
    fn call(&self, conn: &mut Self::Conn, call: Self::Call) -> impl Future<Output = Result<Self::Answer, String>>;
    /// Wait until the other side closes a connection on which nothing is being asked.
    fn closed(&self, conn: &mut Self::Conn) -> impl Future<Output = String>;
}

/// The handle of a session. The connection closes when the last one is dropped.
pub(super) struct Session<C: Client> {
    orders: mpsc::UnboundedSender<Order<C>>,
    /// Which connection, counted from 1, carried the latest call.
    carried: Rc<Cell<u64>>,
}

impl<C: Client> Clone for Session<C> {
    fn clone(&self) -> Self {
        Session { orders: self.orders.clone(), carried: self.carried.clone() }
    }
}

/// What a session is and whom it tells.
pub(super) struct Spec {
    /// Where it leads.
    pub(super) endpoint: Endpoint,
    /// Its name within the replica.
    pub(super) name: String,
    /// How long a step of opening may take, once it has been open.
    pub(super) limit: Duration,
    /// What is set for it, as the log shows it.
    pub(super) settings: BTreeMap<String, String>,
    /// Told when the connection was lost, but not when it was thrown away.
    pub(super) lost: Box<dyn Fn()>,
}

enum Order<C: Client> {
    Call(Job<C>),
    Discard,
}

struct Job<C: Client> {
    call: C::Call,
    deadline: Instant,
    /// Only this connection may carry it.
    only_on: Option<u64>,
    answer: Box<dyn FnOnce(C::Answer)>,
}

/// How long a step of the first opening may take, when all of an arena's replicas start at once.
const FIRST_LIMIT: Duration = Duration::from_secs(2);
/// Pauses between tries to open: doubling from this one ...
const PAUSE_MS: u64 = 15;
/// ... up to this one.
const LONGEST_PAUSE_MS: u64 = 250;
/// How often other tasks get their turn when a limit is over, so that an answer which has arrived is seen.
const TURNS: usize = 8;

/// Let everything that is ready run.
pub(super) async fn take_turns() {
    for _ in 0..TURNS {
        tokio::task::yield_now().await;
    }
}

impl<C: Client> Session<C> {
    /// Begin a session. The receiver hears when it is open for the first time.
    pub(super) fn begin(me: Rc<Me>, client: C, spec: Spec) -> (Session<C>, oneshot::Receiver<()>) {
        let (orders, inbox) = mpsc::unbounded_channel();
        let (opened, first) = oneshot::channel();
        let carried = Rc::new(Cell::new(0));
        let session = Session { orders, carried: carried.clone() };
        let line =
            Connection { me, client, spec, inbox, queue: VecDeque::new(), opened: Some(opened), number: 0, carried };
        tokio::task::spawn_local(line.live());
        (session, first)
    }

    /// Ask, and hear the answer: always, and soon after the deadline at the latest.
    pub(super) fn call(&self, call: C::Call, deadline: Instant, answer: impl FnOnce(C::Answer) + 'static) {
        self.order(Job { call, deadline, only_on: None, answer: Box::new(answer) });
    }

    /// The same, but only on the connection that carried the call before it: what that one began (an open
    /// transaction) is gone with it.
    pub(super) fn call_within(&self, call: C::Call, deadline: Instant, answer: impl FnOnce(C::Answer) + 'static) {
        self.order(Job { call, deadline, only_on: Some(self.carried.get()), answer: Box::new(answer) });
    }

    fn order(&self, job: Job<C>) {
        // The task ends only after the last handle.
        let _ = self.orders.send(Order::Call(job));
    }

    /// Close the connection at once and open a new one. Nothing happens if none is open.
    pub(super) fn discard(&self) {
        let _ = self.orders.send(Order::Discard);
    }
}

/// The session's task.
struct Connection<C: Client> {
    me: Rc<Me>,
    client: C,
    spec: Spec,
    inbox: mpsc::UnboundedReceiver<Order<C>>,
    queue: VecDeque<Job<C>>,
    opened: Option<oneshot::Sender<()>>,
    /// Which connection this is, counted from 1.
    number: u64,
    /// Shared with the handles.
    carried: Rc<Cell<u64>>,
}

/// What became of the call under way.
enum Called<C: Client> {
    Answered(C::Answer),
    Lost(String),
    TimedOut,
    Discarded,
    Abandoned,
}

impl<C: Client> Connection<C> {
    async fn live(mut self) {
        while let Some(conn) = self.open().await {
            self.number += 1;
            self.me.say(Kind::SessionOpened {
                endpoint: self.spec.endpoint,
                session: self.spec.name.clone(),
                settings: self.spec.settings.clone(),
            });
            if let Some(opened) = self.opened.take() {
                let _ = opened.send(());
            }
            let why = self.serve(conn).await;
            let wanted = why.is_some();
            let why = why.unwrap_or_else(|| NOT_NEEDED.to_owned());
            self.me.say(Kind::SessionClosed { endpoint: self.spec.endpoint, session: self.spec.name.clone(), why });
            if !wanted {
                return;
            }
        }
    }

    /// Try until it is open; `None` when nobody wants it any more.
    async fn open(&mut self) -> Option<C::Conn> {
        let mut pause_ms = PAUSE_MS;
        loop {
            let limit = if self.opened.is_some() { FIRST_LIMIT } else { self.spec.limit };
            let Connection { client, inbox, queue, me, .. } = self;
            match meanwhile(inbox, queue, client.open(limit)).await? {
                Ok(conn) => return Some(conn),
                Err(error) => tracing::debug!("{}: {error}", self.spec.name),
            }
            let jittered = pause_ms / 2 + u64::from(me.jitter()) % pause_ms;
            meanwhile(inbox, queue, sleep(Duration::from_millis(jittered))).await?;
            pause_ms = (pause_ms * 2).min(LONGEST_PAUSE_MS);
        }
    }

    /// Carry calls until the connection is gone, and say why; `None` when nobody wants it any more.
    async fn serve(&mut self, mut conn: C::Conn) -> Option<String> {
        loop {
            let job = match self.queue.pop_front() {
                Some(job) => job,
                None => tokio::select! {
                    biased;
                    order = self.inbox.recv() => match order? {
                        Order::Call(job) => job,
                        Order::Discard => return Some("discarded".to_owned()),
                    },
                    why = self.client.closed(&mut conn) => {
                        (self.spec.lost)();
                        return Some(why);
                    }
                },
            };
            if Instant::now() >= job.deadline || job.only_on.is_some_and(|number| number != self.number) {
                (job.answer)(C::NOT_SENT);
                continue;
            }
            self.carried.set(self.number);
            let Connection { client, inbox, queue, .. } = self;
            let called = called(inbox, queue, client.call(&mut conn, job.call), job.deadline).await;
            match called {
                Called::Answered(answer) => (job.answer)(answer),
                Called::TimedOut => (job.answer)(C::UNKNOWN),
                Called::Lost(why) => {
                    drop(conn);
                    (job.answer)(C::UNKNOWN);
                    (self.spec.lost)();
                    return Some(why);
                }
                Called::Discarded => {
                    drop(conn);
                    (job.answer)(C::UNKNOWN);
                    return Some("discarded".to_owned());
                }
                Called::Abandoned => return None,
            }
        }
    }
}

/// Wait for something while no connection is open: calls queue up, and are given up at their deadlines.
async fn meanwhile<C: Client, T>(
    inbox: &mut mpsc::UnboundedReceiver<Order<C>>,
    queue: &mut VecDeque<Job<C>>,
    awaited: impl Future<Output = T>,
) -> Option<T> {
    let mut awaited = pin!(awaited);
    loop {
        let earliest = queue.iter().map(|job| job.deadline).min();
        tokio::select! {
            biased;
            done = &mut awaited => return Some(done),
            order = inbox.recv() => match order? {
                Order::Call(job) if job.only_on.is_some() => (job.answer)(C::NOT_SENT),
                Order::Call(job) => queue.push_back(job),
                Order::Discard => {}
            },
            () = at(earliest) => {
                let now = Instant::now();
                while let Some(over) = queue.iter().position(|job| job.deadline <= now) {
                    if let Some(job) = queue.remove(over) {
                        (job.answer)(C::NOT_SENT);
                    }
                }
            }
        }
    }
}

async fn at(instant: Option<Instant>) {
    match instant {
        Some(instant) => sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

/// Wait for the answer to a call.
async fn called<C: Client>(
    inbox: &mut mpsc::UnboundedReceiver<Order<C>>,
    queue: &mut VecDeque<Job<C>>,
    answer: impl Future<Output = Result<C::Answer, String>>,
    deadline: Instant,
) -> Called<C> {
    let mut answer = pin!(answer);
    let answered = |answer: Result<C::Answer, String>| answer.map_or_else(Called::Lost, Called::Answered);
    loop {
        tokio::select! {
            biased;
            done = &mut answer => return answered(done),
            order = inbox.recv() => match order {
                Some(Order::Call(job)) => queue.push_back(job),
                Some(Order::Discard) => return Called::Discarded,
                None => return Called::Abandoned,
            },
            () = sleep_until(deadline) => {
                let mut turns = pin!(take_turns());
                return tokio::select! {
                    biased;
                    done = &mut answer => answered(done),
                    () = &mut turns => Called::TimedOut,
                };
            }
        }
    }
}

/// Do a step of opening within its limit.
async fn within<T, E: ToString>(limit: Duration, step: impl Future<Output = Result<T, E>>) -> Result<T, String> {
    match timeout(limit, step).await {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(_) => Err("no answer in time".to_owned()),
    }
}
