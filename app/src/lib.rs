//! The pages of Aegis, and the pure functions that turn an event log into a picture. Nothing here knows
//! the server: whoever serves loads what a page shows and calls [`document`]; the browser speaks to the
//! paths that [`client`] names.
//!
//! | module | what it holds |
//! |---|---|
//! | [`data`] | what a page is given |
//! | [`stage`] | the fold of an event log into what the stage shows; pure, tested without a browser |
//! | [`matrix`] | the matrix page and the race, as text |
//! | `homework` | the homework: its text and its pages; on the server only |
//! | `lesson` | the guided lesson: its text and its pages; on the server only |
//! | [`machine`] | a strategy's state machine as a picture, lit by the log; on the server only |
//! | [`steps`] | what each replica is about to do, in a run that is stepped through; on the server only |
//! | [`html`] | markup written by pure functions, for server and browser alike |
//! | `document`, `page` | the documents; on the server only |
//! | `part` | components, one a file: what the browser brings to life |
//! | [`client`] | the browser's side of streams and commands |
//!
//! # What the browser loads
//! The program must stay under 300 kB as it is sent (`scripts/bench` measures it), however many pages there
//! are. So only what moves is in it:
//! - A page is text from the server (`page`, compiled for the server only). Links are plain links. What a
//!   plain page needs of the keyboard is in `frame.js`; it loads no program.
//! - A page with a stage has one root, `#stage`, with the data that it was rendered from beside it
//!   ([`data::embed`]). [`hydrate`] brings that root to life and nothing else. Another root is another
//!   element, looked for there; a large one deserves a crate like `frontend` of its own, loaded by its page.
//! - Within a root, controls are Leptos components; whatever only shows something (tables, pictures, cards'
//!   lines) is a function to a string by [`html::Html`], put in place by `inner_html`. A view of Leptos costs
//!   three to ten times its text in code, a string costs its text.
//! - Generic code is compiled for each type that it meets. What is folded here stands in `locks::sorted::Map`, and
//!   what is sorted by numbers is sorted by `locks::sorted::by_numbers`: maps and sorts of `std` cost kilobytes each.
//! - What the server tells the browser comes packed (`locks::packed`), so that no JSON deserialiser of
//!   every type has to be loaded.

pub mod client;
pub mod data;
#[cfg(feature = "ssr")]
mod document;
#[cfg(feature = "ssr")]
pub mod homework;
pub mod html;
#[cfg(feature = "ssr")]
pub mod lesson;
pub mod machine;
pub mod matrix;
#[cfg(feature = "ssr")]
mod page;
mod part;
pub mod stage;
pub mod steps;

#[cfg(feature = "ssr")]
pub use document::{Page, document};
#[cfg(feature = "hydrate")]
pub use part::theatre::hydrate;
