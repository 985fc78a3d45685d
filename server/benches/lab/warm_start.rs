//! How long a learner waits for the first page, once the lab has been started there before.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::Failure;
use crate::figures::{Many, seconds};
use crate::serve::Serve;
use crate::table::Figure;

const STARTS: usize = 5;
const LIMIT: Duration = Duration::from_secs(1);

pub async fn measure(data: PathBuf) -> Result<Vec<Figure>, Failure> {
    // Makes the template and the control plane, which later starts find.
    Serve::start(&data).await?.end().await?;
    let mut starts = Many::default();
    for _ in 0..STARTS {
        let began = Instant::now();
        let serve = Serve::start(&data).await?;
        serve.get("/").await?;
        starts.push(began.elapsed());
        serve.end().await?;
    }
    let median = starts.median();
    Ok(vec![Figure {
        what: "warm start to first page".to_owned(),
        measured: seconds(median),
        limit: Some("1 s"),
        over: median >= LIMIT,
        how: format!(
            "from starting `aegis serve` to the last byte of `/`; median of {STARTS}, longest {}",
            seconds(starts.longest())
        ),
    }])
}
