//! The lab over HTTP, with its real stores behind it: who may ask, what is answered, and that nothing
//! hangs or stays behind.

#[path = "../common/mod.rs"]
mod common;

mod back;
mod end;
mod homework;
mod lesson;
mod live;
mod matrix;
mod origin;
mod pages;
mod slow;
