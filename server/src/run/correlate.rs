//! Says which command it was that a link passed on. A link sees messages of a named session; a replica
//! says, on another path, which command it sends there. A command is announced before its bytes leave,
//! but the announcement may arrive here later than the link's word: then the link's word waits for it, a
//! short while. Pure: time is passed in, nothing is awaited, nothing is guessed beyond that.

use std::collections::{HashMap, VecDeque};

use locks::action::Direction;
use locks::event::{Kind, Reply};
use locks::ids::{AttemptId, CommandId, Endpoint, SinkName};

/// How long a link's word waits for the announcement at most. Usually it is known much sooner that none
/// will come: a replica writes its lines in order, so that a later line ends the waiting.
pub const PATIENCE_US: u64 = 2_000_000;

/// A session of a replica's process at one endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SessionKey {
    /// The replica's name.
    pub replica: String,
    /// Which process of that name.
    pub incarnation: u32,
    /// Where it leads.
    pub endpoint: Endpoint,
    /// Its name within the replica.
    pub session: String,
}

/// A message of which the first byte was passed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// When it was passed on.
    pub at_us: u64,
    /// How long the link had kept it.
    pub kept_us: u64,
    /// Whose link.
    pub replica: String,
    /// Where it leads.
    pub endpoint: Endpoint,
    /// Which connection of that link.
    pub connection: u64,
    /// The session, once its name is known.
    pub session: Option<SessionKey>,
    /// Which way.
    pub direction: Direction,
}

impl Passage {
    /// When the link read it: no earlier than it was announced.
    fn read_us(&self) -> u64 {
        self.at_us.saturating_sub(self.kept_us)
    }
}

/// What a message carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The command, for strategies' commands.
    pub command: Option<CommandId>,
    /// Its name.
    pub name: String,
    /// The attempt that it belongs to.
    pub attempt: Option<AttemptId>,
}

/// A message and what it carries, as far as that is known.
pub type Labelled = (Passage, Option<Label>);

struct Announced {
    at_us: u64,
    label: Label,
}

#[derive(Default)]
struct Connection {
    /// What the latest request carried, and whether its reply began.
    latest: Option<Label>,
    answered: bool,
    /// Messages that wait for an announcement, or behind one that does; with when they came.
    waiting: VecDeque<(u64, Passage)>,
}

/// See the module.
#[derive(Default)]
pub struct Correlator {
    announced: HashMap<SessionKey, Vec<Announced>>,
    /// The stamp of the latest line of each process.
    heard_us: HashMap<(String, u32), u64>,
    connections: HashMap<(String, Endpoint, u64), Connection>,
}

impl Correlator {
    /// A line of a replica. Call [`Correlator::due`] behind it: it may be what messages wait for.
    pub fn line(&mut self, replica: &str, incarnation: u32, at_us: u64, kind: &Kind) {
        let heard_us = self.heard_us.entry((replica.to_owned(), incarnation)).or_default();
        *heard_us = at_us.max(*heard_us);
        let key = |endpoint, session: &str| SessionKey {
            replica: replica.to_owned(),
            incarnation,
            endpoint,
            session: session.to_owned(),
        };
        match kind {
            Kind::Sent { attempt, command, .. } => {
                let label =
                    Label { command: Some(command.command), name: command.name.clone(), attempt: attempt.clone() };
                self.announce(key(command.to, &command.session), at_us, label);
            }
            Kind::EffectSent { attempt, slot, sink, within, .. } => {
                let endpoint = match sink {
                    SinkName::Bank => Endpoint::Bank,
                    SinkName::Ledger => Endpoint::Postgres,
                };
                let label = Label { command: None, name: "effect".to_owned(), attempt: Some(attempt.clone()) };
                let session = within.clone().unwrap_or_else(|| format!("{}/{sink}", slot.schedule));
                self.announce(key(endpoint, &session), at_us, label);
            }
            Kind::Answered { attempt, command, reply: Reply::NotSent, .. } => {
                for (key, announced) in &mut self.announced {
                    if key.replica == replica && key.incarnation == incarnation {
                        announced.retain(|a| a.label.command != Some(*command) || a.label.attempt != *attempt);
                    }
                }
            }
            _ => {}
        }
    }

    /// A link's word. Call [`Correlator::due`] behind it.
    pub fn passed(&mut self, now_us: u64, passage: Passage) {
        let connection = (passage.replica.clone(), passage.endpoint, passage.connection);
        self.connections.entry(connection).or_default().waiting.push_back((now_us, passage));
    }

    /// A process is gone, and every message of its that will come has come.
    pub fn gone(&mut self, replica: &str, incarnation: u32) {
        self.announced.retain(|key, _| key.replica != replica || key.incarnation != incarnation);
        self.heard_us.insert((replica.to_owned(), incarnation), u64::MAX);
        self.connections.retain(|(of, ..), connection| of != replica || !connection.waiting.is_empty());
    }

    /// Messages that need not wait any longer, those of one connection in their order.
    pub fn due(&mut self, now_us: u64) -> Vec<Labelled> {
        let mut due = Vec::new();
        for connection in self.connections.values_mut() {
            while let Some((came_us, passage)) = connection.waiting.front() {
                let label = match passage.direction {
                    Direction::Reply => {
                        connection.answered = true;
                        connection.latest.clone()
                    }
                    Direction::Request => {
                        // More of a request whose reply has not begun.
                        let more = connection.latest.clone().filter(|_| !connection.answered);
                        let label = more.or_else(|| take_announced(&mut self.announced, passage));
                        let may_come = passage.session.as_ref().is_none_or(|key| {
                            let heard_us = self.heard_us.get(&(key.replica.clone(), key.incarnation));
                            is_announced(&key.session) && heard_us.is_none_or(|heard_us| *heard_us <= passage.read_us())
                        });
                        if label.is_none() && may_come && now_us < came_us.saturating_add(PATIENCE_US) {
                            break;
                        }
                        connection.answered = false;
                        connection.latest.clone_from(&label);
                        label
                    }
                };
                if let Some((_, passage)) = connection.waiting.pop_front() {
                    due.push((passage, label));
                }
            }
        }
        due
    }

    /// Does any message wait?
    pub fn is_waiting(&self) -> bool {
        self.connections.values().any(|connection| !connection.waiting.is_empty())
    }

    fn announce(&mut self, key: SessionKey, at_us: u64, label: Label) {
        let announced = self.announced.entry(key).or_default();
        announced.push(Announced { at_us, label });
    }
}

/// Are the requests of a session announced? Those of a strategy (`settle-invoices/lock`) and effects
/// (`settle-invoices/bank`) are; the replica's own housekeeping (`audit`) is not.
fn is_announced(session: &str) -> bool {
    session.contains('/')
}

/// The latest announcement of before the link read the message. One command at a time is under way on a
/// session, so that older ones that are still here never came through and never will.
fn take_announced(announced: &mut HashMap<SessionKey, Vec<Announced>>, passage: &Passage) -> Option<Label> {
    let read_us = passage.read_us();
    let of_session = announced.get_mut(passage.session.as_ref()?)?;
    let place = of_session.iter().rposition(|announced| announced.at_us <= read_us)?;
    of_session.drain(..=place).next_back().map(|announced| announced.label)
}

#[cfg(test)]
mod tests {
    use locks::event::StoreCommand;

    use super::*;

    fn key() -> SessionKey {
        SessionKey {
            replica: "A".to_owned(),
            incarnation: 1,
            endpoint: Endpoint::Postgres,
            session: "settle-invoices/lock".to_owned(),
        }
    }

    fn passage(at_us: u64, direction: Direction) -> Passage {
        Passage {
            at_us,
            kept_us: 0,
            replica: "A".to_owned(),
            endpoint: Endpoint::Postgres,
            connection: 1,
            session: Some(key()),
            direction,
        }
    }

    fn sent(n: u32) -> Kind {
        Kind::Sent {
            attempt: None,
            lock: "settle-invoices".to_owned(),
            command: StoreCommand {
                command: CommandId(n),
                name: "acquire".to_owned(),
                to: Endpoint::Postgres,
                session: key().session,
                text: String::new(),
                params: Vec::new(),
                timeout_ms: 200,
            },
        }
    }

    fn commands(due: &[Labelled]) -> Vec<Option<u32>> {
        due.iter().map(|(_, label)| label.as_ref().and_then(|l| l.command).map(|command| command.0)).collect()
    }

    #[test]
    fn request_and_reply_carry_the_command_that_was_announced() {
        let mut correlator = Correlator::default();
        for n in 1..=2 {
            let at_us = u64::from(n) * 1000;
            correlator.line("A", 1, at_us, &sent(n));
            correlator.passed(at_us + 10, passage(at_us + 10, Direction::Request));
            correlator.passed(at_us + 20, passage(at_us + 20, Direction::Reply));
            assert_eq!(commands(&correlator.due(at_us + 20)), [Some(n), Some(n)]);
        }
    }

    #[test]
    fn a_late_announcement_is_waited_for() {
        let mut correlator = Correlator::default();
        correlator.passed(110, passage(110, Direction::Request));
        correlator.passed(120, passage(120, Direction::Reply));
        assert!(correlator.due(120).is_empty());
        assert!(correlator.is_waiting());
        correlator.line("A", 1, 100, &sent(1));
        assert_eq!(commands(&correlator.due(130)), [Some(1), Some(1)]);
    }

    #[test]
    fn patience_ends() {
        let mut correlator = Correlator::default();
        correlator.passed(110, passage(110, Direction::Request));
        correlator.passed(120, passage(120, Direction::Reply));
        assert!(correlator.due(110 + PATIENCE_US - 1).is_empty());
        assert_eq!(commands(&correlator.due(110 + PATIENCE_US)), [None, None]);
    }

    #[test]
    fn what_was_sent_later_is_not_it() {
        let mut correlator = Correlator::default();
        correlator.passed(110, passage(110, Direction::Request));
        correlator.line("A", 1, 115, &sent(1));
        assert_eq!(commands(&correlator.due(120)), [None], "the link passed it on before that was sent");
    }

    #[test]
    fn a_later_line_ends_the_waiting() {
        let mut correlator = Correlator::default();
        correlator.passed(110, passage(110, Direction::Request));
        correlator.line("A", 1, 105, &Kind::Ready);
        assert!(correlator.due(120).is_empty(), "the announcement may be the next line");
        correlator.line("A", 1, 130, &Kind::Ready);
        assert_eq!(commands(&correlator.due(130)), [None]);
    }

    #[test]
    fn a_command_that_never_came_through_is_not_taken_for_the_next() {
        let mut correlator = Correlator::default();
        correlator.line("A", 1, 100, &sent(1));
        correlator.line("A", 1, 200, &sent(2));
        let second = Passage { connection: 2, ..passage(210, Direction::Request) };
        correlator.passed(210, second);
        assert_eq!(commands(&correlator.due(210)), [Some(2)]);
    }

    #[test]
    fn a_kept_message_belongs_to_what_was_sent_before_it_was_read() {
        let mut correlator = Correlator::default();
        correlator.line("A", 1, 100, &sent(1));
        correlator.line("A", 1, 5000, &sent(2));
        correlator.passed(9000, Passage { kept_us: 8890, ..passage(9000, Direction::Request) });
        assert_eq!(commands(&correlator.due(9000)), [Some(1)]);
    }

    #[test]
    fn housekeeping_does_not_wait() {
        let mut correlator = Correlator::default();
        let audit = Some(SessionKey { session: "audit".to_owned(), ..key() });
        correlator.passed(10, Passage { session: audit, ..passage(10, Direction::Request) });
        assert_eq!(commands(&correlator.due(10)), [None]);
    }
}
