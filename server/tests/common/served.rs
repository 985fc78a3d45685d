//! A lab of a test's own: `aegis serve` on a free port, with data of its own.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{aegis, data_dir};

/// How long an answer may take: grading on real stores, on a busy machine.
const ANSWER: Duration = Duration::from_secs(30);

/// A lab that serves.
pub struct Served {
    /// `http://localhost:<port>`.
    pub url: String,
    pub port: u16,
    pub process: Child,
    pub data: tempfile::TempDir,
}

impl Served {
    /// Start it, and wait until it says where it serves.
    pub fn start() -> Served {
        let data = data_dir();
        let mut process = serve(data.path(), 0).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let url = lines
            .map_while(Result::ok)
            .find_map(|line| line.split_whitespace().find(|word| word.starts_with("http://")).map(str::to_owned))
            .expect("the lab ended before it served");
        let port = url.rsplit(':').next().unwrap().parse().unwrap();
        Served { url, port, process, data }
    }

    /// Send it a signal.
    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(i32::try_from(self.process.id()).unwrap()), signal).unwrap();
    }

    /// End it in order, and start it again on the same data and port.
    pub fn restart(&mut self) {
        self.signal(Signal::SIGTERM);
        self.process.wait().unwrap();
        self.start_again();
    }

    /// Start it again, on the same data and port, once it has ended.
    pub fn start_again(&mut self) {
        self.process = serve(self.data.path(), self.port).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(self.process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains("http://"), "the lab ended before it served: {line}");
    }

    /// Ask with the headers given, `Host` among them only if it is: what comes back until the server closes.
    pub fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut connection = self.connect();
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        write!(connection, "{head}\r\n{body}").unwrap();
        Answer::read(connection)
    }

    /// Ask as a browser does that shows the lab's own pages.
    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[("Host", &format!("localhost:{}", self.port))], "")
    }

    /// A connection with a limit on each read.
    pub fn connect(&self) -> TcpStream {
        let connection = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        connection.set_read_timeout(Some(ANSWER)).unwrap();
        connection
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Ok(pid) = i32::try_from(self.process.id()) {
            let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
        }
        let _ = self.process.wait();
    }
}

/// `aegis serve` with that data on that port.
pub fn serve(data: &Path, port: u16) -> Command {
    let mut command = Command::new(aegis());
    command.args(["serve", "--port", &port.to_string(), "--data-dir"]).arg(data).stdin(Stdio::null());
    command
}

/// An answer, read to its end.
pub struct Answer {
    pub status: u16,
    /// Status line and headers.
    pub head: String,
    pub body: String,
    /// From the question to the end of the answer.
    pub took: Duration,
}

impl Answer {
    fn read(mut connection: TcpStream) -> Answer {
        let began = Instant::now();
        let mut text = Vec::new();
        connection.read_to_end(&mut text).expect("the answer does not end");
        let text = String::from_utf8_lossy(&text).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
        Answer { status, head: head.to_owned(), body: body.to_owned(), took: began.elapsed() }
    }

    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }
}
