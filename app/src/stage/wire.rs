//! Commands and effects, verbatim, joined with their answers: what the inspector's Wire shows.

use borsh::{BorshDeserialize, BorshSerialize};
use std::collections::VecDeque;

use locks::action::Direction;
use locks::event::{EffectAnswer, Event, Kind, Param, Reply, Source};
use locks::ids::{AttemptId, CommandId, Endpoint, SinkName};
use locks::machine::TaskState;

/// Most rows that are kept.
const MOST: usize = 80;
/// So many events behind a message its answer is looked for.
const FAR: usize = 4000;

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum Result_ {
    /// A store's answer.
    Store(Reply),
    /// A sink's answer.
    Sink(EffectAnswer),
}

/// One command or effect.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct WireRow {
    /// The event that sent it.
    pub seq: u64,
    /// When.
    pub at_us: u64,
    /// The replica that sent it.
    pub replica: String,
    /// Which process of that name.
    pub incarnation: u32,
    /// For which attempt.
    pub attempt: Option<AttemptId>,
    /// The lock, or for an effect the schedule, that it is about.
    pub about: String,
    /// Its number; `None` for an effect.
    pub command: Option<CommandId>,
    /// Its name.
    pub name: String,
    /// Where it went.
    pub to: Endpoint,
    /// Verbatim.
    pub text: String,
    /// Parameters.
    pub params: Vec<Param>,
    /// What came back, and after how long; `None`: nothing yet.
    pub answer: Option<(Result_, u64)>,
    /// How long its link has kept it or its answer.
    pub kept_us: u64,
    /// When its link passed it on.
    pub passed_us: Option<u64>,
    /// Where the strategy's machine stood when it sent this.
    pub machine: String,
    /// Where the task stood, if it moved: before and after.
    pub task: Option<(TaskState, TaskState)>,
}

/// The latest commands and effects.
#[derive(Clone, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Wire {
    /// In order of sending.
    pub rows: VecDeque<WireRow>,
    /// How many were sent in all.
    pub total: u32,
    /// How many are unanswered.
    pub unanswered: u32,
}

impl Wire {
    fn push(&mut self, row: WireRow) {
        if self.rows.len() >= MOST {
            self.rows.pop_front();
        }
        self.rows.push_back(row);
        self.total += 1;
        self.unanswered += 1;
    }

    fn answer(&mut self, found: impl Fn(&WireRow) -> bool, what: Result_, took_us: u64) {
        self.unanswered = self.unanswered.saturating_sub(1);
        if let Some(row) = self.rows.iter_mut().rev().find(|row| row.answer.is_none() && found(row)) {
            row.answer = Some((what, took_us));
        }
    }

    /// What a replica says; `machine` is where its strategy's machine stands, where it sends something.
    pub(super) fn replica(&mut self, event: &Event, name: &str, incarnation: u32, machine: Option<String>) {
        let machine = machine.unwrap_or_default();
        let row = |about: &str, attempt: Option<&AttemptId>| WireRow {
            seq: event.seq,
            at_us: event.at_us,
            replica: name.to_owned(),
            incarnation,
            attempt: attempt.cloned(),
            about: about.to_owned(),
            command: None,
            name: String::new(),
            to: Endpoint::Bank,
            text: String::new(),
            params: Vec::new(),
            answer: None,
            kept_us: 0,
            passed_us: None,
            machine: machine.clone(),
            task: None,
        };
        match &event.kind {
            Kind::Sent { attempt, lock, command } => self.push(WireRow {
                command: Some(command.command),
                name: command.name.clone(),
                to: command.to,
                text: command.text.clone(),
                params: command.params.clone(),
                ..row(lock, attempt.as_ref())
            }),
            Kind::Answered { lock, command, reply, took_us, .. } => {
                let found = |row: &WireRow| {
                    row.command == Some(*command)
                        && row.replica == name
                        && row.incarnation == incarnation
                        && row.about == *lock
                };
                self.answer(found, Result_::Store(reply.clone()), *took_us);
            }
            Kind::EffectSent { attempt, slot, sink, text, .. } => {
                let to = if *sink == SinkName::Bank { Endpoint::Bank } else { Endpoint::Postgres };
                self.push(WireRow {
                    to,
                    name: "effect".to_owned(),
                    text: text.clone(),
                    ..row(&slot.schedule, Some(attempt))
                });
            }
            Kind::EffectAnswered { attempt, answer, took_us } => {
                let found = |row: &WireRow| row.command.is_none() && row.attempt.as_ref() == Some(attempt);
                self.answer(found, Result_::Sink(answer.clone()), *took_us);
            }
            Kind::Task { attempt, from, to } => {
                let mine = |row: &&mut WireRow| row.attempt.as_ref() == Some(attempt);
                if let Some(row) = self.rows.iter_mut().rev().find(mine) {
                    row.task = Some((row.task.map_or(*from, |(first, _)| first), *to));
                }
            }
            _ => {}
        }
    }

    pub(super) fn link(&mut self, event: &Event) {
        let Kind::LinkPassed { command, attempt: Some(attempt), name: Some(_), direction, kept_us, .. } = &event.kind
        else {
            return;
        };
        let found = |row: &&mut WireRow| row.command == *command && row.attempt.as_ref() == Some(attempt);
        if let Some(row) = self.rows.iter_mut().rev().find(found) {
            row.kept_us = row.kept_us.saturating_add(*kept_us);
            if *direction == Direction::Request {
                row.passed_us = row.passed_us.or(Some(event.at_us));
            }
        }
    }

    /// What the first of these events sends, with what becomes of it in the others.
    pub fn message(events: &[Event]) -> Option<WireRow> {
        let mut wire = Wire::default();
        for event in events.iter().take(FAR) {
            match &event.source {
                Source::Replica { name, incarnation } => wire.replica(event, name, *incarnation, None),
                Source::Link { .. } => wire.link(event),
                _ => {}
            }
            // The first event sends nothing, or what it sent is answered.
            if wire.rows.front().is_none_or(|row| row.answer.is_some()) {
                break;
            }
        }
        wire.rows.pop_front().filter(|row| Some(row.seq) == events.first().map(|event| event.seq))
    }
}
