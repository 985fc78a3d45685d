//! One connection: accepted, connected to its upstream, pumped both ways until it ends. Each turn of a
//! pump asks the rules and acts on the answer under one read lock, without awaiting anything, so that a
//! control call (which takes the write lock) has happened before a byte or after it, never in between.

use std::cell::RefCell;
use std::io;
use std::time::Duration;

use locks::action::Direction;
use tokio::net::TcpStream;
use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};

use super::flow::{End, Flow, Next};
use super::rules::Rules;
use super::session::Sniffer;
use super::socket::{Socket, Upstream};
use super::{LinkId, Report};
use crate::clock::now_us;

/// Limit for connecting to an upstream. It is on this machine or near it.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// So long an answer may take to a replica that has said that it sends no more. Replicas do not close half: who
/// says so is gone, and a store that is paused would keep the connections of every try until it goes on.
const FAREWELL: Duration = Duration::from_secs(2);

/// A connection's numbers, from 1.
#[derive(Clone, Copy)]
pub(super) struct Number {
    /// On its link: the series of its jitter, the same in each run however replicas interleave.
    pub(super) on_link: u64,
    /// Among all connections of all links: its name in reports.
    pub(super) overall: u64,
}

/// The connection is over for both directions, and the replica's side is reset.
struct Broken;

/// What a pump waits for after a turn; a change of the rules always ends the wait.
enum Turn {
    /// This direction is over; the other may go on.
    Over,
    Wait(Wait),
}

#[derive(Default)]
struct Wait {
    readable: bool,
    writable: bool,
    until_us: Option<u64>,
}

struct Connection {
    replica: Socket,
    upstream: Socket,
    accepted_at: u64,
    number: Number,
    id: LinkId,
    report: Report,
    talk: RefCell<Talk>,
    /// The replica's end was passed on.
    taken_leave: Notify,
}

/// Who speaks: a message begins where the direction turns.
struct Talk {
    last: Option<Direction>,
    sniffer: Sniffer,
}

/// Serves one accepted connection until it ends.
pub(super) async fn serve(
    replica: TcpStream,
    number: Number,
    id: LinkId,
    upstream: impl Fn() -> Option<Upstream>,
    mut rules: watch::Receiver<Rules>,
    report: Report,
) {
    let accepted_at = rules.borrow().resets;
    let Ok(replica) = Socket::tcp(replica) else { return };
    // Behind a cut nobody answers, not even to say that nobody is there.
    let healed = rules.wait_for(|rules| !rules.cut || !rules.lives(accepted_at)).await;
    if !healed.is_ok_and(|rules| rules.lives(accepted_at)) {
        return replica.reset();
    }
    let connected = match upstream() {
        Some(upstream) => {
            timeout(CONNECT_LIMIT, Socket::connect(&upstream)).await.unwrap_or_else(|limit| Err(limit.into()))
        }
        None => Err(io::ErrorKind::NotFound.into()),
    };
    let upstream = match connected {
        Ok(upstream) => upstream,
        Err(error) => {
            tracing::debug!(replica = %id.replica, endpoint = %id.endpoint, %error, "no upstream");
            return replica.reset();
        }
    };
    let talk = RefCell::new(Talk { last: None, sniffer: Sniffer::new(id.endpoint) });
    let taken_leave = Notify::new();
    let connection = Connection { replica, upstream, accepted_at, number, id, report, talk, taken_leave };
    let both = async {
        tokio::try_join!(
            connection.pump(Direction::Request, rules.clone()),
            connection.pump(Direction::Reply, rules.clone())
        )
    };
    let ended = tokio::select! {
        ended = both => ended.map(|_| ()),
        () = connection.is_left(rules.clone()) => Err(Broken),
    };
    if let Err(Broken) = ended {
        connection.replica.reset();
    }
}

impl Connection {
    async fn pump(&self, direction: Direction, mut rules: watch::Receiver<Rules>) -> Result<(), Broken> {
        let (source, target) = match direction {
            Direction::Request => (&self.replica, &self.upstream),
            Direction::Reply => (&self.upstream, &self.replica),
        };
        let mut flow = Flow::new(self.number.on_link, direction);
        let mut buffer = vec![0; 16 << 10];
        loop {
            let (turn, watches) = {
                let rules = rules.borrow_and_update();
                let turn = self.turn(direction, source, target, &mut flow, &mut buffer, &rules)?;
                (turn, flow.watches(&rules))
            };
            let wait = match turn {
                Turn::Over => return Ok(()),
                Turn::Wait(wait) => wait,
            };
            tokio::select! {
                changed = rules.changed() => changed.map_err(|_| Broken)?,
                _ = source.readable(), if wait.readable => {}
                _ = source.readable(), if watches => flow.noticed(now_us()),
                _ = target.writable(), if wait.writable => {}
                _ = at(wait.until_us), if wait.until_us.is_some() => {}
            }
        }
    }

    /// Passes on what may pass, reads once, and passes on what that brought.
    fn turn(
        &self,
        direction: Direction,
        source: &Socket,
        target: &Socket,
        flow: &mut Flow,
        buffer: &mut [u8],
        rules: &Rules,
    ) -> Result<Turn, Broken> {
        if !rules.lives(self.accepted_at) {
            return Err(Broken);
        }
        if flow.reads(rules) {
            match source.try_read(buffer) {
                Ok(0) => flow.ended(End::Fin, now_us(), rules),
                Ok(count) => {
                    if direction == Direction::Request {
                        self.talk.borrow_mut().sniffer.feed(&buffer[..count]);
                    }
                    flow.arrived(&buffer[..count], now_us(), rules);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => flow.nothing_waits(),
                Err(_) => flow.ended(End::Reset, now_us(), rules),
            }
        }
        let mut wait = Wait::default();
        loop {
            let now_us = now_us();
            match flow.next(now_us, rules) {
                Next::Nothing => break,
                Next::At(due_us) => {
                    wait.until_us = Some(due_us);
                    break;
                }
                Next::Bytes(bytes) => match target.try_write(bytes) {
                    Ok(count) => {
                        let kept_us = flow.passed(count, now_us);
                        self.report(direction, now_us, kept_us);
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        wait.writable = true;
                        break;
                    }
                    // The target takes nothing any more. What it sent before that still passes, the other way.
                    Err(_) => return Ok(Turn::Over),
                },
                Next::End(End::Fin) => {
                    // Fails only where the target is gone already, and then there is nobody to tell.
                    target.finish().unwrap_or_default();
                    if direction == Direction::Request {
                        self.taken_leave.notify_one();
                    }
                    return Ok(Turn::Over);
                }
                Next::End(End::Reset) => return Err(Broken),
            }
        }
        wait.readable = flow.reads(rules);
        Ok(Turn::Wait(wait))
    }

    /// The replica took its leave, and what an answer may take is over. What the rules keep back is not late.
    async fn is_left(&self, mut rules: watch::Receiver<Rules>) {
        self.taken_leave.notified().await;
        let passes = |rules: &Rules| rules.passes(Direction::Reply);
        while let Ok(slowed) = rules.wait_for(passes).await.map(|rules| rules.delay.longest()) {
            sleep(FAREWELL + slowed).await;
            if passes(&rules.borrow()) {
                return;
            }
        }
    }

    /// Says that a message passed, if these bytes began one. The stamp was taken before the write: what a
    /// store does with a request is later than its stamp, and so is what a replica does with a reply.
    fn report(&self, direction: Direction, at_us: u64, kept_us: u64) {
        let mut talk = self.talk.borrow_mut();
        if talk.last.replace(direction) != Some(direction) {
            self.report.passed(&self.id, talk.sniffer.session(), self.number.overall, direction, at_us, kept_us);
        }
    }
}

async fn at(until_us: Option<u64>) {
    if let Some(until_us) = until_us {
        sleep(Duration::from_micros(until_us.saturating_sub(now_us()))).await;
    }
}
