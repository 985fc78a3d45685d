//! How long it takes to make an arena: a Postgres of its own and five Redis nodes, ready to be used.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use server::arena::Arena;
use server::lab::Lab;

use crate::Failure;
use crate::figures::{Many, seconds};
use crate::table::Figure;

const ARENAS: usize = 10;
const LIMIT: Duration = Duration::from_millis(500);

/// The figure, and the last of the arenas for further use.
pub async fn measure(lab: &Lab) -> Result<(Figure, Arena), Failure> {
    let mut made = Many::default();
    let arena = loop {
        let began = Instant::now();
        let arena = lab.arena(&BTreeMap::new()).await?;
        made.push(began.elapsed());
        if made.count() == ARENAS {
            break arena;
        }
        arena.close().await;
    };
    let median = made.median();
    let figure = Figure {
        what: "new arena".to_owned(),
        measured: seconds(median),
        limit: Some("0.5 s"),
        over: median >= LIMIT,
        how: format!(
            "Postgres and five Redis nodes, made when asked for (none kept ready); median of {ARENAS}, longest {}",
            seconds(made.longest())
        ),
    };
    Ok((figure, arena))
}
