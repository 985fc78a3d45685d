//! `pg-claim`: optimistic claim of a slot. Whoever has the slot looks at its row, and claims it by a
//! compare-and-set on the row's version; nobody waits for anybody. A heartbeat keeps a claim alive, a dead
//! one is rescued by whoever finds it dead twice, a heartbeat's time apart: after an outage of the store
//! everybody's heartbeats are old, and those who still run beat first.
//!
//! Before the effect the slot's key is written (state `sending`). A claim that died after that is never run
//! again, because nobody knows whether its effect is out: it ends as `doubtful`. The version is raised by each
//! claim and each rescue, so it is the epoch too, and every later statement of a claim compares it.

use super::{Commands, Epochs, Info, LockAt, LockScope, Mutant};
use crate::ids::Endpoint;

#[cfg(feature = "strategies")]
mod ask;
#[cfg(feature = "strategies")]
mod ending;
#[cfg(feature = "strategies")]
mod inside;
#[cfg(feature = "strategies")]
mod machine;
#[cfg(feature = "strategies")]
pub use ask::{Ask, Check, Claimer, Ended, Row, State, Store, Verb};
#[cfg(feature = "strategies")]
pub use machine::PgClaim;

/// The strategy's name.
pub(super) const NAME: &str = "pg-claim";

/// Makes the row if there is none. What another has made at this very moment is not seen: then there is no row.
const LOOK: &str = "\
with added as (
  insert into slot_claims (slot) values ($1::text)
  on conflict (slot) do nothing
  returning *
)
select state, version, picked_by,
       heartbeat_at + lease_ms * interval '1 millisecond' <= clock_timestamp() as dead
  from (select * from added union all select * from slot_claims) as claim
 where slot = $1::text";

/// What the claim is, and where guards read it.
macro_rules! claim {
    (token: $token:literal, owner: $owner:literal, lease: $lease:literal, only: $only:literal) => {
        concat!(
            "with claimed as (\n",
            "  update slot_claims\n",
            "     set state = 'claimed',\n",
            "         version = version + 1,\n",
            "         picked_by = ",
            $token,
            "::text,\n",
            "         owner = ",
            $owner,
            "::text,\n",
            "         heartbeat_at = clock_timestamp(),\n",
            "         lease_ms = ",
            $lease,
            "::bigint\n",
            "   where slot = $1::text\n",
            $only,
            "  returning slot, version\n",
            ")\n",
            "insert into lock_epochs as published (name, epoch)\n",
            "select slot, version from claimed\n",
            "on conflict (name) do update\n",
            "   set epoch = excluded.epoch\n",
            "returning epoch"
        )
    };
}

const CLAIM: &str =
    claim!(token: "$2", owner: "$3", lease: "$4", only: "     and version = $5::bigint\n     and state = 'due'\n");
const CLAIM_BY_ID: &str = claim!(token: "$2", owner: "$3", lease: "$4", only: "");

/// Only a claim that is dead by the database's clock at this moment. One whose key is written is not claimed
/// again: it ends.
const RESCUE: &str = "\
with rescued as (
  update slot_claims
     set state = case state when 'claimed' then 'claimed' else 'doubtful' end,
         ended = case state when 'claimed' then ended else ended || 'doubtful'::text end,
         version = version + 1,
         picked_by = $2::text,
         owner = $3::text,
         heartbeat_at = clock_timestamp(),
         lease_ms = $4::bigint
   where slot = $1::text
     and version = $5::bigint
     and state in ('claimed', 'sending')
     and heartbeat_at + lease_ms * interval '1 millisecond' <= clock_timestamp()
  returning slot, version, state
), published as (
  insert into lock_epochs as published (name, epoch)
  select slot, version from rescued
  on conflict (name) do update
     set epoch = excluded.epoch
)
select version, state from rescued";

/// The heartbeat. A late one revives a claim, as long as nobody has rescued it.
const RENEW: &str = "\
update slot_claims
   set heartbeat_at = clock_timestamp()
 where slot = $1::text
   and version = $2::bigint
   and state in ('claimed', 'sending')";

const KEY: &str = "\
update slot_claims
   set state = 'sending'
 where slot = $1::text
   and version = $2::bigint
   and state = 'claimed'";

/// One final state at most: of two who end a slot, the version lets one.
macro_rules! complete {
    ($only:literal) => {
        concat!(
            "update slot_claims\n",
            "   set state = $2::text,\n",
            "       ended = ended || $2::text\n",
            " where slot = $1::text",
            $only
        )
    };
}

const COMPLETE: &str = complete!("\n   and version = $3::bigint\n   and state = 'sending'");
const COMPLETE_WITHOUT_KEY: &str = complete!("\n   and version = $3::bigint\n   and state = 'claimed'");
const COMPLETE_ANY: &str = complete!("");

const RELEASE: &str = "\
update slot_claims
   set state = 'due',
       picked_by = null,
       owner = null,
       heartbeat_at = null
 where slot = $1::text
   and version = $2::bigint
   and state in ('claimed', 'sending')";

const CLAIMS_BY_ID: &str = "claims-by-id";
const RESCUES_LIVE: &str = "rescues-live";
const UNCHECKED_COMPLETE: &str = "unchecked-complete";
const EFFECT_BEFORE_KEY: &str = "effect-before-key";

/// See [`Info`].
pub(super) const INFO: Info = Info {
    name: NAME,
    text: "One row a slot, claimed by a compare-and-set on its version; a heartbeat keeps the claim, a dead one is \
           rescued under a higher epoch.",
    mutants: &[
        Mutant {
            name: CLAIMS_BY_ID,
            text: "The claim asks neither for the version nor for the old state: of two who saw the slot due, both win.",
            broken: true,
            commands: super::of_machine(&[("acquire", CLAIM_BY_ID)]),
        },
        Mutant {
            name: RESCUES_LIVE,
            text: "A claim is rescued the first time its heartbeat is found old: after an outage of the store, jobs that \
                   still run are run again.",
            broken: true,
            commands: &[],
        },
        Mutant {
            name: UNCHECKED_COMPLETE,
            text: "Completing does not ask whose the claim is: a slot that was given up as dead is completed all the same, \
                   and ends twice.",
            broken: true,
            commands: super::of_machine(&[("complete", COMPLETE_ANY)]),
        },
        Mutant {
            name: EFFECT_BEFORE_KEY,
            text: "Nothing is written before the effect is sent: who dies behind it leaves a claim that looks as if \
                   nothing had been done.",
            broken: true,
            commands: super::of_machine(&[("complete", COMPLETE_WITHOUT_KEY)]),
        },
    ],
    scope: LockScope::Slot,
    has_lease: true,
    epochs: Epochs::Granted,
    lock_at: LockAt::SlotRow,
    uses: &[Endpoint::Postgres],
    transitions: super::of_machine(&[
        ("idle", "slot due", "looking"),
        ("looking", "due, or dead for the second time", "acquiring"),
        ("looking", "claimed, dead for the first time, or no answer", "waiting"),
        ("looking", "claimed, done, in doubt, or cancelled", "idle"),
        ("waiting", "time to look again", "looking"),
        ("waiting", "cancelled", "idle"),
        ("acquiring", "claimed in time", "entering"),
        ("acquiring", "another was faster: look again later", "waiting"),
        ("acquiring", "no answer", "looking it up"),
        ("acquiring", "claimed too late, or cancelled", "releasing"),
        ("acquiring", "another was faster, refused, in doubt, or not sent", "idle"),
        ("looking it up", "the claim is ours, in time", "entering"),
        ("looking it up", "ours, but too late or cancelled", "releasing"),
        ("looking it up", "not ours, or no answer either", "idle"),
        ("entering", "entered", "working"),
        ("entering", "entered, though cancelled", "stopping"),
        ("entering", "grant over, or cancelled", "releasing"),
        ("working", "work done", "keying"),
        ("working", "work done, and no key is written (mutant)", "effecting"),
        ("working", "grant over, or cancelled", "stopping"),
        ("working", "handler failed", "leaving"),
        ("stopping", "handler stopped", "leaving"),
        ("keying", "key written", "effecting"),
        ("keying", "not ours, grant over, or cancelled", "leaving"),
        ("effecting", "effect sent", "effect sent"),
        ("effecting", "grant over, or cancelled", "leaving"),
        ("effect sent", "answered, grant over, or cancelled", "leaving"),
        ("leaving", "left, and the effect is answered", "completing"),
        ("leaving", "left, but the effect is unanswered", "settling"),
        ("leaving", "left without an effect", "releasing"),
        ("settling", "effect answered", "completing"),
        ("settling", "effect rejected", "releasing"),
        ("completing", "completed, ended by another, or no answer in time", "idle"),
        ("releasing", "released, rescued by another, or lease over", "idle"),
    ]),
    commands: super::of_machine(COMMANDS),
};

const COMMANDS: Commands = &[
    ("look", LOOK),
    ("acquire", CLAIM),
    ("rescue", RESCUE),
    ("renew", RENEW),
    ("key", KEY),
    ("complete", COMPLETE),
    ("release", RELEASE),
];
