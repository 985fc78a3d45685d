//! Has the store hung up? sqlx looks at its socket only while a query runs, and a replica must notice a
//! lost session also while nothing is being asked. So the socket is looked at, without taking a byte off it.

use std::collections::BTreeSet;
use std::os::fd::RawFd;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, SockaddrIn, getpeername, getsockname, recv};
use tokio::time::sleep;

use crate::clock::now_us;

/// How often it is looked at, in microseconds.
const EVERY_US: u64 = 40_000;

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
            sleep(Duration::from_micros(left_us(now_us(), std::process::id()))).await;
            let mut bytes = [0; 512];
            match recv(self.fd, &mut bytes, MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT) {
                Ok(0) => return "closed by the store".to_owned(),
                Ok(n) if says_good_bye(&bytes[..n]) => return "ended by the store".to_owned(),
                Ok(_) | Err(Errno::EAGAIN | Errno::EINTR) => {}
                Err(error) => return error.desc().to_owned(),
            }
        }
    }
}

/// How long until the next look. All sessions of a process look at the same times, so that it wakes up once
/// for all of them; processes look at different times.
fn left_us(now_us: u64, process: u32) -> u64 {
    EVERY_US - (now_us + u64::from(process) * 1_777) % EVERY_US
}

/// Is that an error that nobody asked for, or the notice of a server that goes down (SQLSTATE 57P..)? Behind
/// such words the connection ends, but the end is hidden by the bytes before it.
fn says_good_bye(bytes: &[u8]) -> bool {
    match bytes.first() {
        Some(b'E') => true,
        Some(b'N') => bytes.windows(4).any(|field| field == b"C57P"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_is_no_good_bye_unless_the_server_goes_down() {
        assert!(says_good_bye(b"E\0\0\0\x20SFATAL\0C57P01\0"));
        assert!(says_good_bye(b"N\0\0\0\x20SWARNING\0VWARNING\0C57P02\0"));
        assert!(!says_good_bye(b"N\0\0\0\x20SNOTICE\0C00000\0"));
        assert!(!says_good_bye(b"2\0\0\0\x04D"), "the late reply to a command that timed out");
    }
}
