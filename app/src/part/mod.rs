//! Components, one a file. They show what [`crate::stage::view`] computed and say what was clicked; what
//! a click does stands in [`play`].

pub(crate) mod announce;
pub(crate) mod caption;
pub(crate) mod card;
mod drawn;
pub(crate) mod icons;
pub(crate) mod inspector;
pub(crate) mod keys;
pub(crate) mod lock;
mod map;
pub(crate) mod menu;
pub(crate) mod notice;
pub(crate) mod play;
pub(crate) mod rows;
pub(crate) mod run_bar;
pub(crate) mod steps;
pub(crate) mod theatre;
pub(crate) mod timeline;
pub(crate) mod transport;
pub(crate) mod turns;
