//! The text of the lesson, read once. A file that cannot be read is a defect of the build: tests read all of
//! them, and a page that needs one says so instead of showing half of it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use locks::action::Action;

use super::read;

/// The files, by the number of their step.
const FILES: &[(u8, &str)] = &[
    (1, include_str!("../../content/lesson/1.md")),
    (2, include_str!("../../content/lesson/2.md")),
    (3, include_str!("../../content/lesson/3.md")),
    (4, include_str!("../../content/lesson/4.md")),
    (5, include_str!("../../content/lesson/5.md")),
    (6, include_str!("../../content/lesson/6.md")),
    (7, include_str!("../../content/lesson/7.md")),
    (8, include_str!("../../content/lesson/8.md")),
];

const GLOSSARY: &str = include_str!("../../content/lesson/glossary.md");

/// How many steps the agenda has.
pub const STEPS: u8 = 8;

/// Titles of the agenda, short and whole; a step without text is not linked.
pub const AGENDA: [(&str, &str); STEPS as usize] = [
    ("The single-instance illusion", "One scheduler was fine. What does a second one change?"),
    ("Where the lock sits", "Around the tick, the handler or the effect: what does each place leave out?"),
    ("Tick, acquire, run, release", "Be the scheduler, and get two replicas in with everybody healthy."),
    ("Data flow", "One slot through every row and key; then no answer comes."),
    ("State machines", "When do belief and truth part?"),
    ("Strategies", "The same fault under each of them: who lets B in?"),
    ("Build, test, demo", "How do you know that your test tests?"),
    ("Trade-offs", "What would you sign?"),
];

/// The whole text.
#[derive(Debug)]
pub struct Lesson {
    /// Steps that have a text, by number.
    pub steps: BTreeMap<u8, Text>,
    /// Terms, in the order of the glossary.
    pub terms: Vec<Term>,
}

/// A word that the lesson explains.
#[derive(Clone, Debug)]
pub struct Term {
    /// The word.
    pub word: String,
    /// Its explanation, as markup.
    pub html: String,
}

/// The text of one step.
#[derive(Debug)]
pub struct Text {
    /// Its number.
    pub number: u8,
    /// Its heading.
    pub title: String,
    /// Its question, as markup.
    pub question: String,
    /// What follows, in order.
    pub parts: Vec<Part>,
    /// What it says of cells of the matrix.
    pub claims: Vec<Claim>,
}

/// A part of a step's text.
#[derive(Debug)]
pub enum Part {
    /// Markup.
    Prose(String),
    /// A question that is asked before anything runs.
    Prediction(Question),
    /// A stage that can be opened.
    Stage(Opens),
    /// A task.
    Task(TaskText),
    /// The explanation; what it gives away, if anything, and its markup.
    Explain(String, String),
    /// How a real system does it.
    Real(String, String),
    /// A scenario to write and run; what stands there at first.
    Editor(String),
    /// A quiz.
    Quiz(Vec<Question>),
    /// What strategies cost, measured for the learner; what stands above it.
    Costs(String),
    /// A command to be given in a terminal; what it does.
    Command(String, String),
}

/// A question with its answers.
#[derive(Clone, Debug)]
pub struct Question {
    /// Its name within the step.
    pub id: String,
    /// As markup.
    pub html: String,
    /// What may be answered; none: a number.
    pub choices: Vec<Choice>,
    /// Several answers may be chosen at once.
    pub several: bool,
    /// The task whose proof shows the right answer.
    pub shown_by: Option<String>,
    /// What stands beside the answer once it is shown, as markup.
    pub after: String,
}

/// One answer.
#[derive(Clone, Debug)]
pub struct Choice {
    /// As the form has it.
    pub value: String,
    /// As markup.
    pub html: String,
    /// The right one.
    pub right: bool,
}

impl Question {
    /// Can that be answered to it?
    pub fn takes(&self, values: &[impl AsRef<str>]) -> bool {
        let fits = |value: &str| match self.choices.is_empty() {
            true => value.parse::<u32>().is_ok_and(|n| n <= 1000),
            false => self.choices.iter().any(|choice| choice.value == value),
        };
        let several = values.len() > 1 && !self.several;
        !values.is_empty() && !several && values.iter().all(|value| fits(value.as_ref()))
    }

    /// Is that answer right? `None` if none is known to be.
    pub fn is_right(&self, answer: &str) -> Option<bool> {
        if !self.choices.iter().any(|choice| choice.right) {
            return None;
        }
        let said: Vec<&str> = answer.split(',').collect();
        Some(self.choices.iter().all(|choice| choice.right == said.contains(&choice.value.as_str())))
    }
}

/// A button that opens a stage, with what stands above it.
#[derive(Clone, Debug)]
pub struct Opens {
    /// The stage's name.
    pub name: String,
    /// What the button says.
    pub label: String,
}

/// A task's text.
#[derive(Clone, Debug)]
pub struct TaskText {
    /// Its letter.
    pub id: String,
    /// In a few words.
    pub title: String,
    /// As markup.
    pub html: String,
    /// Stages that it opens.
    pub stages: Vec<Opens>,
    /// What its buttons do to the stage.
    pub moves: Vec<Move>,
    /// By what a run misses: a nudge, a pointer, the moves.
    pub hints: BTreeMap<String, [String; 3]>,
    /// What is said of each mark.
    pub marks: BTreeMap<String, String>,
}

/// A button that does something to the stage.
#[derive(Clone, Debug)]
pub struct Move {
    /// What it says.
    pub label: String,
    /// What it does, in order.
    pub actions: Vec<Action>,
}

/// Something that the text says of a cell of the matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The strategy.
    pub strategy: String,
    /// The fault.
    pub fault: String,
    /// The guard, if not none.
    pub guard: Option<String>,
    /// The word: covered or not covered.
    pub covered: bool,
}

static ALL: LazyLock<Result<Lesson, Vec<String>>> = LazyLock::new(|| {
    let mut problems = Vec::new();
    let (terms, found) = read::glossary(GLOSSARY);
    problems.extend(found.into_iter().map(|problem| format!("glossary.md: {problem}")));
    let known: Vec<String> = terms.iter().map(|term| term.word.clone()).collect();
    let mut steps = BTreeMap::new();
    for (number, text) in FILES {
        let (text, found) = read::step(*number, text, &known);
        problems.extend(found.into_iter().map(|problem| format!("{number}.md: {problem}")));
        steps.insert(*number, text);
    }
    if problems.is_empty() { Ok(Lesson { steps, terms }) } else { Err(problems) }
});

impl Lesson {
    /// The text, or everything that is wrong with it.
    pub fn get() -> Result<&'static Lesson, &'static [String]> {
        ALL.as_ref().map_err(Vec::as_slice)
    }

    /// The text of a step.
    pub fn step(number: u8) -> Option<&'static Text> {
        Lesson::get().ok()?.steps.get(&number)
    }
}

impl Text {
    /// Its tasks.
    pub fn tasks(&self) -> impl Iterator<Item = &TaskText> {
        self.parts.iter().filter_map(|part| if let Part::Task(task) = part { Some(task) } else { None })
    }

    /// The task of that letter.
    pub fn task(&self, id: &str) -> Option<&TaskText> {
        self.tasks().find(|task| task.id == id)
    }

    /// Its questions, those of a quiz among them.
    pub fn questions(&self) -> impl Iterator<Item = &Question> {
        self.parts.iter().flat_map(|part| match part {
            Part::Prediction(question) => std::slice::from_ref(question),
            Part::Quiz(questions) => questions.as_slice(),
            _ => &[],
        })
    }

    /// The stages that it opens, in order.
    pub fn stages(&self) -> impl Iterator<Item = &Opens> {
        self.parts.iter().flat_map(|part| match part {
            Part::Stage(opens) => std::slice::from_ref(opens),
            Part::Task(task) => task.stages.as_slice(),
            _ => &[],
        })
    }
}

/// The files as they are, for tests of style.
#[cfg(test)]
pub(super) fn sources() -> impl Iterator<Item = (u8, &'static str)> {
    FILES.iter().copied()
}
