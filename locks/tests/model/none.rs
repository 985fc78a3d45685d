//! `none` collides: that is what it is for.

use locks::setup::Setup;
use locks::strategy::Strategy;
use locks::strategy::none::NoLock;

use crate::claims::{none_without_epochs, one, one_under_unique_slot, sections};
use crate::lab::{Bounds, Lab};
use crate::story::check;

#[test]
fn none_collides_though_nobody_is_paused_and_only_unique_slot_helps() {
    let setup = Setup::default();
    let strategy = NoLock::new(&setup, None, "A");
    let strategies = [strategy.clone(), strategy];
    let claims = vec![one_under_unique_slot(), none_without_epochs()];
    let lab = Lab { strategies, setup, bounds: Bounds { horizon: 1, ..Bounds::prompt() }, claims };
    check("none", lab, &[sections, one]);
}
