//! Components, one a file.

pub mod frame;
pub mod icons;
pub mod problem;
pub mod theatre;
