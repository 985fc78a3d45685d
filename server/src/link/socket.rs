//! A socket of either kind, read and written without waiting: the pump decides when to wait, and for what.

use std::io;
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use nix::sys::socket::{Shutdown, shutdown};
use tokio::net::{TcpStream, UnixStream};

/// Where a link leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Upstream {
    /// A Unix socket.
    Unix(PathBuf),
    /// Host and port.
    Tcp {
        /// Host name or address.
        host: String,
        /// Port.
        port: u16,
    },
}

#[derive(Debug)]
pub(super) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// The same expression for either kind.
macro_rules! either {
    ($self:ident, $socket:ident => $do:expr) => {
        match $self {
            Socket::Tcp($socket) => $do,
            Socket::Unix($socket) => $do,
        }
    };
}

impl Socket {
    pub(super) async fn connect(upstream: &Upstream) -> io::Result<Socket> {
        match upstream {
            Upstream::Unix(path) => UnixStream::connect(path).await.map(Socket::Unix),
            Upstream::Tcp { host, port } => Socket::tcp(TcpStream::connect((host.as_str(), *port)).await?),
        }
    }

    /// A small message must not wait for the acknowledgement of the one before it.
    pub(super) fn tcp(stream: TcpStream) -> io::Result<Socket> {
        stream.set_nodelay(true)?;
        Ok(Socket::Tcp(stream))
    }

    pub(super) fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        either!(self, socket => socket.try_read(buffer))
    }

    pub(super) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        either!(self, socket => socket.try_write(bytes))
    }

    pub(super) async fn readable(&self) -> io::Result<()> {
        either!(self, socket => socket.readable().await)
    }

    pub(super) async fn writable(&self) -> io::Result<()> {
        either!(self, socket => socket.writable().await)
    }

    /// Says that no more will be written.
    pub(super) fn finish(&self) -> io::Result<()> {
        Ok(shutdown(either!(self, socket => socket.as_raw_fd()), Shutdown::Write)?)
    }

    /// Closes it so that the other side sees a reset where the kind knows one.
    pub(super) fn reset(self) {
        if let Socket::Tcp(stream) = &self
            && let Err(error) = stream.set_zero_linger()
        {
            tracing::debug!(%error, "the socket is closed without a reset");
        }
    }
}
