//! Has the store hung up? sqlx looks at its socket only while a query runs, and a replica must notice a
//! lost session also while nothing is being asked. So the socket is looked at, without taking a byte off it.

use std::collections::BTreeSet;
use std::os::fd::RawFd;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, SockaddrIn, getpeername, getsockname, recv};
use tokio::time::sleep;

/// How often it is looked at.
const EVERY: Duration = Duration::from_millis(25);

/// A socket of this process: its descriptor and its own port, because descriptors are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Peer {
    fd: RawFd,
    port: u16,
}

impl Peer {
    /// All sockets of this process that lead to a port.
    pub(super) fn all(to: u16) -> BTreeSet<Peer> {
        let Ok(entries) = std::fs::read_dir("/dev/fd") else { return BTreeSet::new() };
        let numbers: Vec<RawFd> =
            entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        let socket = |fd| {
            let peer: SockaddrIn = getpeername(fd).ok()?;
            let own: SockaddrIn = getsockname(fd).ok()?;
            (peer.port() == to).then_some(Peer { fd, port: own.port() })
        };
        numbers.into_iter().filter_map(socket).collect()
    }

    /// Wait until the other side has closed the connection or has said that it is about to.
    pub(super) async fn closed(self) -> String {
        loop {
            sleep(EVERY).await;
            let mut first = [0];
            match recv(self.fd, &mut first, MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT) {
                Ok(0) => return "closed by the store".to_owned(),
                // An error that nobody asked for: the backend was told to end.
                Ok(_) if first == *b"E" => return "ended by the store".to_owned(),
                Ok(_) | Err(Errno::EAGAIN | Errno::EINTR) => {}
                Err(error) => return error.desc().to_owned(),
            }
        }
    }
}
