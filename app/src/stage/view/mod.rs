//! What is drawn, computed from a stage and a moment: values, words and pictures, no components. A
//! picture is the content of an `svg` element as text: pure, easy to test, and cheap to hydrate.
//!
//! | module | what it computes |
//! |---|---|
//! | [`caption`] | what is true now, in one sentence, and the judge's figures |
//! | [`card`] | a replica: its process, its task's machine, the three witnesses and their joints |
//! | [`deed`] | what was done to a run of which another moment is shown |
//! | [`ladder`] | what each guard would do with an effect that comes late or again |
//! | [`lock_card`] | the lock: holder, epoch, time to live, its machine |
//! | [`machine`] | the pictures of the two state machines |
//! | [`ring`] | the picture of a time to live |
//! | [`timeline`] | lanes and marks, as a picture and as a table |
//! | [`topology`] | the map: links, stores, messages |
//! | [`rows`] | what the inspector lists |
//! | [`sessions`] | a schedule of homework: sessions, step by step |
//! | [`sql`] | commands with their words marked |
//! | [`words`] | times, names and changes as people say them |

pub mod caption;
pub mod card;
mod card_html;
pub mod deed;
pub mod ladder;
pub mod lock_card;
pub mod machine;
pub mod ring;
pub mod rows;
pub mod sessions;
pub mod sql;
pub mod timeline;
pub mod topology;
pub mod words;

/// The letter that stands for a replica's colour and hatch in class names and pattern names.
pub fn hue(name: &str) -> char {
    match name.as_bytes() {
        [letter @ b'A'..=b'I'] => letter.to_ascii_lowercase() as char,
        bytes => {
            let sum: u32 = bytes.iter().map(|byte| u32::from(*byte)).sum();
            char::from(b'a' + (sum % 9) as u8)
        }
    }
}

/// An epoch as people say it: ` epoch 7`, or nothing.
fn epoch_words(epoch: Option<u64>) -> String {
    epoch.map(|epoch| format!(" epoch {epoch}")).unwrap_or_default()
}

/// `A`, `A and B`, `A, B and C`.
fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
