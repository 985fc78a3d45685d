//! Reads a step's file: Markdown with typed embeds. The first line is `# Title`, the second paragraph, quoted,
//! the question. An embed begins with `:::kind words` and ends with `:::`; what it may hold is said at its reader.
//! Nothing is ignored: an unknown embed, term or word is a problem.

use std::collections::BTreeMap;

use locks::action::Action;

use super::content::{Choice, Claim, Move, Opens, Part, Question, TaskText, Term, Text};
use super::markup::{Markup, inline};

/// What is read, and what was wrong.
struct Reader<'a> {
    markup: Markup<'a>,
    problems: Vec<String>,
    claims: Vec<Claim>,
}

/// The glossary: `## word`, then its explanation.
pub(super) fn glossary(text: &str) -> (Vec<Term>, Vec<String>) {
    let words: Vec<String> = text.lines().filter_map(|line| line.strip_prefix("## ")).map(str::to_owned).collect();
    let mut reader = Reader::new(&words);
    let mut terms = Vec::new();
    for section in text.split("\n## ").skip(1) {
        let (word, rest) = section.split_once('\n').unwrap_or((section, ""));
        let html = reader.html(rest);
        if html.is_empty() {
            reader.problems.push(format!("nothing is said of {word:?}"));
        }
        terms.push(Term { word: word.trim().to_owned(), html });
    }
    (terms, reader.problems)
}

/// A step.
pub(super) fn step(number: u8, text: &str, terms: &[String]) -> (Text, Vec<String>) {
    let mut reader = Reader::new(terms);
    let (title, rest) = text.split_once('\n').unwrap_or((text, ""));
    let title = title.strip_prefix("# ").unwrap_or_else(|| {
        reader.problems.push("it does not begin with `# Title`".to_owned());
        title
    });
    let (quoted, rest): (Vec<&str>, Vec<&str>) = {
        let mut lines = rest.lines().skip_while(|line| line.is_empty()).peekable();
        let mut quoted = Vec::new();
        while let Some(line) = lines.next_if(|line| line.starts_with('>')) {
            quoted.push(line.trim_start_matches('>').trim());
        }
        (quoted, lines.collect())
    };
    if quoted.is_empty() {
        reader.problems.push("no question, as `> …`, stands behind the title".to_owned());
    }
    let question = reader.line(&quoted.join(" "));
    let parts = reader.parts(&rest);
    let text = Text { number, title: title.trim().to_owned(), question, parts, claims: reader.claims };
    (text, reader.problems)
}

impl<'a> Reader<'a> {
    fn new(terms: &'a [String]) -> Reader<'a> {
        Reader { markup: Markup { terms }, problems: Vec::new(), claims: Vec::new() }
    }

    /// Paragraphs.
    fn html(&mut self, text: &str) -> String {
        self.markup.html(text, &mut self.problems, &mut self.claims)
    }

    /// One line, without its paragraph.
    fn line(&mut self, text: &str) -> String {
        inline(&self.html(text))
    }

    fn parts(&mut self, lines: &[&str]) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut prose: Vec<&str> = Vec::new();
        let mut lines = lines.iter();
        while let Some(line) = lines.next() {
            let Some(head) = line.strip_prefix(":::") else {
                prose.push(line);
                continue;
            };
            self.prose(&mut prose, &mut parts);
            let body: Vec<&str> = lines.by_ref().take_while(|line| **line != ":::").copied().collect();
            let (kind, words) = head.split_once(' ').unwrap_or((head, ""));
            match kind {
                "prediction" => parts.push(Part::Prediction(self.question(words, &body))),
                "stage" => parts.push(Part::Stage(self.opens(words))),
                "task" => {
                    let task = self.task(words, &body);
                    parts.push(Part::Task(task));
                }
                "explain" => {
                    let html = self.html(&body.join("\n"));
                    parts.push(Part::Explain(words.trim().to_owned(), html));
                }
                "real" => {
                    let html = self.html(&body.join("\n"));
                    parts.push(Part::Real(words.trim().to_owned(), html));
                }
                "editor" => parts.push(Part::Editor(body.join("\n") + "\n")),
                "quiz" => parts.push(Part::Quiz(self.quiz(&body))),
                "costs" => {
                    let html = self.html(&body.join("\n"));
                    parts.push(Part::Costs(html));
                }
                "command" => {
                    let html = self.line(words.trim());
                    parts.push(Part::Command(html, body.join("\n")));
                }
                other => self.problems.push(format!(
                    "no embed is called {other:?}; there are prediction, stage, task, explain, real, editor, \
                     quiz, costs, command"
                )),
            }
        }
        self.prose(&mut prose, &mut parts);
        parts
    }

    fn prose(&mut self, lines: &mut Vec<&str>, parts: &mut Vec<Part>) {
        let text = lines.join("\n");
        lines.clear();
        if !text.trim().is_empty() {
            parts.push(Part::Prose(self.html(&text)));
        }
    }

    /// `name | What the button says`
    fn opens(&mut self, words: &str) -> Opens {
        let (name, label) = words.split_once('|').unwrap_or((words, ""));
        let (name, label) = (name.trim().to_owned(), label.trim().to_owned());
        if name.is_empty() || label.is_empty() {
            self.problems.push(format!("a stage is opened by `name | What the button says`, not {words:?}"));
        }
        Opens { name, label }
    }

    /// `id [several] [by task]`, then the question; `- value | text`, `- value * | text` for a right answer;
    /// `= ` before what stands beside it once it is shown. Without answers it asks for a number.
    fn question(&mut self, words: &str, body: &[&str]) -> Question {
        let mut words = words.split_whitespace();
        let id = words.next().unwrap_or_default().to_owned();
        let (mut several, mut shown_by) = (false, None);
        while let Some(word) = words.next() {
            match word {
                "several" => several = true,
                "by" => shown_by = words.next().map(str::to_owned),
                other => self.problems.push(format!("question {id}: {other:?} is neither `several` nor `by`")),
            }
        }
        let (mut asked, mut after, mut choices) = (Vec::new(), Vec::new(), Vec::new());
        for line in body {
            if let Some(choice) = line.strip_prefix("- ") {
                let (value, text) = choice.split_once('|').unwrap_or((choice, ""));
                let (value, right) = match value.trim().strip_suffix('*') {
                    Some(value) => (value.trim(), true),
                    None => (value.trim(), false),
                };
                if text.trim().is_empty() {
                    self.problems.push(format!("question {id}: an answer is `- value | text`, not {line:?}"));
                }
                choices.push(Choice { value: value.to_owned(), html: self.line(text.trim()), right });
            } else if let Some(text) = line.strip_prefix("= ") {
                after.push(text);
            } else {
                asked.push(*line);
            }
        }
        if id.is_empty() || asked.is_empty() || after.is_empty() {
            self.problems.push(format!("question {id:?} lacks its name, its question or what is said after it"));
        }
        let (html, after) = (self.html(&asked.join("\n")), self.html(&after.join("\n")));
        Question { id, html, choices, several, shown_by, after }
    }

    /// `? question`, its answers, `= ` what is said after it; one behind the other.
    fn quiz(&mut self, body: &[&str]) -> Vec<Question> {
        let mut questions: Vec<Vec<&str>> = Vec::new();
        for line in body.iter().filter(|line| !line.trim().is_empty()) {
            match (line.strip_prefix("? "), questions.last_mut()) {
                (Some(asked), _) => questions.push(vec![asked]),
                (None, Some(question)) => question.push(line),
                (None, None) => self.problems.push(format!("a quiz begins with `? question`, not {line:?}")),
            }
        }
        (1..).zip(questions).map(|(n, body)| self.question(&format!("quiz-{n}"), &body)).collect()
    }

    /// `letter | In a few words`, then what to do; `+ stage | button` opens a stage, `! label <- actions` does
    /// something to it, `? miss :: nudge :: pointer :: moves` helps, `% mark | text` says what a mark is.
    fn task(&mut self, words: &str, body: &[&str]) -> TaskText {
        let (id, title) = words.split_once('|').unwrap_or((words, ""));
        let (id, title) = (id.trim().to_owned(), title.trim().to_owned());
        let mut prose = Vec::new();
        let mut task = TaskText {
            id,
            title,
            html: String::new(),
            stages: Vec::new(),
            moves: Vec::new(),
            hints: BTreeMap::new(),
            marks: BTreeMap::new(),
        };
        for line in body {
            if let Some(words) = line.strip_prefix("+ ") {
                task.stages.push(self.opens(words));
            } else if let Some(words) = line.strip_prefix("! ") {
                task.moves.extend(self.moves(words));
            } else if let Some(words) = line.strip_prefix("? ") {
                let mut said = words.split(" :: ").map(str::trim);
                let miss = said.next().unwrap_or_default().to_owned();
                let hints: Vec<String> = said.map(|text| self.line(text)).collect();
                match <[String; 3]>::try_from(hints) {
                    Ok(hints) => drop(task.hints.insert(miss, hints)),
                    Err(_) => self.problems.push(format!("task {}: hints for {miss:?} are not three", task.id)),
                }
            } else if let Some((mark, text)) = line.strip_prefix("% ").and_then(|words| words.split_once('|')) {
                let html = self.line(text.trim());
                task.marks.insert(mark.trim().to_owned(), html);
            } else {
                prose.push(*line);
            }
        }
        task.html = self.html(&prose.join("\n"));
        if task.id.is_empty() || task.title.is_empty() || task.html.is_empty() {
            self.problems.push(format!("task {:?} lacks its letter, its title or its text", task.id));
        }
        task
    }

    /// `label <- [ {action}, … ]`, actions in the short form of scenario files, as JSON.
    fn moves(&mut self, words: &str) -> Option<Move> {
        let (label, actions) = words.split_once("<-")?;
        let read: Result<Vec<serde_json::Value>, _> = serde_json::from_str(actions.trim());
        let actions: Result<Vec<Action>, String> = match read {
            Ok(values) => values.iter().map(|value| Action::read_json(value).map_err(|why| why.to_string())).collect(),
            Err(error) => Err(error.to_string()),
        };
        match actions {
            Ok(actions) => Some(Move { label: label.trim().to_owned(), actions }),
            Err(why) => {
                self.problems.push(format!("the moves of {label:?} cannot be read: {why}"));
                None
            }
        }
    }
}
