//! Learns which session a connection belongs to, from what the replica says anyway: `application_name`
//! in the Postgres startup message, `CLIENT SETNAME` on Redis, a header of each request to the bank.
//! Reads along, changes nothing, and gives up rather than buffer without bound.

use locks::ids::Endpoint;

use crate::bank::wire::SESSION_HEADER;

/// Longest startup message, command or request head that is looked at.
const LONGEST: usize = 16 << 10;

/// Reads along in one connection's requests.
#[derive(Debug)]
pub(super) struct Sniffer {
    protocol: Protocol,
    unread: Vec<u8>,
    session: Option<String>,
}

#[derive(Clone, Copy, Debug)]
enum Protocol {
    Postgres,
    Redis,
    Http,
    /// So many bytes of a request's body are still to come.
    HttpBody(usize),
    /// Nothing more is to be learnt.
    Done,
}

/// What the first part of the unread bytes turned out to be.
enum Read {
    /// Not complete yet.
    Incomplete,
    /// So many bytes, and what they say about the session.
    Part { length: usize, session: Option<String>, then: Protocol },
}

impl Sniffer {
    pub(super) fn new(endpoint: Endpoint) -> Sniffer {
        let protocol = match endpoint {
            Endpoint::Postgres => Protocol::Postgres,
            Endpoint::Redis(_) => Protocol::Redis,
            Endpoint::Bank => Protocol::Http,
            Endpoint::RedisReplica(_) => Protocol::Done,
        };
        Sniffer { protocol, unread: Vec::new(), session: None }
    }

    /// The session, once known.
    pub(super) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// These request bytes were read.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        if matches!(self.protocol, Protocol::Done) {
            return;
        }
        self.unread.extend_from_slice(bytes);
        loop {
            let read = match self.protocol {
                Protocol::Postgres => postgres(&self.unread),
                Protocol::Redis => redis(&self.unread),
                Protocol::Http => http(&self.unread),
                Protocol::HttpBody(left) => body(&self.unread, left),
                Protocol::Done => return self.unread = Vec::new(),
            };
            match read {
                Some(Read::Part { length, session, then }) => {
                    self.unread.drain(..length);
                    self.session = session.or(self.session.take());
                    self.protocol = then;
                }
                Some(Read::Incomplete) if self.unread.len() <= LONGEST => return,
                // Not the protocol that was expected, or too long to wait for.
                Some(Read::Incomplete) | None => self.protocol = Protocol::Done,
            }
        }
    }
}

/// A startup packet: length, version or request code, then pairs of zero-terminated texts.
fn postgres(unread: &[u8]) -> Option<Read> {
    const VERSION_3: u32 = 3 << 16;
    /// Asks for encryption: a packet of its own before the startup message.
    const ENCRYPTION: [u32; 2] = [80_877_103, 80_877_104];
    let (Some(length), Some(code)) = (number(unread, 0), number(unread, 4)) else {
        return Some(Read::Incomplete);
    };
    let length = length as usize;
    if !(8..=LONGEST).contains(&length) {
        return None;
    }
    if unread.len() < length {
        return Some(Read::Incomplete);
    }
    if ENCRYPTION.contains(&code) {
        return Some(Read::Part { length, session: None, then: Protocol::Postgres });
    }
    if code >> 16 != VERSION_3 >> 16 {
        return None;
    }
    let mut texts = unread[8..length].split(|byte| *byte == 0).map(|text| String::from_utf8_lossy(text).into_owned());
    let mut session = None;
    while let (Some(key), Some(value)) = (texts.next(), texts.next()) {
        if key == "application_name" && !value.is_empty() {
            session = Some(value);
        }
    }
    Some(Read::Part { length, session, then: Protocol::Done })
}

fn number(unread: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(unread.get(at..at + 4)?.try_into().ok()?))
}

/// A command: `*count`, then `$length` and the text for each word, lines ended by CR LF.
fn redis(unread: &[u8]) -> Option<Read> {
    fn line(unread: &[u8], at: usize, mark: u8) -> Option<Option<(usize, usize)>> {
        let Some(rest) = unread.get(at..).filter(|rest| !rest.is_empty()) else { return Some(None) };
        let Some(end) = rest.windows(2).position(|two| two == b"\r\n") else { return Some(None) };
        if rest[0] != mark {
            return None;
        }
        Some(Some((std::str::from_utf8(&rest[1..end]).ok()?.parse().ok()?, at + end + 2)))
    }
    let Some((count, mut at)) = line(unread, 0, b'*')? else { return Some(Read::Incomplete) };
    let mut words: Vec<&[u8]> = Vec::new();
    for _ in 0..count {
        let Some((length, start)) = line(unread, at, b'$')? else { return Some(Read::Incomplete) };
        let end = start.checked_add(length)?;
        let Some(word) = unread.get(start..end) else { return Some(Read::Incomplete) };
        words.push(word);
        at = end.checked_add(2)?;
    }
    if unread.len() < at {
        return Some(Read::Incomplete);
    }
    let named = matches!(words[..], [first, second, _]
        if first.eq_ignore_ascii_case(b"CLIENT") && second.eq_ignore_ascii_case(b"SETNAME"));
    let session = named.then(|| String::from_utf8_lossy(words[2]).into_owned());
    let then = if named { Protocol::Done } else { Protocol::Redis };
    Some(Read::Part { length: at, session, then })
}

/// The head of a request.
fn http(unread: &[u8]) -> Option<Read> {
    let Some(end) = unread.windows(4).position(|four| four == b"\r\n\r\n") else { return Some(Read::Incomplete) };
    let head = String::from_utf8_lossy(&unread[..end]);
    let header = |wanted: &str| {
        head.lines()
            .skip(1)
            .filter_map(|line| line.split_once(':'))
            .find_map(|(name, value)| name.trim().eq_ignore_ascii_case(wanted).then(|| value.trim().to_owned()))
    };
    let body = match header("content-length") {
        Some(length) => length.parse().ok()?,
        None => 0,
    };
    Some(Read::Part { length: end + 4, session: header(SESSION_HEADER), then: Protocol::HttpBody(body) })
}

fn body(unread: &[u8], left: usize) -> Option<Read> {
    let here = left.min(unread.len());
    Some(match left - here {
        0 => Read::Part { length: here, session: None, then: Protocol::Http },
        _ if here == 0 => Read::Incomplete,
        still => Read::Part { length: here, session: None, then: Protocol::HttpBody(still) },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is learnt must not depend on how the bytes were cut into pieces.
    fn learnt(endpoint: Endpoint, bytes: &[u8]) -> Option<String> {
        let mut whole = Sniffer::new(endpoint);
        whole.feed(bytes);
        let mut pieces = Sniffer::new(endpoint);
        bytes.iter().for_each(|byte| pieces.feed(&[*byte]));
        assert_eq!(whole.session(), pieces.session());
        whole.session
    }

    fn startup(pairs: &[(&str, &str)]) -> Vec<u8> {
        let mut body = (3u32 << 16).to_be_bytes().to_vec();
        for (key, value) in pairs {
            body.extend_from_slice(format!("{key}\0{value}\0").as_bytes());
        }
        body.push(0);
        [&(body.len() as u32 + 4).to_be_bytes()[..], &body].concat()
    }

    #[test]
    fn postgres_says_it_in_its_startup_message() {
        let named = startup(&[("user", "application_name"), ("application_name", "A.1/settle-invoices/main")]);
        assert_eq!(learnt(Endpoint::Postgres, &named).as_deref(), Some("A.1/settle-invoices/main"));
        let asked_for_encryption = [&8u32.to_be_bytes()[..], &80_877_103u32.to_be_bytes(), &named].concat();
        assert_eq!(learnt(Endpoint::Postgres, &asked_for_encryption).as_deref(), Some("A.1/settle-invoices/main"));
        assert_eq!(learnt(Endpoint::Postgres, &startup(&[("user", "aegis")])), None);
    }

    #[test]
    fn redis_says_it_by_a_command() {
        let set_name = b"*3\r\n$6\r\nclient\r\n$7\r\nSETNAME\r\n$5\r\nA.1/x\r\n";
        let other = b"*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n*4\r\n$6\r\nCLIENT\r\n$7\r\nSETINFO\r\n$1\r\na\r\n$0\r\n\r\n";
        assert_eq!(learnt(Endpoint::Redis(1), &[&other[..], set_name].concat()).as_deref(), Some("A.1/x"));
        assert_eq!(learnt(Endpoint::Redis(1), other), None);
    }

    #[test]
    fn the_bank_is_told_with_each_request() {
        let post = |session: &str, body: &str| {
            format!(
                "POST /settlements HTTP/1.1\r\nX-Aegis-Session: {session}\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            )
        };
        let trap = "\r\n\r\nx-aegis-session: no\r\n\r\n";
        assert_eq!(learnt(Endpoint::Bank, post("A.1/x/effect", trap).as_bytes()).as_deref(), Some("A.1/x/effect"));
        let two = post("A.1/x/effect", trap) + &post("A.1/y/effect", "{}");
        assert_eq!(learnt(Endpoint::Bank, two.as_bytes()).as_deref(), Some("A.1/y/effect"), "connections are reused");
    }

    #[test]
    fn what_is_not_understood_is_let_be() {
        for endpoint in [Endpoint::Postgres, Endpoint::Redis(1), Endpoint::Bank] {
            let mut sniffer = Sniffer::new(endpoint);
            (0..40).for_each(|_| sniffer.feed(&[b'x'; 1024]));
            assert_eq!(sniffer.session(), None);
            assert!(sniffer.unread.len() <= LONGEST + 1024);
        }
    }
}
