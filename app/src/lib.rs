//! The pages of Aegis: Leptos components, and the pure functions that turn an event log into a picture.
//! Nothing here knows the server: pages get their data from a [`data::Loader`] in the context, and the
//! browser speaks to the paths that [`client`] names.
//!
//! | module | what it holds |
//! |---|---|
//! | [`data`] | what a page is given, and by whom |
//! | [`stage`] | the fold of an event log into what the stage shows; pure, tested without a browser |
//! | `part` | components, one a file |
//! | `page` | the pages, put together from parts |
//! | [`client`] | the browser's side of streams and commands |

mod app;
pub mod client;
pub mod data;
mod page;
mod part;
pub mod stage;

pub use app::App;
#[cfg(feature = "ssr")]
pub use app::shell;
