//! What all tests of links share: a peer behind a Unix socket that records and echoes, and links to it.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use locks::ids::Endpoint;
use server::link::{Links, Passed, Upstream};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::unix::OwnedWriteHalf;
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Long enough for anything that happens at all.
pub const LIMIT: Duration = Duration::from_secs(10);
/// So long nothing must happen where nothing may.
pub const SILENCE: Duration = Duration::from_millis(60);
/// The replica of most tests.
pub const A: &str = "A";
/// The endpoint of most tests.
pub const STORE: Endpoint = Endpoint::Postgres;

/// What the peer heard on a connection.
#[derive(Debug, PartialEq, Eq)]
pub enum Heard {
    Bytes(Vec<u8>),
    Fin,
    Broken,
}

/// One connection, as the peer sees it. Unless `echo` it only listens.
pub struct Peer {
    pub heard: mpsc::UnboundedReceiver<Heard>,
    pub say: Option<OwnedWriteHalf>,
}

impl Peer {
    /// Waits until exactly these bytes were heard.
    pub async fn hears(&mut self, wanted: &[u8]) {
        let mut got = Vec::new();
        while got.len() < wanted.len() {
            match timeout(LIMIT, self.heard.recv()).await.expect("the peer hears within the limit") {
                Some(Heard::Bytes(bytes)) => got.extend(bytes),
                other => panic!("{other:?} after {} of {} bytes", got.len(), wanted.len()),
            }
        }
        assert!(got == wanted, "the peer heard other bytes than were sent");
    }

    pub async fn hears_end(&mut self) -> Heard {
        timeout(LIMIT, self.heard.recv()).await.expect("the peer hears the end within the limit").expect("an end")
    }

    pub async fn hears_nothing(&mut self) {
        if let Ok(heard) = timeout(SILENCE, self.heard.recv()).await {
            panic!("the peer heard {heard:?}");
        }
    }

    /// Waits until nobody reads any more what it says.
    pub async fn is_left(&mut self) {
        let stream: &UnixStream = self.say.as_ref().expect("not closed").as_ref();
        loop {
            let state = timeout(LIMIT, stream.ready(Interest::WRITABLE)).await.expect("left within the limit");
            if state.expect("a state").is_write_closed() {
                return;
            }
            // Known: wait for the next change of its state, without writing anything.
            let known = stream.try_io(Interest::WRITABLE, || Err::<(), _>(io::ErrorKind::WouldBlock.into()));
            known.expect_err("nothing is done");
        }
    }

    pub async fn says(&mut self, bytes: &[u8]) {
        self.say.as_mut().expect("not closed").write_all(bytes).await.expect("said");
    }
}

/// Links of replica A, all leading to one listening peer.
pub struct Lab {
    pub links: Links,
    pub passed: mpsc::UnboundedReceiver<Passed>,
    pub ports: std::collections::BTreeMap<Endpoint, u16>,
    peers: mpsc::UnboundedReceiver<Peer>,
    _folder: TempDir,
}

impl Lab {
    /// A peer that says what the test tells it to say.
    pub async fn open() -> Lab {
        Lab::with(false).await
    }

    /// A peer that sends back what it hears, and its FIN behind that.
    pub async fn echoing() -> Lab {
        Lab::with(true).await
    }

    async fn with(echo: bool) -> Lab {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("peer");
        let peers = listen(path.clone(), echo);
        let (sender, passed) = mpsc::unbounded_channel();
        let links = Links::start(|_| Upstream::Unix(path.clone()), sender).expect("links start");
        let ports = links.add(A).expect("links of A");
        Lab { links, passed, ports, peers, _folder: folder }
    }

    pub async fn connect(&self) -> TcpStream {
        self.connect_to(STORE).await
    }

    pub async fn connect_to(&self, endpoint: Endpoint) -> TcpStream {
        let stream = timeout(LIMIT, TcpStream::connect(("127.0.0.1", self.ports[&endpoint])));
        stream.await.expect("connects within the limit").expect("connects")
    }

    /// The peer's side of the next connection.
    pub async fn peer(&mut self) -> Peer {
        timeout(LIMIT, self.peers.recv()).await.expect("a connection within the limit").expect("a connection")
    }

    pub async fn no_peer(&mut self) {
        assert!(timeout(SILENCE, self.peers.recv()).await.is_err(), "a connection came through");
    }

    pub async fn pair(&mut self) -> (TcpStream, Peer) {
        self.pair_of(STORE).await
    }

    pub async fn pair_of(&mut self, endpoint: Endpoint) -> (TcpStream, Peer) {
        let client = self.connect_to(endpoint).await;
        let peer = self.peer().await;
        (client, peer)
    }

    /// Waits for the next message that a link passed.
    pub async fn next_passed(&mut self) -> Passed {
        timeout(LIMIT, self.passed.recv()).await.expect("passed within the limit").expect("links run")
    }
}

/// Listens on a Unix socket and hands out each connection.
pub fn listen(path: PathBuf, echo: bool) -> mpsc::UnboundedReceiver<Peer> {
    let listener = UnixListener::bind(path).expect("listens");
    let (sender, peers) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (mut read, write) = stream.into_split();
            let (heard, receiver) = mpsc::unbounded_channel();
            let (mut echo, say) = if echo { (Some(write), None) } else { (None, Some(write)) };
            sender.send(Peer { heard: receiver, say }).unwrap_or_default();
            tokio::spawn(async move {
                let mut buffer = vec![0; 64 << 10];
                loop {
                    let what = match read.read(&mut buffer).await {
                        Ok(0) => Heard::Fin,
                        Ok(count) => Heard::Bytes(buffer[..count].to_vec()),
                        Err(_) => Heard::Broken,
                    };
                    if let (Some(echo), Heard::Bytes(bytes)) = (&mut echo, &what) {
                        echo.write_all(bytes).await.unwrap_or_default();
                    }
                    let over = !matches!(what, Heard::Bytes(_));
                    heard.send(what).unwrap_or_default();
                    if over {
                        return;
                    }
                }
            });
        }
    });
    peers
}

pub async fn send(client: &mut TcpStream, bytes: &[u8]) {
    timeout(LIMIT, client.write_all(bytes)).await.expect("sent within the limit").expect("sent");
}

/// Reads exactly as many bytes as are wanted, and compares.
pub async fn receives(client: &mut TcpStream, wanted: &[u8]) {
    let mut got = vec![0; wanted.len()];
    timeout(LIMIT, client.read_exact(&mut got)).await.expect("a reply within the limit").expect("a reply");
    assert!(got == wanted, "the replica got other bytes than were sent");
}

pub async fn receives_nothing(client: &mut TcpStream) {
    let mut byte = [0];
    if let Ok(read) = timeout(SILENCE, client.read(&mut byte)).await {
        panic!("the replica read {read:?}");
    }
}

/// How the connection ended for the replica: `None` for FIN.
pub async fn ends(client: &mut TcpStream) -> Option<io::ErrorKind> {
    let mut byte = [0];
    match timeout(LIMIT, client.read(&mut byte)).await.expect("an end within the limit") {
        Ok(0) => None,
        Ok(_) => panic!("the replica read a byte where the end was expected"),
        Err(error) => Some(error.kind()),
    }
}
