//! What a learner comes to who is interrupted: the page reloaded, left and come back to, the server restarted, somebody
//! else on the same server.

use crate::common::served::Served;
use crate::hand::Hand;
use crate::learner::{Learner, ticked};

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the page and a browser: scripts/test runs it"]
async fn nothing_is_lost_and_nobody_sees_the_other() {
    let mut lab = Served::start();
    let (one, other) = tokio::join!(Learner::open(Hand::Mouse, 1440, 900), Learner::open(Hand::Mouse, 390, 844));
    for chrome in [&one, &other] {
        chrome.to_step(&lab, 3).await;
    }
    one.answer("p1", "2").await;
    one.open_stage("look-then-take").await;
    one.steps("A", "a").await;
    one.move_by("Reset, fire to both").await;
    one.move_by("Step A").await;
    let looked = "return document.querySelector('[data-m=\"g:A\"]')?.textContent === 'at gate send:acquire'";
    one.until("A has looked", looked).await;

    // Somebody else: nothing said, nothing proved, no stage; on a phone what is asked stands before what is done.
    other.client.refresh().await.unwrap();
    let fresh = "return document.querySelector('#q-p1 .mine, #stage, #l-tasks li.done') === null";
    other.until("the other's page knows nothing of it", fresh).await;
    let first = "const top = css => [...document.querySelectorAll(css)].filter(e => e.offsetParent)
            .map(e => e.getBoundingClientRect().top).sort((a, b) => a - b)[0];
        return top('#q-p1') < top('button[name=open]')";
    other.until("the prediction stands above the first stage", first).await;
    other.open_stage("look-then-take").await;
    one.until("A still stands where it stood", looked).await;

    // Reloaded, left, and come back to: the same run, and A where it was.
    let run = "return document.querySelector('#stage .run-id').getAttribute('href')";
    let before = one.script(run).await;
    for way in ["reload", "back", "forward"] {
        match way {
            "reload" => one.client.refresh().await.unwrap(),
            "back" => {
                one.to_step(&lab, 4).await;
                one.client.back().await.unwrap();
            }
            _ => {
                one.client.forward().await.unwrap();
                one.until("step 4", "return document.querySelector('main.lesson')?.dataset.step === '4'").await;
                one.client.back().await.unwrap();
            }
        }
        one.until(way, "return document.querySelector('main.lesson')?.dataset.step === '3' && hydrated()").await;
        assert_eq!(one.script(run).await, before, "{way}");
        one.until("A has looked", looked).await;
        one.until("what was said stands", "return document.querySelector('#q-p1 .mine input')?.value === '2'").await;
        one.until("what was proved stands", &ticked("a")).await;
    }

    // The server ends in the middle of it, and comes back.
    lab.signal(nix::sys::signal::Signal::SIGTERM);
    lab.process.wait().unwrap();
    let said = "return document.querySelector('.notices').textContent.includes('lost')
        && document.getElementById('l-said').textContent.includes('not answer')";
    one.until("the page says so", said).await;
    one.move_by("Step A").await;
    one.until("a move says so, too", said).await;
    lab.start_again();
    one.until("it says that this run was closed", "return document.querySelector('.notices a') !== null").await;
    one.until("and takes back what it said", "return document.getElementById('l-said').textContent === ''").await;
    one.press("Go on").await;
    let again = "return document.querySelector('main.lesson')?.dataset.step === '3'
        && document.querySelector('.lst-none .btn-main') !== null";
    one.until("the page offers the stage that there was", again).await;
    one.until("what was proved stands", &ticked("a")).await;
    one.open_stage("look-then-take").await;
    one.move_by("Reset, fire to both").await;
    for replica in ["A", "B", "A", "B", "A", "B"] {
        one.move_by(&format!("Step {replica}")).await;
    }
    one.until("and the learner goes on", &ticked("b")).await;

    // While the server was away, the browser said so in its console, too.
    for chrome in [one, other] {
        let errors: Vec<String> = chrome.console().await.into_iter().filter(|line| line.contains("SEVERE")).collect();
        let away = |line: &String| line.contains("ERR_CONNECTION") || line.contains("ERR_INCOMPLETE_CHUNKED");
        assert!(errors.iter().all(away), "{}", errors.join("\n"));
        chrome.client.clone().close().await.unwrap();
    }
}
