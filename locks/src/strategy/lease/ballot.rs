//! One call to every store at once, and what is known of the answers: with one store an ordinary call, with
//! five a vote. It only counts; what a count means is the machine's affair.

use crate::ids::{At, CommandId};

/// See the module. A store is named by its place in the strategy's list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Ballot<T> {
    open: Vec<(CommandId, usize)>,
    answers: Vec<(usize, T)>,
    /// When the first call of which an answer came was sent.
    sent: Option<At>,
}

impl<T: Copy + PartialEq> Ballot<T> {
    pub fn new(open: Vec<(CommandId, usize)>) -> Self {
        Ballot { open, answers: Vec::new(), sent: None }
    }

    /// The store that this command asked, if it is one of these and has no answer yet.
    pub fn asked(&self, command: CommandId) -> Option<usize> {
        self.open.iter().find(|open| open.0 == command).map(|open| open.1)
    }

    /// That command was answered.
    pub fn answer(&mut self, command: CommandId, sent: At, answer: T) {
        if let Some(place) = self.open.iter().position(|open| open.0 == command) {
            let (_, store) = self.open.remove(place);
            self.answers.push((store, answer));
            self.sent = Some(self.sent.map_or(sent, |first| first.min(sent)));
        }
    }

    /// When the calls were sent, once all are answered.
    pub fn done(&self) -> Option<At> {
        self.sent.filter(|_| self.open.is_empty())
    }

    /// The stores that answered so, in the strategy's order.
    pub fn stores(&self, so: impl Fn(T) -> bool) -> Vec<usize> {
        let mut stores: Vec<usize> = self.answers.iter().filter(|(_, answer)| so(*answer)).map(|(at, _)| *at).collect();
        stores.sort_unstable();
        stores
    }

    /// How many answered so.
    pub fn count(&self, so: impl Fn(T) -> bool) -> usize {
        self.answers.iter().filter(|(_, answer)| so(*answer)).count()
    }

    /// What the first of these answers is turned into.
    pub fn find<U>(&self, what: impl Fn(T) -> Option<U>) -> Option<U> {
        self.answers.iter().find_map(|(_, answer)| what(*answer))
    }
}
