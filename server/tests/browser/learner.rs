//! What a learner does on a page of the lesson, by mouse.

use std::time::Duration;

use fantoccini::Locator;

use crate::chrome::Chrome;
use crate::common::served::Served;

/// How long a script of a stage may take on a busy machine.
pub const SCRIPT: Duration = Duration::from_secs(60);

/// A task is proved.
pub fn ticked(task: &str) -> String {
    format!("return document.querySelector('#t-{task} .ev') !== null")
}

/// So many marks of a task are proved.
pub fn marked(task: &str, marks: usize) -> String {
    format!(
        "const of = document.getElementById('t-{task}');
         return of.querySelector('.ev') !== null || of.querySelectorAll('.marks .done > .tick').length >= {marks}"
    )
}

impl Chrome {
    /// Go to a step.
    pub async fn to_step(&self, lab: &Served, step: u8) {
        self.client.goto(&format!("{}/lesson/{step}", lab.url)).await.unwrap();
        let there = format!("return document.querySelector('main.lesson')?.dataset.step === '{step}'");
        self.until("the step", &there).await;
    }

    /// Choose an answer by its words.
    pub async fn label(&self, text: &str) {
        let path = format!("//label[contains(normalize-space(.), '{text}')]");
        self.client.find(Locator::XPath(&path)).await.expect(text).click().await.unwrap();
    }

    /// Answer a question: one of its answers, by its value.
    pub async fn answer(&self, question: &str, value: &str) {
        for (what, css) in [
            ("the answer", format!("#q-{question} input[value='{value}']")),
            ("keep it", format!("#q-{question} button[name=predict]")),
        ] {
            self.client.find(Locator::Css(&css)).await.expect(what).click().await.unwrap();
        }
        let kept = format!("return document.querySelector('#q-{question} .mine input')?.value === '{value}'");
        self.until("the answer is kept", &kept).await;
    }

    /// Open a stage by the button in the text; returns when its replicas are there.
    pub async fn open_stage(&self, stage: &str) {
        let run = "return document.querySelector('#stage .run-id')?.getAttribute('href') ?? ''";
        let before = self.script(run).await;
        let button = self.client.find(Locator::Id(&format!("open-{stage}"))).await.expect(stage);
        button.click().await.unwrap();
        let opened = format!(
            "return document.querySelector('.lst-h code')?.textContent === '{stage}' && hydrated()
               && document.querySelector('#stage .run-id').getAttribute('href') !== {before}"
        );
        self.until(stage, &opened).await;
    }

    /// Open a stage and let its script prove so many marks of a task.
    pub async fn play(&self, stage: &str, task: &str, marks: usize) {
        self.open_stage(stage).await;
        self.until_within(SCRIPT, &format!("{stage} proves {marks} of task {task}"), &marked(task, marks)).await;
    }

    /// A button of a task; returns when it is done.
    pub async fn move_by(&self, text: &str) {
        self.press(text).await;
        self.until(text, "return document.querySelector('[aria-busy]') === null").await;
    }

    /// Step a replica until a task is proved.
    pub async fn steps(&self, replica: &str, task: &str) {
        for _ in 0..12 {
            if self.script(&ticked(task)).await == true {
                return;
            }
            self.move_by(&format!("Step {replica}")).await;
        }
        self.until(&format!("task {task}"), &ticked(task)).await;
    }

    /// What a task's hints say that is missing.
    pub async fn misses(&self, task: &str, miss: &str) {
        let missing = format!("return document.querySelector('#t-{task} .hints')?.dataset.miss === '{miss}'");
        self.until(&format!("{miss} is what task {task} misses"), &missing).await;
    }

    /// All tasks of the step are proved.
    pub async fn step_is_done(&self) {
        let done = "return document.querySelector('#l-tasks li:not(.done)') === null
            && document.querySelector('#l-steps [aria-current] .sn.done') !== null";
        self.until("the whole step", done).await;
    }
}
