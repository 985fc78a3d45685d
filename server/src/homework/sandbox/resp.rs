//! The learner's connection to Redis: sends one command at a time and reads its answer with bounds on size and
//! depth, because a script can make the server say anything, even what is no protocol. Nothing is ever sent twice.

use std::path::Path;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

/// Most bytes of one answer: the server closes a connection that would be sent more.
const MOST_BYTES: usize = 2 << 20;

/// What came of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Came {
    /// An integer.
    Int(i64),
    /// Nil.
    Nil,
    /// A string or a status.
    Text(Vec<u8>),
    /// Anything else, in words: a list, or what is no protocol.
    Other(String),
    /// It was refused.
    Refused(String),
    /// It answered more than is read. The connection is over.
    TooLong,
    /// The connection is over.
    Closed,
}

/// A connection.
pub struct Resp {
    stream: UnixStream,
    bytes: Vec<u8>,
}

impl Resp {
    /// Connect.
    pub async fn open(socket: &Path) -> std::io::Result<Resp> {
        Ok(Resp { stream: UnixStream::connect(socket).await?, bytes: Vec::new() })
    }

    /// Send a command and read its answer. Afterwards the connection is good for another, unless it is over.
    pub async fn ask(&mut self, command: &[&[u8]]) -> Came {
        let mut text = format!("*{}\r\n", command.len()).into_bytes();
        for part in command {
            text.extend(format!("${}\r\n", part.len()).bytes());
            text.extend(*part);
            text.extend(b"\r\n");
        }
        if self.stream.write_all(&text).await.is_err() {
            return Came::Closed;
        }
        loop {
            match read(&self.bytes) {
                Read::Whole(came, length) => {
                    self.bytes.drain(..length);
                    // Whatever stands behind an answer belongs to none.
                    return if self.bytes.is_empty() { came } else { Came::Other("more than one answer".to_owned()) };
                }
                Read::NoProtocol => return Came::Other("something that is no answer".to_owned()),
                Read::Part if self.bytes.len() > MOST_BYTES => return Came::TooLong,
                Read::Part => {}
            }
            if !matches!(self.stream.read_buf(&mut self.bytes).await, Ok(1..)) {
                return Came::Closed;
            }
        }
    }
}

enum Read {
    Whole(Came, usize),
    Part,
    NoProtocol,
}

/// Read the answer that the bytes begin with. Lists are counted, never built: however deep they are.
fn read(bytes: &[u8]) -> Read {
    let (mut at, mut open, mut first) = (0, 1u64, None);
    while open > 0 {
        let Some(end) = bytes[at..].windows(2).position(|two| two == b"\r\n") else { return Read::Part };
        let line = &bytes[at..at + end];
        at += end + 2;
        open -= 1;
        let Some((&kind, rest)) = line.split_first() else { return Read::NoProtocol };
        let number = std::str::from_utf8(rest).ok().and_then(|text| text.parse::<i64>().ok());
        let text = || String::from_utf8_lossy(rest).into_owned();
        let came = match (kind, number) {
            (b':', Some(number)) => Came::Int(number),
            (b'+', _) => Came::Text(rest.to_vec()),
            (b'-', _) => Came::Refused(text()),
            (b'$' | b'*', Some(-1)) | (b'_', _) => Came::Nil,
            (b'$', Some(length @ 0..)) => {
                let length = usize::try_from(length).unwrap_or(usize::MAX).min(usize::MAX / 2);
                let Some(value) = bytes.get(at..at + length) else { return Read::Part };
                if bytes.len() < at + length + 2 {
                    return Read::Part;
                }
                at += length + 2;
                Came::Text(value.to_vec())
            }
            (b'*' | b'~', Some(length @ 0..)) => {
                open = open.saturating_add(length.unsigned_abs());
                Came::Other(format!("a list of {length}"))
            }
            (b'%', Some(length @ 0..)) => {
                open = open.saturating_add(length.unsigned_abs().saturating_mul(2));
                Came::Other(format!("a map of {length}"))
            }
            (b',' | b'#' | b'(', _) => Came::Other(text()),
            _ => return Read::NoProtocol,
        };
        first.get_or_insert(came);
    }
    first.map_or(Read::NoProtocol, |came| Read::Whole(came, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(bytes: &[u8]) -> Option<Came> {
        match read(bytes) {
            Read::Whole(came, length) => (length == bytes.len()).then_some(came),
            Read::Part => None,
            Read::NoProtocol => Some(Came::Closed),
        }
    }

    #[test]
    fn answers_of_every_kind() {
        assert_eq!(whole(b":1\r\n"), Some(Came::Int(1)));
        assert_eq!(whole(b"$-1\r\n"), Some(Came::Nil));
        assert_eq!(whole(b"$3\r\na\r\n\r\n"), Some(Came::Text(b"a\r\n".to_vec())));
        assert_eq!(whole(b"-ERR no\r\n"), Some(Came::Refused("ERR no".to_owned())));
        assert_eq!(whole(b"*2\r\n:1\r\n$1\r\nx\r\n"), Some(Came::Other("a list of 2".to_owned())));
        assert_eq!(whole(b"$3\r\nab"), None);
        assert_eq!(whole(b"x\r\n"), Some(Came::Closed));
    }

    #[test]
    fn depth_costs_nothing() {
        let deep = [b"*1\r\n".repeat(100_000), b":1\r\n".to_vec()].concat();
        assert_eq!(whole(&deep), Some(Came::Other("a list of 1".to_owned())));
    }
}
