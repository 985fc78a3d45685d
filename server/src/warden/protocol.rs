//! What server and warden say to each other: one JSON message a line, over a Unix socket pair that
//! tells when the other side is gone. The three standard descriptors of a child travel with the request
//! that spawns it, so the server talks to its children directly.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    Shutdown,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tokio::io::Interest;

/// A process of the warden's: the number of the request that spawned it. Never a pid, which is reused.
pub(super) type Id = u64;

/// Standard input, output and error.
const DESCRIPTORS: usize = 3;
/// Longest message; environment and arguments of a child fit many times, and a socket holds several.
const LONGEST: usize = 32 * 1024;

/// What the server asks.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Request {
    /// Its number; a spawned process goes by it.
    pub(super) id: Id,
    /// What is asked.
    pub(super) what: Ask,
}

/// See [`Request`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ask {
    /// Start a program. Its standard descriptors travel with the message.
    Spawn { program: PathBuf, args: Vec<String>, env: Vec<(String, String)>, folder: PathBuf, user: Option<User> },
    /// Stop it and what it started; answered when all their threads are stopped.
    Stop { process: Id },
    /// Let it go on, and what it started.
    Continue { process: Id },
    /// End it and what it started; answered when all are gone.
    Kill { process: Id },
    /// Send it alone a signal, by number.
    Signal { process: Id, signal: i32 },
}

/// The user to drop to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// Its name.
    pub name: String,
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
}

/// What the warden says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Say {
    /// It is in place; always first.
    Ready,
    /// The answer to `Spawn`.
    Spawned { request: Id, pid: u32 },
    /// The answer to the others.
    Done { request: Id },
    /// The request failed.
    Failed { request: Id, why: String },
    /// A process and all that it started are gone.
    Exited { process: Id, exit: Exit },
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// By itself, with this status.
    Status(i32),
    /// By this signal.
    Signal(i32),
    /// Together with the warden: how is not known.
    Unknown,
}

impl Exit {
    /// Did it end by itself and well?
    pub fn success(self) -> bool {
        self == Exit::Status(0)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exit::Status(status) => write!(f, "status {status}"),
            Exit::Signal(signal) => write!(f, "signal {signal}"),
            Exit::Unknown => f.write_str("together with the warden"),
        }
    }
}

/// The two ends of a new life line. Neither is inherited unless it is handed over.
pub(super) fn pair() -> io::Result<(UnixStream, UnixStream)> {
    let (one, other) = UnixStream::pair()?;
    one.set_nonblocking(true)?;
    other.set_nonblocking(true)?;
    Ok((one, other))
}

/// Take an end of [`pair`]. Needs a tokio runtime.
pub(super) fn open(end: UnixStream) -> io::Result<(Sender, Receiver)> {
    let socket = Arc::new(tokio::net::UnixStream::from_std(end)?);
    let receiver = Receiver { socket: socket.clone(), bytes: Vec::new(), descriptors: VecDeque::new() };
    Ok((Sender { socket }, receiver))
}

/// Sends messages, one line each. A line goes out in one piece or is an error: it is far smaller than
/// what a socket holds, so the other side must have stopped reading.
pub(super) struct Sender {
    socket: Arc<tokio::net::UnixStream>,
}

impl Sender {
    /// Send a message, with descriptors.
    pub(super) async fn send<T: Serialize>(&self, message: &T, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let mut text = serde_json::to_vec(message)?;
        text.push(b'\n');
        if text.len() > LONGEST {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the message is too long"));
        }
        let send = || {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
            let mut beside = SendAncillaryBuffer::new(&mut space);
            if !descriptors.is_empty() && !beside.push(SendAncillaryMessage::ScmRights(descriptors)) {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "too many descriptors"));
            }
            Ok(rustix::net::sendmsg(&self.socket, &[IoSlice::new(&text)], &mut beside, SendFlags::NOSIGNAL)?)
        };
        if self.socket.async_io(Interest::WRITABLE, send).await? < text.len() {
            self.shut();
            return Err(io::Error::new(io::ErrorKind::WriteZero, "the other side does not read"));
        }
        Ok(())
    }

    /// Tell the other side that this is the end.
    pub(super) fn shut(&self) {
        // It fails only when the other side is gone already.
        let _ = rustix::net::shutdown(&self.socket, Shutdown::Both);
    }
}

/// Receives messages. Descriptors arrive in the order of the messages that they were sent with, and not
/// after them, so they queue.
pub(super) struct Receiver {
    socket: Arc<tokio::net::UnixStream>,
    bytes: Vec<u8>,
    descriptors: VecDeque<OwnedFd>,
}

impl Receiver {
    /// The next message; `None` when the other side is gone. May be cancelled.
    pub(super) async fn receive<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        loop {
            if let Some(end) = self.bytes.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.bytes.drain(..=end).collect();
                return Ok(Some(serde_json::from_slice(&line)?));
            }
            let Receiver { socket, bytes, descriptors } = self;
            let receive = || {
                let mut part = [0; 4096];
                let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
                let mut beside = RecvAncillaryBuffer::new(&mut space);
                let mut parts = [IoSliceMut::new(&mut part)];
                let length = rustix::net::recvmsg(&*socket, &mut parts, &mut beside, RecvFlags::CMSG_CLOEXEC)?.bytes;
                for message in beside.drain() {
                    if let RecvAncillaryMessage::ScmRights(some) = message {
                        descriptors.extend(some);
                    }
                }
                bytes.extend_from_slice(&part[..length]);
                Ok(length)
            };
            match socket.async_io(Interest::READABLE, receive).await {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    /// The descriptors that came with the message just received.
    pub(super) fn descriptors(&mut self) -> io::Result<[OwnedFd; DESCRIPTORS]> {
        let few = || io::Error::new(io::ErrorKind::InvalidData, "descriptors are missing");
        let mut next = || self.descriptors.pop_front().ok_or_else(few);
        Ok([next()?, next()?, next()?])
    }
}
