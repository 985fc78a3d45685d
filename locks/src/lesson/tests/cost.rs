//! What a run says of costs.

use super::*;
use crate::lesson::Cost;

fn cost(log: &Log) -> Cost {
    Cost::of(&Record::of(&log.events))
}

#[test]
fn a_grant_costs_from_its_own_command_on() {
    let mut log = Log::new("", Setup { strategy: "redis-set-nx".into(), ..Setup::default() });
    assert_eq!(cost(&log), Cost::default());
    log.due(10, "A.1.1", 1).command(20, "A.1.1", "acquire", Reply::Redis(Param::Null));
    assert_eq!(cost(&log).grant_us, None, "it was turned away");
    log.command(30, "A.1.1", "acquire", Reply::Redis(Param::Text("OK".to_owned())));
    log.granted(33, "A.1.1", &[Endpoint::Redis(1)]).command(50, "A.1.1", "release", Reply::Redis(Param::Int(1)));
    log.command(51, "A.1.1", "audit", Reply::Rows { affected: 1, row: Vec::new() });
    assert_eq!(cost(&log), Cost { grant_us: Some(3000), commands: Some(3), takeover_ms: None });
}

#[test]
fn of_two_runs_the_quicker_grant_counts() {
    let one = Cost { grant_us: Some(5), commands: Some(2), takeover_ms: None };
    let other = Cost { grant_us: Some(4), commands: Some(9), takeover_ms: Some(7) };
    assert_eq!(one.or(other), Cost { grant_us: Some(4), commands: Some(2), takeover_ms: Some(7) });
}
