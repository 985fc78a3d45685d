//! Statements of somebody who is no replica: done with few rights, and written down with their answers.

use locks::event::Kind;
use server::run::runner::Outcome;

use super::{assert_held, count, run_text};

fn script(step: &str) -> String {
    format!("name = \"outsider\"\ntitle = \"Somebody else\"\n[[step]]\n{step}\n")
}

#[tokio::test]
async fn a_statement_has_a_replicas_rights_and_its_answer_is_written_down() {
    let insert = "sql = \"insert into locks (name, token, expires_at) values ('settle-invoices', 'stolen', now() + interval '1 hour') returning token\"";
    let finished = run_text(&format!(
        "{}[[step]]\nassert = {{ sql = \"select count(*)::int from locks where token = 'stolen'\", is = 1 }}\n",
        script(insert)
    ))
    .await;
    assert_held(&finished);
    let answered = |kind: &Kind| matches!(kind, Kind::Outsider { answer, .. } if answer.contains("stolen"));
    assert_eq!(count(&finished.events, answered), 1);

    let refused = run_text(&script("sql = \"drop table locks\"")).await;
    assert!(matches!(&refused.outcome, Outcome::BadScenario(text) if text.contains("owner")), "{:?}", refused.outcome);
}

#[tokio::test]
async fn commands_of_administrators_are_refused() {
    for command in ["SHUTDOWN", "CONFIG SET maxmemory 1", "BLPOP x 0", "SUBSCRIBE x"] {
        let refused = run_text(&script(&format!("redis = {{ command = \"{command}\", node = \"redis-1\" }}"))).await;
        let is = matches!(&refused.outcome, Outcome::BadScenario(text) if text.contains("outsider"));
        assert!(is, "{command}: {:?}", refused.outcome);
    }
}
