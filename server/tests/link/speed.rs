//! What a link adds to a statement. Printed, and judged only for sense: a busy machine fails nobody.

use locks::ids::Endpoint;
use server::link::cost;

use crate::common::{data_dir, lab};

#[tokio::test]
#[expect(clippy::print_stderr, reason = "the figure is what the test is for")]
async fn what_a_link_adds_to_a_statement() {
    let data = data_dir();
    let lab = lab(data.path()).await;
    let arena = lab.arena(&Default::default()).await.unwrap();
    let postgres = arena.upstream(Endpoint::Postgres).unwrap();
    let cost = cost::of_a_statement(postgres, &arena.postgres_login(), 2_000).await.unwrap();
    eprintln!("select 1, median: bare {:?}, through a link {:?}, added {:?}", cost.bare, cost.linked, cost.added());
    assert!(cost.bare.as_micros() > 0 && cost.linked.as_millis() < 50);
    arena.close().await;
    lab.close().await;
}
