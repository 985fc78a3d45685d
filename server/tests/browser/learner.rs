//! What a learner does on the lesson's pages, in the words of the page. Whether by mouse or by keyboard is their
//! hand's matter.

use std::ops::Deref;
use std::time::Duration;

use serde_json::Value;

use crate::chrome::Chrome;
use crate::common::served::Served;
use crate::hand::{Hand, by, saying};

/// How long a script of a stage may take on a busy machine.
pub const SCRIPT: Duration = Duration::from_secs(60);

/// The replica is at that gate, as the stage says it.
pub fn at(replica: &str, gate: &str) -> String {
    format!("return document.querySelector('[data-m=\"g:{replica}\"]')?.textContent === 'at gate {gate}'")
}

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

/// The page is one of that step, of this page's own script.
fn is_step(step: u8) -> String {
    format!("return document.querySelector('main.lesson')?.dataset.step === '{step}'")
}

/// Somebody who learns, in a browser of their own.
pub struct Learner {
    chrome: Chrome,
    hand: Hand,
}

impl Deref for Learner {
    type Target = Chrome;

    fn deref(&self) -> &Chrome {
        &self.chrome
    }
}

impl Learner {
    /// With a window of that size. Who goes by keyboard wants less motion, too.
    pub async fn open(hand: Hand, width: u32, height: u32) -> Learner {
        let chrome = match hand {
            Hand::Mouse => Chrome::open(width, height).await,
            Hand::Keyboard => Chrome::calm(width, height).await,
        };
        Learner { chrome, hand }
    }

    /// Fail if the console has an error, then close.
    pub async fn close(self) {
        self.chrome.close().await;
    }

    /// Press what a selector names.
    pub async fn press_by(&self, css: &str) {
        self.hand.press(self, &by(css)).await;
    }

    /// Press what says this.
    pub async fn press(&self, text: &str) {
        self.hand.press(self, &saying(text)).await;
    }

    /// Go to a step by its address.
    pub async fn to_step(&self, lab: &Served, step: u8) {
        self.client.goto(&format!("{}/lesson/{step}", lab.url)).await.unwrap();
        self.until("the step", &is_step(step)).await;
    }

    /// Go to a step by the page's own links: the steps above the text, or the lesson's agenda.
    pub async fn on_to(&self, step: u8) {
        let link = format!("#l-steps a[href='/lesson/{step}']");
        if self.script(&format!("return {} === null", by(&link))).await == true {
            self.press_by("header nav a[href='/lesson']").await;
            self.until("the agenda", "return document.querySelector('main.agenda') !== null").await;
            self.press_by(&format!(".agenda-l a[href='/lesson/{step}']")).await;
        } else {
            self.press_by(&link).await;
        }
        self.until("the step", &is_step(step)).await;
    }

    /// Answer a question: one of its answers, by its value.
    pub async fn answer(&self, question: &str, value: &str) {
        self.hand.tick(self, &format!("#q-{question}"), value).await;
        self.press_by(&format!("#q-{question} button[name=predict]")).await;
        let kept = format!("return document.querySelector('#q-{question} .mine input')?.value === '{value}'");
        self.until("the answer is kept", &kept).await;
    }

    /// Choose of a list.
    pub async fn choose(&self, css: &str, value: &str) {
        self.hand.choose(self, &by(css), value).await;
    }

    /// Write a text in the place of what is there.
    pub async fn write(&self, css: &str, text: &str) {
        self.hand.write(self, &by(css), text).await;
    }

    /// Choose a file.
    pub async fn give_file(&self, css: &str, path: &str) {
        self.hand.give_file(self, &by(css), path).await;
    }

    /// Open a stage by the button in the text; returns when its replicas are there.
    pub async fn open_stage(&self, stage: &str) {
        let run = "return document.querySelector('#stage .run-id')?.getAttribute('href') ?? ''";
        let before = self.script(run).await;
        self.press_by(&format!("[id='open-{stage}']")).await;
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

    /// Let a replica pass a gate on the stage, by its button or its key.
    pub async fn step_on_stage(&self, nth: u8, replica: &str, to: &str) {
        match self.hand {
            Hand::Mouse => self.press_by(&format!(".steps [data-step='{replica}']")).await,
            Hand::Keyboard => self.key(char::from(b'0' + nth)).await,
        }
        self.until(&format!("{replica} comes to {to}"), &at(replica, to)).await;
    }

    /// Take the latest move back, by its button or its key.
    pub async fn step_back(&self) {
        match self.hand {
            Hand::Mouse => self.press_by("[data-back]").await,
            Hand::Keyboard => self.key('z').await,
        }
    }

    /// What a task's hints say that is missing.
    pub async fn misses(&self, task: &str, miss: &str) {
        let missing = format!("return document.querySelector('#t-{task} .hints')?.dataset.miss === '{miss}'");
        self.until(&format!("{miss} is what task {task} misses"), &missing).await;
    }

    /// Load the page anew in the middle of a step: what was said and proved is still there, and the stage.
    pub async fn reload(&self) {
        let Value::Array(before) = self.script(KEPT).await else { panic!("the page cannot be read") };
        self.client.refresh().await.unwrap();
        let kept = format!(
            "const now = (() => {{ {KEPT} }})(), before = {};
             return before.every(what => now.includes(what)) && (!document.getElementById('stage') || hydrated())",
            Value::from(before)
        );
        self.until("nothing is lost by a reload", &kept).await;
    }

    /// All tasks of the step are proved.
    pub async fn step_is_done(&self) {
        let done = "return document.querySelector('#l-tasks li:not(.done)') === null
            && document.querySelector('#l-steps [aria-current] .sn.done') !== null";
        self.until("the whole step", done).await;
    }
}

/// What was said and proved on a page, and the run that goes on, each as a line.
const KEPT: &str = "return [
    ...[...document.querySelectorAll('.ask .mine input')].map(input => input.closest('.ask').id + input.value),
    ...[...document.querySelectorAll('#l-tasks li.done a')].map(link => link.textContent),
    ...[...document.querySelectorAll('#stage .run-id')].map(link => link.getAttribute('href'))]";
