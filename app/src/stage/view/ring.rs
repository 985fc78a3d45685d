//! The picture of a time to live: a ring that runs out. Dashed when expired, empty when free; it never
//! counts below zero.

use locks::machine::LockState;

use super::hue;
use crate::stage::lock::Lock;

const AROUND: f64 = 226.2;

/// The ring's content, and what it says in words.
pub fn ring(lock: Option<&Lock>, now_us: u64) -> (String, String) {
    let back = r#"<circle cx="46" cy="46" r="36" class="tr0"/>"#;
    let words = |big: &str, small: &str| {
        format!(r#"<text x="46" y="50" class="big">{big}</text><text x="46" y="63" class="sm">{small}</text>"#)
    };
    let Some(lock) = lock else {
        return (format!("{back}{}", words("–", "no lock")), "No lock is asked for".to_owned());
    };
    match (lock.state, lock.expires_us) {
        (LockState::Held, Some(expires)) => {
            let left = expires.saturating_sub(now_us) as f64 / 1e6;
            let whole = lock.lease_ms.unwrap_or(0).max(1) as f64 / 1e3;
            let part = (left / whole).min(1.0) * AROUND;
            let hue = lock.owner.as_ref().map_or('n', |owner| hue(&owner.replica));
            let arc = format!(
                r#"<circle cx="46" cy="46" r="36" class="tr1 r-{hue}" stroke-dasharray="{part:.1} {AROUND}" transform="rotate(-90 46 46)"/>"#
            );
            (
                format!("{back}{arc}{}", words(&format!("{left:.2}"), &format!("of {whole:.2} s"))),
                format!("Time to live {left:.1} of {whole:.1} seconds"),
            )
        }
        (LockState::Held, None) => (
            format!(r#"<circle cx="46" cy="46" r="36" class="tr1 r-n"/>{}"#, words("∞", "no expiry")),
            "Held without expiry".to_owned(),
        ),
        (LockState::Expired, _) => (
            format!(r#"<circle cx="46" cy="46" r="36" class="tr-x"/>{}"#, words("0", "expired")),
            "The time to live is over".to_owned(),
        ),
        (LockState::Free, _) => (format!("{back}{}", words("–", "free")), "Free".to_owned()),
    }
}
