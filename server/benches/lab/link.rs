//! What a link itself costs.

use locks::ids::Endpoint;
use server::arena::Arena;
use server::link::cost;

use crate::Failure;
use crate::figures::microseconds;
use crate::table::Figure;

const ROUNDS: usize = 2_000;

pub async fn measure(arena: &Arena) -> Result<Figure, Failure> {
    let postgres = arena.upstream(Endpoint::Postgres).ok_or("the arena has no Postgres")?;
    let cost = cost::of_a_statement(postgres, &arena.postgres_login(), ROUNDS).await?;
    Ok(Figure {
        what: "what a link adds to a statement".to_owned(),
        measured: microseconds(cost.added()),
        limit: None,
        over: false,
        how: format!(
            "`select 1`, prepared: {} past the link by the store's own socket, {} through it; medians of {ROUNDS}, \
             in turns",
            microseconds(cost.bare),
            microseconds(cost.linked)
        ),
    })
}
