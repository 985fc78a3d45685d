//! bundle
fn main() {}
