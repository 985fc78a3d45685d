//! The text of the exercises: Markdown with three embeds. The first line is `# Title`, then the question, quoted;
//! `:::contract` says by `name | meaning` what an answer is given and must give, `:::schedules` by `key | title` what
//! is checked, in order, `:::discussion` what is said to whoever passed. A file that cannot be read is a defect of the
//! build: tests read all of them, and a page that needs one says so instead of showing half of it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::lesson::markup::{Markup, inline};

/// The files, by the exercise's name.
const FILES: &[(&str, &str)] = &[
    ("release", include_str!("../../content/homework/release.md")),
    ("lease", include_str!("../../content/homework/lease.md")),
    ("keep", include_str!("../../content/homework/keep.md")),
    ("claim", include_str!("../../content/homework/claim.md")),
    ("fence", include_str!("../../content/homework/fence.md")),
    ("redlock", include_str!("../../content/homework/redlock.md")),
    ("break", include_str!("../../content/homework/break.md")),
    ("choose", include_str!("../../content/homework/choose.md")),
];

/// The text of one exercise.
#[derive(Debug, Default)]
pub struct Text {
    /// Its question, as markup.
    pub question: String,
    /// The same in plain words, for the list.
    pub plain: String,
    /// The task, as markup.
    pub task: String,
    /// What an answer is given and must give: name and meaning, as markup.
    pub contract: Vec<(String, String)>,
    /// What is checked, in order: its key and its title.
    pub schedules: Vec<(String, String)>,
    /// All of it is looked for at once, so that nothing was passed before what failed.
    pub together: bool,
    /// For whoever passed, as markup.
    pub discussion: String,
}

static ALL: LazyLock<Result<BTreeMap<&'static str, Text>, Vec<String>>> = LazyLock::new(|| {
    let (mut texts, mut problems) = (BTreeMap::new(), Vec::new());
    for (slug, source) in FILES {
        let (text, found) = read(slug, source);
        problems.extend(found.into_iter().map(|problem| format!("{slug}.md: {problem}")));
        texts.insert(*slug, text);
    }
    if problems.is_empty() { Ok(texts) } else { Err(problems) }
});

impl Text {
    /// All of them, or everything that is wrong with them.
    pub fn all() -> Result<&'static BTreeMap<&'static str, Text>, &'static [String]> {
        ALL.as_ref().map_err(Vec::as_slice)
    }

    /// That of an exercise.
    pub fn of(slug: &str) -> Option<&'static Text> {
        Text::all().ok()?.get(slug)
    }
}

/// The files as they are, for tests of style.
#[cfg(test)]
pub(super) fn sources() -> impl Iterator<Item = (&'static str, &'static str)> {
    FILES.iter().copied()
}

pub(super) fn read(slug: &str, source: &str) -> (Text, Vec<String>) {
    let (mut text, mut problems) = (Text::default(), Vec::new());
    let title = locks::homework::exercise(slug).map(|exercise| exercise.title);
    let mut lines = source.lines();
    if lines.next().and_then(|line| line.strip_prefix("# ")) != title {
        problems.push(format!("it does not begin with `# {}`", title.unwrap_or("the exercise's title")));
    }
    let lines: Vec<&str> = lines.skip_while(|line| line.is_empty()).collect();
    let quoted = lines.iter().take_while(|line| line.starts_with('>')).count();
    let question: Vec<&str> = lines[..quoted].iter().map(|line| line.trim_start_matches('>').trim()).collect();
    text.plain = question.join(" ");
    text.question = line(&text.plain, &mut problems);
    let mut rest = lines[quoted..].iter();
    let mut task = Vec::new();
    while let Some(next) = rest.next() {
        let Some(head) = next.strip_prefix(":::") else {
            task.push(*next);
            continue;
        };
        let body: Vec<&str> = rest.by_ref().take_while(|line| **line != ":::").copied().collect();
        match head {
            "contract" => text.contract = pairs(&body, &mut problems, line),
            "schedules" | "schedules together" => {
                text.together = head.ends_with("together");
                text.schedules = pairs(&body, &mut problems, |words, _| words.to_owned());
            }
            "discussion" => text.discussion = markup(&body.join("\n"), &mut problems),
            other => problems.push(format!("no embed is called {other:?}; there are contract, schedules, discussion")),
        }
    }
    text.task = markup(&task.join("\n"), &mut problems);
    for (what, missing) in [
        ("question", text.question.is_empty()),
        ("task", text.task.is_empty()),
        ("contract", text.contract.is_empty()),
        ("list of schedules", text.schedules.is_empty()),
        ("discussion", text.discussion.is_empty()),
    ] {
        if missing {
            problems.push(format!("it has no {what}"));
        }
    }
    (text, problems)
}

fn markup(text: &str, problems: &mut Vec<String>) -> String {
    let mut claims = Vec::new();
    let html = Markup { terms: &[] }.html(text, problems, &mut claims);
    if !claims.is_empty() {
        problems.push("claims about the matrix are the lesson's".to_owned());
    }
    html
}

/// One line, without its paragraph.
fn line(text: &str, problems: &mut Vec<String>) -> String {
    inline(&markup(text, problems))
}

fn pairs(
    lines: &[&str],
    problems: &mut Vec<String>,
    made: impl Fn(&str, &mut Vec<String>) -> String,
) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for line in lines.iter().filter(|line| !line.trim().is_empty()) {
        match line.split_once(" | ") {
            Some((key, words)) => found.push((key.trim().to_owned(), made(words.trim(), problems))),
            None => problems.push(format!("{line:?} is not `name | words`")),
        }
    }
    found
}
