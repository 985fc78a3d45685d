//! The learner's sessions in Postgres: just enough of its protocol, so that nothing that a statement can make
//! the server say is believed, buffered without bound, repeated or answered. One statement a time by Parse, Bind
//! and Execute with every parameter's type declared; an answer is read later, so that a statement that waits can
//! be left waiting.

use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::time::timeout;

/// Most bytes of one answer.
const MOST_BYTES: usize = 1 << 20;
/// Most rows that are kept of one answer: no right one has more than a single row.
const MOST_ROWS: usize = 100;
/// How long a connection may take until it is ready.
const START_LIMIT: Duration = Duration::from_secs(3);

/// A parameter, as text, with the number of its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// `text`, `bigint` or `timestamptz` by number.
    pub oid: u32,
    /// As Postgres reads it.
    pub text: String,
}

/// Numbers of types.
pub const TEXT: u32 = 25;
/// `bigint`.
pub const BIGINT: u32 = 20;
/// `timestamptz`.
pub const TIMESTAMPTZ: u32 = 1184;

/// Postgres' own words about what is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// SQLSTATE.
    pub code: String,
    /// The message.
    pub message: String,
    /// Where in the statement, in characters from 1.
    pub position: Option<usize>,
}

/// What came of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Came {
    /// Rows (none, if it returns none), and what the server says of itself.
    Rows {
        /// Values as text.
        rows: Vec<Vec<Option<String>>>,
        /// `INSERT 0 1`, `UPDATE 3`.
        tag: String,
    },
    /// It was refused.
    Refused(Refusal),
    /// It wants to copy, which nobody answers. The session is over.
    Copy,
    /// It answered more than is read. The session is over.
    TooLong,
    /// The session is over: closed by the server.
    Closed,
}

/// A session.
pub struct Wire {
    stream: UnixStream,
    bytes: Vec<u8>,
    /// The backend's pid.
    pid: u32,
    /// As the last `ReadyForQuery` says: I, T or E.
    status: u8,
    over: bool,
}

/// One message of the server.
struct Message {
    tag: u8,
    body: Vec<u8>,
}

impl Wire {
    /// Open a session with settings that hold from its start.
    pub async fn open(socket: &Path, user: &str, database: &str, options: &str) -> Result<Wire, String> {
        let opened = async {
            let stream = UnixStream::connect(socket).await.map_err(|error| error.to_string())?;
            let mut wire = Wire { stream, bytes: Vec::new(), pid: 0, status: b'I', over: false };
            let mut body = 196_608u32.to_be_bytes().to_vec();
            for (key, value) in [("user", user), ("database", database), ("options", options), ("application_name", "")]
            {
                body.extend(key.bytes().chain([0]).chain(value.bytes()).chain([0]));
            }
            body.push(0);
            let length = (body.len() as u32 + 4).to_be_bytes();
            wire.write(&[&length[..], &body].concat()).await.ok_or("the server closed the connection")?;
            loop {
                let message = wire.message(MOST_BYTES).await.map_err(|came| format!("{came:?}"))?;
                match (message.tag, message.body.as_slice()) {
                    (b'R', [0, 0, 0, 0, ..]) | (b'S' | b'N', _) => {}
                    (b'K', body) => wire.pid = body.get(..4).map_or(0, number),
                    (b'Z', _) => return Ok(wire),
                    (b'E', body) => return Err(refusal(body).message),
                    (tag, _) => return Err(format!("an unexpected message {:?}", char::from(tag))),
                }
            }
        };
        timeout(START_LIMIT, opened).await.unwrap_or_else(|_| Err("no answer in time".to_owned()))
    }

    /// The backend's pid.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Is a transaction open (or failed)?
    pub fn in_transaction(&self) -> bool {
        self.status != b'I'
    }

    /// Is the session over?
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Send a statement of the learner's.
    pub async fn send(&mut self, sql: &str, bound: &[Bound]) {
        let count = (bound.len() as u16).to_be_bytes();
        let mut parse = [&[0], sql.as_bytes(), &[0], &count].concat();
        bound.iter().for_each(|one| parse.extend(one.oid.to_be_bytes()));
        // The unnamed portal of the unnamed statement, all parameters and results as text.
        let mut bind = [&[0, 0, 0, 0][..], &count].concat();
        for one in bound {
            bind.extend((one.text.len() as u32).to_be_bytes());
            bind.extend(one.text.bytes());
        }
        bind.extend([0, 0]);
        let all = [
            message(b'P', &parse),
            message(b'B', &bind),
            message(b'D', b"P\0"),
            message(b'E', &[0, 0, 0, 0, 0]),
            message(b'S', &[]),
        ];
        // A closed connection shows when the answer is read.
        let _ = self.write(&all.concat()).await;
    }

    /// Send a statement of the grader's own, without parameters.
    pub async fn send_plain(&mut self, sql: &str) {
        let _ = self.write(&message(b'Q', &[sql.as_bytes(), &[0]].concat())).await;
    }

    /// Returns when what was sent last is answered, or the session is over. May be cancelled and asked for again:
    /// nothing that was read is lost.
    pub async fn ready(&mut self) {
        while !self.over && !self.has_answer() {
            if self.read().await.is_none() {
                return;
            }
        }
    }

    /// Read the answer to what was sent last.
    pub async fn answer(&mut self) -> Came {
        let (mut rows, mut tag, mut refused, mut read) = (Vec::new(), String::new(), None, 0);
        loop {
            let message = match self.message(MOST_BYTES.saturating_sub(read)).await {
                Ok(message) => message,
                // The last words of a session that was ended say why.
                Err(Came::Closed) => return refused.map_or(Came::Closed, Came::Refused),
                Err(came) => return came,
            };
            read += message.body.len() + 5;
            match message.tag {
                b'D' if rows.len() < MOST_ROWS => match row(&message.body) {
                    Some(row) => rows.push(row),
                    None => return self.end(Came::Closed),
                },
                b'C' => tag = text(&message.body),
                b'E' => refused = refused.or(Some(refusal(&message.body))),
                b'G' | b'H' | b'W' => return self.end(Came::Copy),
                b'Z' => {
                    self.status = message.body.first().copied().unwrap_or(b'I');
                    return refused.map_or(Came::Rows { rows, tag }, Came::Refused);
                }
                _ => {}
            }
        }
    }

    fn end(&mut self, came: Came) -> Came {
        self.over = true;
        came
    }

    async fn write(&mut self, bytes: &[u8]) -> Option<()> {
        self.stream.write_all(bytes).await.ok()
    }

    /// Read some bytes; `None` when there are no more to come.
    async fn read(&mut self) -> Option<()> {
        let read = self.stream.read_buf(&mut self.bytes).await.unwrap_or(0);
        (read > 0).then_some(())
    }

    /// Does what was read hold a whole answer, or more than is read of one?
    fn has_answer(&self) -> bool {
        if self.bytes.len() > MOST_BYTES {
            return true;
        }
        let mut rest = self.bytes.as_slice();
        while let Some((&tag, after)) = rest.split_first() {
            if matches!(tag, b'Z' | b'G' | b'H' | b'W') {
                return true;
            }
            let Some(length) = after.get(..4).map(|length| number(length) as usize) else { return false };
            let Some(next) = after.get(length..) else { return length > MOST_BYTES };
            rest = next;
        }
        false
    }

    async fn message(&mut self, most: usize) -> Result<Message, Came> {
        loop {
            if let Some(length) = self.bytes.get(1..5) {
                let length = number(length) as usize;
                if length < 4 || length > most {
                    return Err(self.end(Came::TooLong));
                }
                if self.bytes.len() > length {
                    let body = self.bytes[5..=length].to_vec();
                    let tag = self.bytes[0];
                    self.bytes.drain(..=length);
                    return Ok(Message { tag, body });
                }
            }
            if self.over || self.read().await.is_none() {
                return Err(self.end(Came::Closed));
            }
        }
    }
}

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32 + 4).to_be_bytes();
    [&[tag], &length[..], body].concat()
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.strip_suffix(&[0]).unwrap_or(bytes)).into_owned()
}

/// The values of a row.
fn row(mut body: &[u8]) -> Option<Vec<Option<String>>> {
    let count = number(body.get(..2)?);
    body = body.get(2..)?;
    let mut values = Vec::new();
    for _ in 0..count {
        let length = number(body.get(..4)?);
        body = body.get(4..)?;
        if length == u32::MAX {
            values.push(None);
            continue;
        }
        values.push(Some(text(body.get(..length as usize)?)));
        body = body.get(length as usize..)?;
    }
    Some(values)
}

fn refusal(body: &[u8]) -> Refusal {
    let mut refusal = Refusal::default();
    for field in body.split(|byte| *byte == 0) {
        let Some((&code, value)) = field.split_first() else { continue };
        let value = String::from_utf8_lossy(value).into_owned();
        match code {
            b'C' => refusal.code = value,
            b'M' => refusal.message = value,
            b'P' => refusal.position = value.parse().ok(),
            _ => {}
        }
    }
    refusal
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn answered(bytes: &[u8]) -> Came {
        let (stream, mut server) = UnixStream::pair().unwrap();
        let said = bytes.to_vec();
        // It is more than a socket holds, and not all of it is read.
        let saying = tokio::spawn(async move { server.write_all(&said).await });
        let came = Wire { stream, bytes: Vec::new(), pid: 0, status: b'I', over: false }.answer().await;
        drop(saying.await);
        came
    }

    #[tokio::test]
    async fn an_answer_is_its_rows() {
        let row = message(b'D', &[&[0, 2, 0, 0, 0, 1][..], b"x", &[255, 255, 255, 255]].concat());
        let bytes = [row, message(b'C', b"SELECT 1\0"), message(b'Z', b"T")].concat();
        let rows = vec![vec![Some("x".to_owned()), None]];
        assert_eq!(answered(&bytes).await, Came::Rows { rows, tag: "SELECT 1".to_owned() });
    }

    #[tokio::test]
    async fn what_no_right_answer_holds_ends_the_session() {
        assert_eq!(answered(&message(b'G', &[0, 0, 0])).await, Came::Copy);
        assert_eq!(answered(&[b'D', 0x7f, 0, 0, 0, 1]).await, Came::TooLong);
        assert_eq!(answered(b"D").await, Came::Closed);
        let many = message(b'D', &[0; 1000]).repeat(2000);
        assert_eq!(answered(&many).await, Came::TooLong);
        let words = message(b'E', b"SFATAL\0C57P01\0Mterminated\0P7\0\0");
        let refusal = Refusal { code: "57P01".to_owned(), message: "terminated".to_owned(), position: Some(7) };
        assert_eq!(answered(&words).await, Came::Refused(refusal));
    }
}
