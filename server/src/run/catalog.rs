//! The lab's catalog of schedules and their cadence. The rows that replicas load stand in the arena; here
//! is only how often they fire.

use locks::event::Schedule;

/// The catalog where each schedule fires every so many seconds, one after the other.
pub fn with_cadence(mut catalog: Vec<Schedule>, every_s: u64) -> Vec<Schedule> {
    let many = catalog.len().max(1) as u64;
    for (nth, schedule) in catalog.iter_mut().enumerate() {
        schedule.cron = cron(every_s, every_s * nth as u64 / many);
    }
    catalog
}

/// Cron with seconds can only divide a minute, or an hour; what divides neither is rounded by it.
fn cron(every_s: u64, offset_s: u64) -> String {
    match every_s {
        0 | 1 => "* * * * * *".to_owned(),
        2..60 if offset_s == 0 => format!("*/{every_s} * * * * *"),
        2..60 => format!("{offset_s}-59/{every_s} * * * * *"),
        _ => format!("{} */{} * * * *", offset_s.min(59), (every_s / 60).clamp(1, 59)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crons(every_s: u64) -> Vec<String> {
        let schedule =
            Schedule { name: String::new(), cron: String::new(), time_zone: "UTC".to_owned(), handler: String::new() };
        with_cadence(vec![schedule; 3], every_s).into_iter().map(|schedule| schedule.cron).collect()
    }

    #[test]
    fn schedules_fire_after_one_another() {
        assert_eq!(crons(6), ["*/6 * * * * *", "2-59/6 * * * * *", "4-59/6 * * * * *"]);
        assert_eq!(crons(120), ["0 */2 * * * *", "40 */2 * * * *", "59 */2 * * * *"]);
    }

    #[test]
    fn every_cadence_is_a_cron_expression() {
        let parser = croner::parser::CronParser::builder().seconds(croner::parser::Seconds::Required).build();
        for every_s in (1..=60).chain([120, 3600]) {
            for cron in crons(every_s) {
                assert!(parser.parse(&cron).is_ok(), "{cron}");
            }
        }
    }
}
