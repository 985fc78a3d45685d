//! Times, names and changes in the words that people use. Everything that a page says of a number goes
//! through here, so that units and separators are the same everywhere.

use locks::event::{EndReason, Whose};
use locks::guard::Guard;
use locks::setup::{Handler, SetupChange};

/// Milliseconds with a thin separator: `519 ms`, `1,628 ms`.
pub fn ms(us: u64) -> String {
    format!("{} ms", grouped(us / 1000))
}

/// Tenths of a millisecond: `0.8 ms`, `1,663.0 ms`.
pub fn fine_ms(us: u64) -> String {
    format!("{}.{} ms", grouped(us / 1000), us % 1000 / 100)
}

/// As short as it can be said: `519 ms`, `1.63 s`, `12.4 s`, `3 min 5 s`.
pub fn short(us: u64) -> String {
    let s = us / 1_000_000;
    match us {
        0..1_000_000 => format!("{} ms", us / 1000),
        1_000_000..10_000_000 => format!("{s}.{:02} s", us % 1_000_000 / 10_000),
        10_000_000..60_000_000 => format!("{s}.{} s", us % 1_000_000 / 100_000),
        _ => format!("{} min {} s", s / 60, s % 60),
    }
}

/// In whole seconds, where there is one: `519 ms`, `8 s`, `3 min 5 s`.
pub fn about(us: u64) -> String {
    match us {
        1_000_000..60_000_000 => format!("{} s", us / 1_000_000),
        _ => short(us),
    }
}

/// Seconds since the run's beginning, with milliseconds: `12.448`.
pub fn seconds(us: u64) -> String {
    format!("{}.{:03}", us / 1_000_000, us % 1_000_000 / 1000)
}

/// A number with separators in thousands.
pub fn grouped(n: u64) -> String {
    if n < 1000 { n.to_string() } else { format!("{},{:03}", grouped(n / 1000), n % 1000) }
}

/// Time of day (UTC) of an instant, with milliseconds where they are not zero: `21:00:00`.
pub fn clock(wall_ms: i64) -> String {
    let ms = wall_ms.rem_euclid(86_400_000);
    let (h, m, s, ms) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60, ms % 1000);
    if ms == 0 { format!("{h:02}:{m:02}:{s:02}") } else { format!("{h:02}:{m:02}:{s:02}.{ms:03}") }
}

/// A token, shortened to four characters and two.
pub fn token(text: &str) -> String {
    match (text.get(..4), text.len().checked_sub(2).and_then(|from| text.get(from..))) {
        (Some(head), Some(tail)) if text.len() > 8 => format!("{head}…{tail}"),
        _ => text.to_owned(),
    }
}

/// Guards as scenario files name them.
pub fn guards(guards: &[Guard]) -> String {
    match guards {
        [] => "none".to_owned(),
        _ => guards.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    }
}

/// A handler as scenario files name it.
pub fn handler(handler: Handler) -> &'static str {
    match handler {
        Handler::Cooperative => "cooperative",
        Handler::Stubborn => "stubborn",
        Handler::Blocking => "blocking",
    }
}

/// What a handler does when its grant is over.
pub fn handler_text(handler: Handler) -> &'static str {
    match handler {
        Handler::Cooperative => "stops working when it is told that its grant is over",
        Handler::Stubborn => "works on and sends its effect, whether or not its grant is over",
        Handler::Blocking => "blocks the lock's own thread: nothing can renew the grant or tell it anything",
    }
}

/// What a guard of the sink checks.
pub fn guard_text(guard: Guard) -> &'static str {
    match guard {
        Guard::MaxSeen => "rejects an epoch lower than the highest that the sink accepted for the lock",
        Guard::CurrentEpoch => {
            "rejects an epoch other than the one that stands at the lock now; if it cannot ask, it rejects"
        }
        Guard::UniqueSlot => "rejects the second effect of a slot, whoever sends it",
    }
}

/// What it is to renew.
pub const RENEW: &str = "The lease is extended again and again while the work goes on; without it work that is longer than the lease loses its grant";

/// What a change of the set-up changes, in a few words.
pub fn change(change: &SetupChange) -> String {
    let mut said = Vec::new();
    if let Some(strategy) = &change.strategy {
        said.push(strategy.to_string());
    }
    if let Some(list) = &change.guard {
        said.push(format!("guard {}", guards(list)));
    }
    if let Some(how) = change.handler {
        said.push(handler(how).to_owned());
    }
    if let Some(renew) = change.renew {
        said.push(if renew { "renew".to_owned() } else { "no renewal".to_owned() });
    }
    for (name, value) in [("lease", change.lease_ms), ("work", change.work_ms), ("wait", change.acquire_timeout_ms)] {
        if let Some(value) = value {
            said.push(format!("{name} {} ms", grouped(value)));
        }
    }
    if let Some(every) = change.every_s {
        said.push(format!("every {every} s"));
    }
    if said.is_empty() { "set-up".to_owned() } else { said.join(", ") }
}

/// Date and time of day (UTC) of an instant: `2026-11-29 21:00:00`.
pub fn date(wall_ms: i64) -> String {
    // Civil date from days since 1970-01-01, by the era arithmetic of the proleptic Gregorian calendar.
    let days = wall_ms.div_euclid(86_400_000) + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    format!("{year}-{month:02}-{day:02} {}", clock(wall_ms - wall_ms.rem_euclid(1000)))
}

/// Why a run ended, in words.
pub fn ended(why: EndReason) -> &'static str {
    match why {
        EndReason::Done => "script done",
        EndReason::Closed => "closed",
        EndReason::Segment => "went on in a new run",
        EndReason::Inconclusive => "inconclusive",
        EndReason::LabFailed => "the lab failed",
        EndReason::Interrupted => "interrupted",
    }
}

/// A shift of a clock.
pub fn signed(ms: i64) -> String {
    let sign = match ms {
        0 => "±",
        1.. => "+",
        _ => "−",
    };
    format!("{sign} {} ms", grouped(ms.unsigned_abs()))
}

/// Whose fault it is, in words.
pub fn whose(whose: Whose) -> &'static str {
    match whose {
        Whose::Yours => "What was asked for cannot be done",
        Whose::Lab => "The lab's fault, not yours",
        Whose::Fault => "What was waited for did not come",
        Whose::Answer => "Here the answer breaks its contract",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_as_people_do() {
        let said: Vec<String> = [519_000, 1_628_000, 12_448_000, 185_000_000].into_iter().map(short).collect();
        assert_eq!(said, ["519 ms", "1.62 s", "12.4 s", "3 min 5 s"]);
        assert_eq!(ms(1_628_400), "1,628 ms");
        assert_eq!(fine_ms(1_663_049), "1,663.0 ms");
        assert_eq!(grouped(12_345_678), "12,345,678");
    }

    #[test]
    fn instants_are_dates() {
        assert_eq!(date(1_795_986_000_000), "2026-11-29 21:00:00");
        assert_eq!(date(951_782_400_000), "2000-02-29 00:00:00");
        assert_eq!(clock(1_795_986_000_250), "21:00:00.250");
    }
}
