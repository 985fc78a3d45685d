//! What is claimed of every lock, by name.

use locks::guard::Guard;
use locks::strategy::Strategy;

use crate::lab::Lab;
use crate::world::World;

/// Names of claims and what they say; each can be a [`crate::lab::Claim`].
macro_rules! claims {
    ($($name:ident $says:literal |$world:ident| $holds:expr;)*) => {$(
        pub fn $name<S: Strategy>() -> crate::lab::Claim<S> {
            fn holds<S: Strategy>(_: &Lab<S>, $world: &World<S>) -> bool {
                $holds
            }
            ($says, holds)
        }
    )*};
}

claims! {
    grants "grants never overlap" |world| !world.seen.grants_overlapped;
    wide_grants "a grant of more than a bare quorum is never overlapped" |world| !world.seen.wide_grants_overlapped;
    own "nobody's lock is released or renewed by another" |world| !world.seen.foreign;
    enters "who enters, holds" |world| !world.seen.entered_without;
    sections "sections never overlap" |world| !world.seen.sections_overlapped;
    fresh "no stale effect is accepted" |world| world.sink(None).stale == 0;
    fresh_or_alone "no stale effect is accepted while another is inside"
        |world| world.sink(None).stale == 0 || !world.seen.sections_overlapped;
    fresh_under_max_seen "under max-seen no stale effect is accepted" |world| world.sink(Some(Guard::MaxSeen)).stale == 0;
    fresh_under_current_epoch "under current-epoch no stale effect is accepted"
        |world| world.sink(Some(Guard::CurrentEpoch)).stale == 0;
    one "without a guard a slot has one effect at most" |world| world.sink(None).effects < 2;
    one_under_current_epoch "under current-epoch a slot has one effect at most"
        |world| world.sink(Some(Guard::CurrentEpoch)).effects < 2;
    one_under_unique_slot "under unique-slot a slot has one effect at most"
        |world| world.sink(Some(Guard::UniqueSlot)).effects < 2;
    none_without_epochs "without epochs current-epoch lets nothing pass"
        |world| world.sink(Some(Guard::CurrentEpoch)).effects == 0;
}
