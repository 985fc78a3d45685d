//! Every kind of fault, set through the menus by mouse or by keyboard: seen on the stage, and in the log.

use std::time::{Duration, Instant};

use fantoccini::Locator;
use fantoccini::actions::{InputSource, KeyAction, KeyActions, MOUSE_BUTTON_LEFT, MouseActions, PointerAction};
use serde_json::Value;

use crate::chrome::Chrome;
use crate::common::served::Served;

/// How long what was asked for may take to be done.
const LOG_LIMIT: Duration = Duration::from_secs(60);

const DOWN: char = '\u{e015}';
const ENTER: char = '\u{e007}';
const ESCAPE: char = '\u{e00c}';

/// How somebody chooses.
#[derive(Clone, Copy)]
enum By {
    Mouse,
    Keys,
}

/// One fault: of what, by which entries, what the stage then shows of it, and what the log calls it.
struct Case {
    to: &'static str,
    by: By,
    path: &'static [&'static str],
    seen: &'static str,
    logged: &'static str,
}

const CASES: [Case; 15] = [
    case("replica A", By::Keys, &["Pause"], "return card('A').classList.contains('stopped')", "pause"),
    case("replica A", By::Mouse, &["Continue"], "return !card('A').classList.contains('stopped')", ""),
    case("replica C", By::Mouse, &["Kill"], "return card('C').classList.contains('dead')", "kill"),
    case("replica C", By::Keys, &["Start"], "return !card('C').classList.contains('dead')", ""),
    case("link A postgres", By::Mouse, &["Cut"], "return named('link A postgres').includes('cut')", "cut"),
    case("link A postgres", By::Keys, &["Heal with a reset"], "return !named('link A postgres').includes('cut')", ""),
    case(
        "link B bank",
        By::Keys,
        &["Delay", "300 ms"],
        "return named('link B bank').includes('delayed 300 ms')",
        "delay",
    ),
    case("link B bank", By::Mouse, &["Hold requests"], "return named('link B bank').includes('requests held')", "hold"),
    case("link B bank", By::Keys, &["Let requests go"], "return !named('link B bank').includes('held')", ""),
    case(
        "store redis-1",
        By::Keys,
        &["Let its clock jump", "+ 1,000 ms"],
        "return caused('clock of redis-1')",
        "node_clock",
    ),
    case("store redis-2", By::Mouse, &["Kill"], "return named('store redis-2').includes('dead')", "kill"),
    case("store redis-2", By::Mouse, &["Start"], "return named('store redis-2').includes('restarted')", ""),
    case("store postgres", By::Keys, &["Restart"], "return named('store postgres').includes('restarted')", "restart"),
    case("replica B", By::Mouse, &["End its backends"], "return caused('backends of B')", "terminate"),
    case("replica B", By::Keys, &["Shift its clock", "+ 5,000 ms"], "return caused('clock of B')", "clock"),
];

/// Only where there is a pair of nodes.
const FAILOVER: Case = case(
    "store redis-1",
    By::Mouse,
    &["Fail over"],
    "return named('store redis-1').includes('its replica took over')",
    "failover",
);

const fn case(
    to: &'static str,
    by: By,
    path: &'static [&'static str],
    seen: &'static str,
    logged: &'static str,
) -> Case {
    Case { to, by, path, seen, logged }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the page and a browser: scripts/test runs it"]
async fn every_fault_is_set_by_mouse_or_keys_and_seen() {
    let lab = Served::start();
    let chrome = Chrome::open(1440, 900).await;
    chrome.client.goto(&format!("{}/lab", lab.url)).await.unwrap();
    chrome.until("the map", "return hydrated() && named('store redis-5') === 'redis-5: not used'").await;
    chrome.choose("Strategy", "pg-lease").await;
    for case in CASES.iter().chain([&FAILOVER]) {
        if case.logged == FAILOVER.logged {
            chrome.choose("Strategy", "redis-set-nx/wait-1").await;
            chrome.until("a pair", "return named('store redis-1/replica') !== ''").await;
        }
        chrome.set(case).await;
        chrome.until(&format!("{} of {} is seen", case.path.join(" "), case.to), case.seen).await;
        chrome.until("no refusal", "return document.querySelector('.notice') === null").await;
        chrome.keep(&format!("fault-{}-{}", case.to.replace([' ', '/'], "-"), case.path[0].replace(' ', "-"))).await;
        if !case.logged.is_empty() {
            chrome.until_logged(case.logged).await;
        }
    }

    // A menu that is left by Escape gives the focus back to what opened it, one list at a time.
    chrome.by_keys("link A postgres", &["Delay"]).await;
    chrome.press_key(ESCAPE).await;
    chrome.until("the list before", "return document.querySelector('.pop').textContent.includes('Cut')").await;
    chrome.press_key(ESCAPE).await;
    chrome.until("no menu", "return document.querySelector('.pop') === null").await;
    let focused = chrome.script("return document.activeElement.getAttribute('data-to')").await;
    assert_eq!(focused, "link A postgres");

    // Looking back, a menu says that it acts on the present.
    chrome.client.find(Locator::Css("[aria-label^='One event back']")).await.unwrap().click().await.unwrap();
    chrome.until("the log is here", "return document.querySelector('.headt').textContent.startsWith('#')").await;
    chrome.open_menu("store bank").await;
    chrome
        .until("it says so", "return document.querySelector('.pop').textContent.includes('acts on the live run, +')")
        .await;
    chrome.press_key(ESCAPE).await;
    chrome.close().await;
}

impl Chrome {
    /// The log tells of a fault of that kind. What was asked for may be seen before it is done.
    async fn until_logged(&self, what: &str) {
        let end = Instant::now() + LOG_LIMIT;
        let began = |event: &Value| event["kind"] == "fault_began" && event["what"]["fault_kind"] == what;
        while !self.log().await.iter().any(began) {
            assert!(Instant::now() < end, "the log has no {what} within {LOG_LIMIT:?}");
        }
    }

    async fn set(&self, case: &Case) {
        match case.by {
            By::Mouse => {
                self.open_menu(case.to).await;
                for name in case.path {
                    let path = format!("//*[@role='menu']//button[span[.='{name}']]");
                    let item = self.client.wait().for_element(Locator::XPath(&path)).await.expect(name);
                    item.click().await.unwrap();
                }
            }
            By::Keys => self.by_keys(case.to, case.path).await,
        }
    }

    /// Click on a target of the map, or on a card's button, where nothing lies over it.
    async fn open_menu(&self, to: &str) {
        let script = format!("return point('{to}')");
        self.until(&format!("{to} can be pointed at"), &format!("return point('{to}') !== null")).await;
        let point = self.script(&script).await;
        let (x, y) = (point[0].as_f64().unwrap() as i64, point[1].as_f64().unwrap() as i64);
        let click = MouseActions::new("mouse".to_owned())
            .then(PointerAction::MoveTo { duration: None, x: x as f64, y: y as f64 })
            .then(PointerAction::Down { button: MOUSE_BUTTON_LEFT })
            .then(PointerAction::Up { button: MOUSE_BUTTON_LEFT });
        self.client.perform_actions(click).await.unwrap();
        self.until("its menu", "return document.querySelector('.pop [role=menuitem]') !== null").await;
    }

    /// To whatever has the focus: the map draws its targets anew whenever something changes, so an element
    /// that was looked up first may be gone.
    async fn press_key(&self, key: char) {
        let press = KeyActions::new("keyboard".to_owned())
            .then(KeyAction::Down { value: key })
            .then(KeyAction::Up { value: key });
        self.client.perform_actions(press).await.unwrap();
    }

    async fn by_keys(&self, to: &str, path: &[&str]) {
        self.script(&format!("target('{to}').focus()")).await;
        self.press_key(ENTER).await;
        for name in path {
            // The focus follows when the list is there: a key that came before it would go to the map.
            let there = format!(
                "return document.activeElement.closest('.pop') !== null
                   && [...document.querySelectorAll('.pop [role=menuitem]')].some(i => text(i) === '{name}')"
            );
            self.until(&format!("the menu offers {name}"), &there).await;
            for _ in 0..20 {
                if self.script("return text(document.activeElement)").await == *name {
                    break;
                }
                self.press_key(DOWN).await;
            }
            self.press_key(ENTER).await;
        }
    }
}
