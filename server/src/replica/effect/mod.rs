//! Sends effects to the sink, each once and verbatim as it was said. It checks nothing: whether an effect
//! may still be sent was decided before its gate, whether it is taken is the sink's affair.

mod ledger;

use std::rc::Rc;
use std::time::Duration;

use locks::event::EffectAnswer;
use locks::guard::Guard;
use locks::ids::{AttemptId, Endpoint, LockName, SinkName, Slot, Token};
use locks::setup::Setup;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::me::Me;
use super::process::Error;
use super::session::bank::Bank;
use super::session::postgres::{Call, Postgres, Settings};
use super::session::{self, Session};
use crate::bank::wire::{SETTLEMENTS, Settlement};
pub(super) use ledger::LEDGER;

/// Name of the session on the sink, behind the schedule's.
const BANK_SESSION: &str = "bank";
const LEDGER_SESSION: &str = "ledger";

/// What is to be settled, by whom, under which grant.
pub(super) struct Effect {
    pub(super) attempt: AttemptId,
    pub(super) lock: LockName,
    pub(super) slot: Slot,
    pub(super) epoch: Option<u64>,
    pub(super) token: Option<Token>,
}

/// Where one schedule's effects go.
pub(super) struct Sink {
    to: To,
    timeout: Duration,
}

enum To {
    Bank(Session<Bank>),
    Ledger(Session<Postgres>, Vec<Guard>),
}

/// An effect, ready to be sent.
pub(super) enum Request {
    /// JSON for the bank.
    Bank(String),
    /// A statement for the ledger.
    Ledger(Call),
}

impl Request {
    /// The request verbatim, for the log.
    pub(super) fn text(&self) -> String {
        match self {
            Request::Bank(body) => format!("POST {SETTLEMENTS}\n{body}"),
            Request::Ledger(call) => ledger::text(call),
        }
    }
}

impl Sink {
    /// Open the session on the set-up's sink. The receiver hears when it is open for the first time.
    pub(super) fn open(
        me: &Rc<Me>,
        schedule: &str,
        setup: &Setup,
        settings: &Settings,
    ) -> Result<(Sink, oneshot::Receiver<()>), Error> {
        let limit = Duration::from_millis(setup.store_timeout_ms);
        let spec = |endpoint, name: &str| session::Spec {
            endpoint,
            name: name.to_owned(),
            limit,
            settings: Default::default(),
            lost: Box::new(|| {}),
        };
        let (to, opened) = match setup.sink {
            SinkName::Bank => {
                let name = format!("{schedule}/{BANK_SESSION}");
                let bank = Bank::new(me, &name).ok_or(Error::NoLink(Endpoint::Bank))?;
                let (session, opened) = Session::begin(me.clone(), bank, spec(Endpoint::Bank, &name));
                (To::Bank(session), opened)
            }
            SinkName::Ledger => {
                let name = format!("{schedule}/{LEDGER_SESSION}");
                let client =
                    Postgres::new(me, &name, settings, vec![LEDGER]).ok_or(Error::NoLink(Endpoint::Postgres))?;
                let (session, opened) = Session::begin(me.clone(), client, spec(Endpoint::Postgres, &name));
                (To::Ledger(session, setup.guard.clone()), opened)
            }
        };
        // Far longer than a command's: whether an effect was taken is worth waiting for.
        Ok((Sink { to, timeout: (limit * 10).max(Duration::from_secs(5)) }, opened))
    }

    /// What is to be sent for an effect.
    pub(super) fn request(&self, effect: Effect) -> Request {
        match &self.to {
            To::Bank(_) => {
                let Effect { attempt, lock, slot, epoch, token } = effect;
                let settlement = Settlement { attempt, lock, slot, epoch, token };
                // Names and numbers only: nothing that JSON could not say.
                Request::Bank(serde_json::to_string(&settlement).unwrap_or_default())
            }
            To::Ledger(_, guards) => Request::Ledger(ledger::call(&effect, guards)),
        }
    }

    /// Send it, within the transaction open on `within` where there is one.
    pub(super) fn send(
        &self,
        request: Request,
        within: Option<&Session<Postgres>>,
        answered: impl FnOnce(EffectAnswer) + 'static,
    ) {
        let deadline = Instant::now() + self.timeout;
        match (request, &self.to) {
            (Request::Bank(body), To::Bank(bank)) => {
                let session = bank.clone();
                bank.call(body, deadline, move |answer| {
                    // What is late on this connection must not be taken for the next effect's answer.
                    if answer == EffectAnswer::Unknown {
                        session.discard();
                    }
                    answered(answer);
                });
            }
            (Request::Ledger(call), To::Ledger(own, _)) => {
                let answered = move |reply| answered(ledger::answer(reply));
                match within {
                    Some(transaction) => transaction.call_within(call, deadline, answered),
                    None => own.call(call, deadline, answered),
                }
            }
            (_, _) => answered(EffectAnswer::Unknown),
        }
    }
}
