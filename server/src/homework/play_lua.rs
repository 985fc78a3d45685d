//! Plays a schedule in Redis: the learner's scripts one after the other, and every key before and after as the
//! grader reads it. It decides nothing about right or wrong but that a script must end and leave the server alive.

use std::collections::BTreeMap;
use std::time::Duration;

use locks::event::{Param, Reply};
use locks::homework::Mistake;
use tokio::time::timeout;

use super::evidence::{Evidence, short};
use super::sandbox::redis::Sandbox;
use super::sandbox::resp::{Came, Resp};
use super::schedule::{Arg, Replica, Step, command, printable};
use super::starved::{Had, kept_waiting};
use super::stop::{Stop, Violation};

/// How long a script may run; then the server is killed, because nothing else is sure to end it.
const DEADLINE: Duration = Duration::from_secs(2);
/// How long the end of a server may take after it closed its connections.
const END_LIMIT: Duration = Duration::from_millis(500);

/// A key: its value, and when it expires in milliseconds since the Unix epoch.
pub type Keys = BTreeMap<Vec<u8>, (Vec<u8>, Option<i64>)>;

/// What was seen of a step.
#[derive(Debug)]
pub struct Seen {
    /// The answer of the last script, if it ran.
    pub answer: Option<Came>,
    /// Every key after the step.
    pub keys: Keys,
}

/// Judges what was seen, step by step, against a model of its own.
pub trait Oracle: Send {
    /// Take in a step; a rule that it broke.
    fn judge(&mut self, step: &Step, seen: &Seen) -> Result<(), Violation>;
}

/// A submission: up to four scripts, and the line on which each begins.
#[derive(Clone, Debug)]
pub struct Scripts {
    parts: Vec<(String, u32)>,
}

impl Scripts {
    /// Most scripts of one submission.
    pub const MOST: usize = 4;

    /// Scripts stand between lines of `---`.
    pub fn read(text: &str) -> Result<Scripts, Mistake> {
        let mut parts = vec![(String::new(), 1)];
        for (line, number) in text.split_inclusive('\n').zip(1..) {
            match parts.last_mut() {
                Some((part, _)) if line.trim_end() != "---" => part.push_str(line),
                _ => parts.push((String::new(), number + 1)),
            }
        }
        if parts.len() > Scripts::MOST {
            let message = format!("at most {} scripts, and these are {}", Scripts::MOST, parts.len());
            return Err(Mistake { message, ..Mistake::default() });
        }
        Ok(Scripts { parts })
    }

    /// That text as a single script.
    pub fn one(text: &str) -> Scripts {
        Scripts { parts: vec![(text.to_owned(), 1)] }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.parts.len()
    }
}

/// A replica's release that is under way: what it was given, the next script, and the answer of the one before.
struct Pending {
    key: Vec<u8>,
    token: Vec<u8>,
    next: usize,
    before: Vec<u8>,
}

/// See the module.
pub struct Play<'a> {
    sandbox: &'a mut Sandbox,
    scripts: &'a Scripts,
    evidence: &'a mut Evidence,
    learner: Option<Resp>,
    pending: BTreeMap<Replica, Pending>,
    keys: Keys,
}

/// Play a schedule from its beginning to its end, or to where it stops.
pub async fn play(
    sandbox: &mut Sandbox,
    scripts: &Scripts,
    steps: &[Step],
    oracle: &mut dyn Oracle,
    evidence: &mut Evidence,
) -> Result<(), Stop> {
    let (pending, keys) = (BTreeMap::new(), Keys::new());
    let mut play = Play { sandbox, scripts, evidence, learner: None, pending, keys };
    for empty in [vec!["SCRIPT", "FLUSH", "SYNC"], vec!["FLUSHALL"]] {
        let parts: Vec<Vec<u8>> = empty.into_iter().map(|word| word.as_bytes().to_vec()).collect();
        play.admin(&parts).await?;
    }
    for step in steps {
        play.evidence.step(step.action());
        let seen = play.step(step).await;
        play.evidence.stepped();
        oracle.judge(step, &seen?)?;
    }
    Ok(())
}

impl Play<'_> {
    async fn step(&mut self, step: &Step) -> Result<Seen, Stop> {
        let mut answer = None;
        match step {
            Step::Submit(by, args) => {
                self.begin(by, args);
                answer = Some(self.run(by, usize::MAX).await?);
            }
            Step::Send(by, args, gate) => {
                self.begin(by, args);
                let before = gate.and_then(|gate| gate.rsplit('-').next()?.parse::<usize>().ok());
                answer = Some(self.run(by, before.map_or(usize::MAX, |number| number - 1)).await?);
            }
            Step::Answer(by) => answer = Some(self.run(by.replica, usize::MAX).await?),
            Step::Elapse(ms) => self.elapse(*ms).await?,
            Step::Redis(parts) => {
                let said = self.admin(parts).await?;
                self.evidence.outsider(&command(parts), &said);
            }
            Step::Wait(ms) => tokio::time::sleep(Duration::from_millis(*ms)).await,
            _ => return Err(Stop::Lab("this exercise has no sessions".to_owned())),
        }
        self.read_keys().await?;
        Ok(Seen { answer, keys: self.keys.clone() })
    }

    fn begin(&mut self, by: Replica, args: &[Arg]) {
        let mut args = args.iter().map(Arg::bytes);
        let (key, token) = (args.next().unwrap_or_default(), args.next().unwrap_or_default());
        self.pending.insert(by, Pending { key, token, next: 0, before: Vec::new() });
    }

    /// Run a replica's scripts up to that one; the answer of the last that ran.
    async fn run(&mut self, by: Replica, until: usize) -> Result<Came, Stop> {
        let mut last = Came::Nil;
        let Some(mut pending) = self.pending.remove(by) else { return Ok(last) };
        while pending.next < until.min(self.scripts.len()) {
            last = self.script(by, &pending).await?;
            pending.before = match &last {
                Came::Int(number) => number.to_string().into_bytes(),
                Came::Text(text) => text.clone(),
                _ => Vec::new(),
            };
            pending.next += 1;
        }
        self.pending.insert(by, pending);
        Ok(last)
    }

    async fn script(&mut self, by: Replica, pending: &Pending) -> Result<Came, Stop> {
        let scripts = self.scripts;
        let Some((text, first_line)) = scripts.parts.get(pending.next) else { return Ok(Came::Nil) };
        if self.learner.is_none() {
            self.learner = Some(self.sandbox.learner().await.map_err(Stop::Lab)?);
        }
        self.evidence.session(by, "submission", self.sandbox.pid());
        let Some(learner) = &mut self.learner else { return Ok(Came::Nil) };
        let name = if pending.next == 0 { "release".to_owned() } else { format!("release-{}", pending.next + 1) };
        let params = [&pending.key, &pending.token, &pending.before].map(|part| Param::Text(printable(part)));
        self.evidence.sent(by, &name, text, params.to_vec(), DEADLINE.as_millis() as u64);
        let parts = [&b"EVAL"[..], text.as_bytes(), b"1", &pending.key, &pending.token, &pending.before];
        let had = Had::of(self.sandbox.pid());
        let came = timeout(DEADLINE, learner.ask(&parts)).await;
        let reply = match &came {
            Ok(came) => reply(came),
            Err(_) => Reply::Unknown,
        };
        self.evidence.answered(by, &name, reply);
        match came {
            Err(_) => {
                let busy = kept_waiting(self.sandbox.pid(), had);
                self.sandbox.kill().await;
                if let Some(why) = busy {
                    return Err(Stop::Lab(why));
                }
                Err(Stop::Mistake(Mistake {
                    message: format!(
                        "your script was not over after {} s. A script that has written cannot be stopped, so its \
                         server was killed",
                        DEADLINE.as_secs()
                    ),
                    still_running: Some(format!("script {} of {by}'s release", pending.next + 1)),
                    ..Mistake::default()
                }))
            }
            Ok(Came::Refused(words)) => Err(Stop::Mistake(refused(&words, *first_line))),
            Ok(Came::Closed | Came::TooLong) => {
                if self.sandbox.ends_within(END_LIMIT).await {
                    return Err(Stop::Died);
                }
                let message = "the answer was longer than 1 MB, and the server closed the connection".to_owned();
                Err(Stop::Mistake(Mistake { message, ..Mistake::default() }))
            }
            Ok(came) => {
                if matches!(came, Came::Other(_)) {
                    // What follows such an answer may be anything.
                    self.learner = None;
                }
                Ok(came)
            }
        }
    }

    /// A command of the grader's own; the answer in words.
    async fn admin(&mut self, parts: &[Vec<u8>]) -> Result<String, Stop> {
        let mut command = redis::Cmd::new();
        parts.iter().for_each(|part| _ = command.arg(part));
        let answer: redis::Value = self.asked(command).await?;
        Ok(match answer {
            redis::Value::Nil => "(nil)".to_owned(),
            redis::Value::Okay => "OK".to_owned(),
            redis::Value::Int(number) => number.to_string(),
            redis::Value::BulkString(bytes) => printable(&bytes),
            redis::Value::SimpleString(text) => text,
            _ => "(more)".to_owned(),
        })
    }

    async fn asked<T: redis::FromRedisValue>(&mut self, command: redis::Cmd) -> Result<T, Stop> {
        let answer = command.query_async(self.sandbox.admin()).await;
        self.heard(answer).await
    }

    /// The answer to the grader's own command, or why there is none.
    async fn heard<T>(&self, answer: redis::RedisResult<T>) -> Result<T, Stop> {
        match answer {
            Ok(answer) => Ok(answer),
            Err(_) if self.sandbox.ends_within(END_LIMIT).await => Err(Stop::Died),
            Err(error) => Err(Stop::Lab(format!("the attempt's Redis: {error}"))),
        }
    }

    async fn elapse(&mut self, ms: i64) -> Result<(), Stop> {
        for (key, (_, expires_ms)) in self.keys.clone() {
            if let Some(at) = expires_ms {
                let mut command = redis::cmd("PEXPIREAT");
                command.arg(key).arg(at - ms);
                self.asked::<i64>(command).await?;
            }
        }
        Ok(())
    }

    /// Read every key, and write down those that changed.
    async fn read_keys(&mut self) -> Result<(), Stop> {
        let mut all = redis::cmd("KEYS");
        all.arg("*");
        let mut keys = Keys::new();
        let names = self.asked::<Vec<Vec<u8>>>(all).await?;
        if !names.is_empty() {
            let mut read = redis::pipe();
            for name in &names {
                read.cmd("GET").arg(name).cmd("PEXPIRETIME").arg(name);
            }
            let read = read.query_async::<Vec<redis::Value>>(self.sandbox.admin()).await;
            let read = self.heard(read).await?;
            for (name, pair) in names.into_iter().zip(read.chunks(2)) {
                if let [redis::Value::BulkString(value), redis::Value::Int(expires)] = pair {
                    keys.insert(name, (value.clone(), (*expires >= 0).then_some(*expires)));
                }
            }
        }
        let now_ms = chrono::Utc::now().timestamp_millis();
        let mut names: Vec<&Vec<u8>> = keys.keys().chain(self.keys.keys()).collect();
        names.sort();
        names.dedup();
        for name in names {
            match (self.keys.get(name), keys.get(name)) {
                (before, after) if before == after => {}
                (_, Some((value, expires))) => {
                    let pttl_ms = expires.map_or(-1, |at| at - now_ms);
                    self.evidence.key(&printable(name), Some(printable(value)), pttl_ms);
                }
                (_, None) => _ = self.evidence.key(&printable(name), None, -2),
            }
        }
        self.keys = keys;
        Ok(())
    }
}

/// Redis' own words, without what it adds for itself, and the line in the submission.
fn refused(words: &str, first_line: u32) -> Mistake {
    let line = words.split("user_script:").nth(1).and_then(|rest| {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u32>().ok()
    });
    let said = words.split(" script: ").next().unwrap_or(words);
    // A script may put anything into its words.
    let said: String = said.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    Mistake {
        message: short(&said),
        line: line.map(|line| line + first_line - 1),
        code: words.split(' ').next().map(short),
        ..Mistake::default()
    }
}

fn reply(came: &Came) -> Reply {
    match came {
        Came::Int(number) => Reply::Redis(Param::Int(*number)),
        Came::Nil => Reply::Redis(Param::Null),
        Came::Text(text) => Reply::Redis(Param::Text(short(&printable(text)))),
        Came::Other(what) => Reply::Redis(Param::Text(short(what))),
        Came::Refused(words) => {
            let code = words.split(' ').next().unwrap_or_default().to_owned();
            Reply::Refused { code: short(&code), message: short(words) }
        }
        Came::TooLong | Came::Closed => Reply::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_stand_between_lines_and_know_where_they_begin() {
        let scripts = Scripts::read("return 1\n---\nlocal x\nreturn x\n").unwrap();
        assert_eq!(scripts.parts, [("return 1\n".to_owned(), 1), ("local x\nreturn x\n".to_owned(), 3)]);
        assert!(Scripts::read(&"---\n".repeat(4)).is_err());
        let mistake = refused("ERR user_script:2: Script attempted script: f_abc, on @user_script:2.", 3);
        assert_eq!((mistake.line, mistake.message.as_str()), (Some(4), "ERR user_script:2: Script attempted"));
    }
}
