//! What a link adds to a round trip. Printed, not judged: a number from a busy machine fails nobody.

use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::lab::{Lab, listen};

async fn round_trip(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> Duration {
    const ROUNDS: usize = 3_000;
    let mut buffer = [0; 64];
    let mut each = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        stream.write_all(&buffer).await.unwrap();
        stream.read_exact(&mut buffer).await.unwrap();
        each.push(begun.elapsed());
    }
    each.sort();
    each[ROUNDS / 2]
}

#[tokio::test]
#[expect(clippy::print_stderr, reason = "the figure is what the test is for")]
async fn what_a_link_adds_to_a_round_trip() {
    let lab = Lab::echoing().await;
    let client = lab.connect().await;
    client.set_nodelay(true).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("direct");
    let _peers = listen(path.clone(), true);
    let direct = round_trip(tokio::net::UnixStream::connect(path).await.unwrap()).await;
    let linked = round_trip(client).await;
    eprintln!(
        "round trip, median: direct {direct:?}, through a link {linked:?}, added {:?}",
        linked.saturating_sub(direct)
    );
}
