//! Sink `ledger`: one statement on the arena's Postgres inserts the effect and decides, in the database, whether
//! a guard rejects it. The function that it calls stands in `migrations/arena`.

use locks::event::{EffectAnswer, Param, Reply};
use locks::guard::Guard;

use super::Effect;
use crate::replica::session::postgres::Call;

/// The statement; it returns the guard that rejected the effect, or null.
pub(in crate::replica) const LEDGER: &str = "select settle($1::text, $2::text, $3::text, $4::timestamptz, $5::text, \
                                             $6::bigint, string_to_array($7::text, ','))";

/// The statement with what is to be settled, under these guards.
pub(super) fn call(effect: &Effect, guards: &[Guard]) -> Call {
    let guards: Vec<String> = guards.iter().map(Guard::to_string).collect();
    let params = vec![
        Param::Text(effect.attempt.to_string()),
        Param::Text(effect.lock.clone()),
        Param::Text(effect.slot.schedule.clone()),
        Param::Time(effect.slot.fire_ms.saturating_mul(1000)),
        Param::Text(effect.attempt.replica.clone()),
        // Epochs count grants; they never come near the end of a bigint.
        effect.epoch.map_or(Param::Null, |epoch| Param::Int(i64::try_from(epoch).unwrap_or(i64::MAX))),
        Param::Text(guards.join(",")),
    ];
    Call { text: LEDGER, params }
}

/// The statement and its parameters, as the log shows them.
pub(super) fn text(call: &Call) -> String {
    let params: Vec<String> = call
        .params
        .iter()
        .map(|param| match param {
            Param::Text(text) | Param::Key(text) => format!("'{text}'"),
            Param::Int(int) => int.to_string(),
            Param::Time(us) => format!("{us} us"),
            Param::Bool(truth) => truth.to_string(),
            Param::Null | Param::WallClock => "null".to_owned(),
        })
        .collect();
    format!("{}\n-- {}", call.text, params.join(", "))
}

/// What the reply means.
pub(super) fn answer(reply: Reply) -> EffectAnswer {
    let Reply::Rows { row, .. } = reply else { return EffectAnswer::Unknown };
    match row.first() {
        Some(Param::Null) => EffectAnswer::Accepted,
        Some(Param::Text(guard)) => guard.parse().map_or(EffectAnswer::Unknown, EffectAnswer::Rejected),
        _ => EffectAnswer::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_database_says_who_rejected() {
        let rows = |row| Reply::Rows { affected: 1, row };
        assert_eq!(answer(rows(vec![Param::Null])), EffectAnswer::Accepted);
        assert_eq!(answer(rows(vec![Param::Text("unique-slot".into())])), EffectAnswer::Rejected(Guard::UniqueSlot));
        assert_eq!(answer(Reply::Unknown), EffectAnswer::Unknown);
        assert_eq!(answer(rows(Vec::new())), EffectAnswer::Unknown);
    }
}
