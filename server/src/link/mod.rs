//! Links: every connection from a replica to a store or the bank goes through one, a TCP proxy on
//! 127.0.0.1, one per (replica, endpoint). A link disturbs only as it is told, and never alters, drops or
//! reorders a byte; what it does is always something that a network could have done.
//!
//! | file | job |
//! |---|---|
//! | `rules`, `delay` | the faults in force, as values |
//! | `flow` | one direction of a connection, without I/O or clock |
//! | `session` | whose connection it is |
//! | `pump`, `socket` | the thin shell that reads and writes |
//! | `thread` | where all of it runs |
//! | [`cost`] | what a link itself costs |
//!
//! Control calls do not talk to that thread. They change the rules under the lock that a pump holds while
//! it acts on them: when a call returns its fault is in force, and no call can wait for a busy proxy.

pub mod cost;
mod delay;
mod flow;
mod pump;
mod rules;
mod session;
mod socket;
mod thread;

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use locks::action::Direction;
use locks::ids::Endpoint;
use tokio::sync::{mpsc, watch};

pub use delay::Delay;
pub use rules::{Hold, Rules};
pub use socket::Upstream;
use thread::{Opened, Upstreams};

/// The first byte of a message was passed on. A message begins where the direction turns: the first
/// request byte after a reply or since the start, the first reply byte after a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    /// Whose link.
    pub replica: String,
    /// Where it leads.
    pub endpoint: Endpoint,
    /// The session that the connection belongs to, once known.
    pub session: Option<String>,
    /// Which connection, from 1; no two of these links have the same number.
    pub connection: u64,
    /// Which way.
    pub direction: Direction,
    /// When, in microseconds of the machine's monotonic clock, taken just before the byte was written.
    pub at_us: u64,
    /// How long the link kept it.
    pub kept_us: u64,
}

/// What can go wrong with links.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The thread could not be started.
    #[error("links could not be started: {0}")]
    Start(#[source] io::Error),
    /// No port could be bound.
    #[error("no port for the link from {replica} to {endpoint}: {source}")]
    Bind {
        /// Whose link.
        replica: String,
        /// Where it leads.
        endpoint: Endpoint,
        /// Why.
        source: io::Error,
    },
    /// There is no such link.
    #[error("there is no link from {replica} to {endpoint}")]
    Unknown {
        /// Whose link.
        replica: String,
        /// Where it leads.
        endpoint: Endpoint,
    },
    /// The thread has ended.
    #[error("links have ended")]
    Ended,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LinkId {
    replica: String,
    endpoint: Endpoint,
}

/// Says what passed, to whoever listens.
#[derive(Clone)]
struct Report(mpsc::UnboundedSender<Passed>);

impl Report {
    fn passed(
        &self,
        id: &LinkId,
        session: Option<&str>,
        connection: u64,
        direction: Direction,
        at_us: u64,
        kept_us: u64,
    ) {
        let LinkId { replica, endpoint } = id.clone();
        let session = session.map(str::to_owned);
        // Nobody listening is no reason not to pass bytes.
        self.0.send(Passed { replica, endpoint, session, connection, direction, at_us, kept_us }).unwrap_or_default();
    }
}

struct Link {
    port: u16,
    rules: watch::Sender<Rules>,
}

/// The links of one arena. Cheap to clone; when the last clone is dropped, ports and connections are closed.
#[derive(Clone)]
pub struct Links {
    open: Arc<Mutex<BTreeMap<LinkId, Link>>>,
    upstreams: Upstreams,
    opened: mpsc::UnboundedSender<Opened>,
}

impl Links {
    /// Starts the thread that links run on. `upstream` is asked once for each endpoint of replicas.
    pub fn start(
        upstream: impl Fn(Endpoint) -> Upstream,
        passed: mpsc::UnboundedSender<Passed>,
    ) -> Result<Links, LinkError> {
        let upstreams = Endpoint::of_replicas().map(|endpoint| (endpoint, upstream(endpoint))).collect();
        let upstreams = Arc::new(Mutex::new(upstreams));
        let (opened, receiver) = mpsc::unbounded_channel();
        thread::start(receiver, upstreams.clone(), Report(passed))?;
        Ok(Links { open: Arc::default(), upstreams, opened })
    }

    /// Opens the links of a replica, to every endpoint, and answers their ports on 127.0.0.1. Links that are
    /// open already stay as they are, with whatever faults they have: a new incarnation uses the old links.
    pub fn add(&self, replica: &str) -> Result<BTreeMap<Endpoint, u16>, LinkError> {
        let mut open = self.open();
        let mut ports = BTreeMap::new();
        for endpoint in Endpoint::of_replicas() {
            let id = LinkId { replica: replica.to_owned(), endpoint };
            let port = match open.get(&id) {
                Some(link) => link.port,
                None => {
                    let link = self.open_link(&id)?;
                    let port = link.port;
                    open.insert(id, link);
                    port
                }
            };
            ports.insert(endpoint, port);
        }
        Ok(ports)
    }

    fn open_link(&self, id: &LinkId) -> Result<Link, LinkError> {
        let bind = || {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            listener.set_nonblocking(true)?;
            let port = listener.local_addr()?.port();
            Ok((listener, port))
        };
        let (listener, port) =
            bind().map_err(|source| LinkError::Bind { replica: id.replica.clone(), endpoint: id.endpoint, source })?;
        let (sender, rules) = watch::channel(Rules::default());
        self.opened.send(Opened { id: id.clone(), listener, rules }).map_err(|_| LinkError::Ended)?;
        Ok(Link { port, rules: sender })
    }

    /// Closes the links of a replica and resets what is left of its connections.
    pub fn remove(&self, replica: &str) {
        self.open().retain(|id, link| {
            let stays = id.replica != replica;
            if !stays {
                link.rules.send_modify(|rules| rules.closed = true);
            }
            stays
        });
    }

    /// Stops reading both sides: bytes and FIN wait. New connections are accepted and see silence.
    pub fn cut(&self, replica: &str, endpoint: Endpoint) -> Result<(), LinkError> {
        self.change(replica, endpoint, |rules| rules.cut = true)
    }

    /// Ends a cut: what waited arrives, or, with `drop`, the connections are reset instead. A link that is
    /// not cut stays as it is.
    pub fn heal(&self, replica: &str, endpoint: Endpoint, drop: bool) -> Result<(), LinkError> {
        self.change(replica, endpoint, |rules| {
            if std::mem::take(&mut rules.cut) && drop {
                rules.resets += 1;
            }
        })
    }

    /// Delays what is read from now on, both ways; a delay of 0 without jitter ends it. What travels
    /// already arrives as it would have.
    pub fn delay(&self, replica: &str, endpoint: Endpoint, delay: Delay) -> Result<(), LinkError> {
        self.change(replica, endpoint, |rules| rules.delay = delay)
    }

    /// Lets nothing pass this way from now on.
    pub fn hold(&self, replica: &str, endpoint: Endpoint, direction: Direction) -> Result<(), LinkError> {
        self.change(replica, endpoint, |rules| rules.hold.set(direction, true))
    }

    /// Delivers what was held, and holds no more.
    pub fn let_go(&self, replica: &str, endpoint: Endpoint, direction: Direction) -> Result<(), LinkError> {
        self.change(replica, endpoint, |rules| rules.hold.set(direction, false))
    }

    /// Resets every connection to an endpoint, of all replicas. Faults in force stay in force.
    pub fn reset(&self, endpoint: Endpoint) {
        for (_, link) in self.open().iter().filter(|(id, _)| id.endpoint == endpoint) {
            link.rules.send_modify(|rules| rules.resets += 1);
        }
    }

    /// Ends every fault on a link, if there is one, and resets its connections.
    pub fn undisturb(&self, replica: &str, endpoint: Endpoint) {
        let id = LinkId { replica: replica.to_owned(), endpoint };
        if let Some(link) = self.open().get(&id) {
            link.rules.send_modify(|rules| *rules = Rules { resets: rules.resets + 1, ..Rules::default() });
        }
    }

    /// Lets connections to come lead elsewhere.
    pub fn set_upstream(&self, endpoint: Endpoint, upstream: Upstream) {
        self.upstreams.lock().unwrap_or_else(PoisonError::into_inner).insert(endpoint, upstream);
    }

    /// What is in force on a link now; `None` if there is no such link.
    pub fn rules(&self, replica: &str, endpoint: Endpoint) -> Option<Rules> {
        let id = LinkId { replica: replica.to_owned(), endpoint };
        self.open().get(&id).map(|link| link.rules.borrow().clone())
    }

    /// Does anything pass between a replica and an endpoint, sooner or later?
    pub fn passes(&self, replica: &str, endpoint: Endpoint) -> bool {
        let passes = |rules: Rules| rules.passes(Direction::Request) && rules.passes(Direction::Reply);
        self.rules(replica, endpoint).is_some_and(passes)
    }

    /// Opens the replication link of a Redis pair, or leaves it as it is, and answers its port. It goes by the
    /// name of the pair's node.
    pub fn add_pair(&self, node: u8, primary: Upstream) -> Result<u16, LinkError> {
        let endpoint = Endpoint::RedisReplica(node);
        let id = LinkId { replica: Endpoint::Redis(node).to_string(), endpoint };
        self.set_upstream(endpoint, primary);
        let mut open = self.open();
        if let Some(link) = open.get(&id) {
            return Ok(link.port);
        }
        let link = self.open_link(&id)?;
        let port = link.port;
        open.insert(id, link);
        Ok(port)
    }

    /// Lets connections to come be refused, as if nobody listened there.
    pub fn unset_upstream(&self, endpoint: Endpoint) {
        self.upstreams.lock().unwrap_or_else(PoisonError::into_inner).remove(&endpoint);
    }

    fn change(&self, replica: &str, endpoint: Endpoint, change: impl FnOnce(&mut Rules)) -> Result<(), LinkError> {
        let id = LinkId { replica: replica.to_owned(), endpoint };
        match self.open().get(&id) {
            // Waits at most for the non-blocking call that a pump is in.
            Some(link) => link.rules.send_modify(change),
            None => return Err(LinkError::Unknown { replica: id.replica, endpoint }),
        }
        Ok(())
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<LinkId, Link>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
