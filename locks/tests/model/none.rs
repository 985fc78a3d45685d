//! `none` collides: that is what it is for.

use locks::guard::Guard;
use locks::setup::Setup;
use locks::strategy::Strategy;
use locks::strategy::none::NoLock;

use crate::lab::{Claim, Lab};
use crate::story::check;

#[test]
fn none_collides_though_nobody_is_paused_and_only_unique_slot_helps() {
    let claims: Vec<Claim<NoLock>> = vec![
        ("sections never overlap", |_, world| world.inside() < 2),
        ("without a guard a slot has one effect at most", |_, world| world.sink(None).effects < 2),
        ("under unique-slot a slot has one effect at most", |_, world| world.sink(Some(Guard::UniqueSlot)).effects < 2),
        ("without epochs current-epoch lets nothing pass", |_, world| {
            world.sink(Some(Guard::CurrentEpoch)).effects == 0
        }),
    ];
    let setup = Setup::default();
    let strategy = NoLock::new(&setup, None, "A");
    let strategies = [strategy.clone(), strategy];
    let lab = Lab { strategies, setup, horizon: 1, prompt: true, deaths: 1, claims };
    check("none", lab, &["sections never overlap", "without a guard a slot has one effect at most"]);
}
