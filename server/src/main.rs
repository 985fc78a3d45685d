//! aegis
fn main() {}
