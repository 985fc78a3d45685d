//! The two ways of using a page: by mouse, or by keyboard alone, with no more than what a keyboard sends. A script
//! that goes over a hand is walked both ways, and there is no second copy of it.

use fantoccini::actions::{InputSource, KeyAction, KeyActions};
use fantoccini::elements::{Element, ElementRef};
use serde_json::Value;

use crate::chrome::Chrome;

const TAB: char = '\u{e004}';
const ENTER: char = '\u{e007}';
const SHIFT: char = '\u{e008}';
const CONTROL: char = '\u{e009}';
const DOWN: char = '\u{e015}';
const UP: char = '\u{e013}';

/// More answers than any question has.
const ANSWERS: usize = 12;
/// So often the way to a place is looked up; from then on the tabulator is pressed step by step.
const LOOKS: usize = 12;
/// More stops than any page has.
const STOPS: usize = 600;

/// Elements by what they say, and how many stops of the tabulator it is from here to one: less than none, backwards.
const WAYS: &str = "
    const saying = text => [...document.querySelectorAll('a, button, summary')].find(element =>
      element.checkVisibility() && element.textContent.replace(/\\s+/g, ' ').includes(text));
    const way = to => {
      const here = document.activeElement;
      if (!to || here === to) return to ? 0 : null;
      const stops = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')]
        .filter(element => element.tabIndex >= 0 && !element.disabled && element.checkVisibility())
        .filter(element => element.type !== 'radio' || element === here || element ===
          (element.form.querySelector('input:checked') ?? element.form.querySelector('input')));
      const from = stops.indexOf(here);
      return from < 0 ? 1 : stops.indexOf(to) - from || 1;
    };
";

/// How somebody uses a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hand {
    Mouse,
    Keyboard,
}

/// Something to press, choose or fill in, as an expression of the page.
pub fn by(css: &str) -> String {
    format!("document.querySelector(\"{css}\")")
}

/// The first link, button or fold that says this.
pub fn saying(text: &str) -> String {
    format!("saying('{text}')")
}

impl Hand {
    /// Follow a link or press a button.
    pub async fn press(self, chrome: &Chrome, what: &str) {
        match self {
            Hand::Mouse => chrome.element(what).await.click().await.unwrap_or_else(|error| panic!("{what}: {error}")),
            Hand::Keyboard => {
                chrome.tab_to(what).await;
                chrome.key(ENTER).await;
            }
        }
    }

    /// Tick one answer of a question: a radio or a checkbox.
    pub async fn tick(self, chrome: &Chrome, question: &str, value: &str) {
        let answer = by(&format!("{question} input[value='{value}']"));
        if self == Hand::Mouse {
            return chrome.element(&answer).await.click().await.unwrap();
        }
        if chrome.script(&format!("return {answer}.type === 'checkbox'")).await == true {
            chrome.tab_to(&answer).await;
            return chrome.key(' ').await;
        }
        // The tabulator stops at what is chosen, or at the first; the arrows go from answer to answer, and choose.
        let stop = format!("{} ?? {}", by(&format!("{question} input:checked")), by(&format!("{question} input")));
        chrome.tab_to(&format!("({stop})")).await;
        chrome.key(' ').await;
        for _ in 0..ANSWERS {
            if chrome.script(&format!("return {answer}.checked && {answer} === document.activeElement")).await == true {
                return;
            }
            chrome.key(DOWN).await;
        }
        panic!("the arrows do not come to {value}");
    }

    /// Choose of a list.
    pub async fn choose(self, chrome: &Chrome, list: &str, value: &str) {
        if self == Hand::Mouse {
            return chrome.element(list).await.select_by_value(value).await.expect(value);
        }
        chrome.tab_to(list).await;
        let steps = format!(
            "const list = {list}; return [...list.options].findIndex(of => of.value === '{value}') - list.selectedIndex"
        );
        let steps = chrome.script(&steps).await.as_i64().expect(value);
        chrome.keys(&String::from(if steps > 0 { DOWN } else { UP }).repeat(steps.unsigned_abs() as usize)).await;
        assert_eq!(chrome.script(&format!("return {list}.value")).await, value, "the arrows chose something else");
    }

    /// Write a text in the place of what is there.
    pub async fn write(self, chrome: &Chrome, area: &str, text: &str) {
        match self {
            Hand::Mouse => chrome.element(area).await.click().await.unwrap(),
            Hand::Keyboard => chrome.tab_to(area).await,
        }
        chrome.held(CONTROL, "a").await;
        chrome.keys(&text.replace('\n', &ENTER.to_string())).await;
    }

    /// Choose a file. Its dialog is the system's: this only goes to where one opens it.
    pub async fn give_file(self, chrome: &Chrome, input: &str, path: &str) {
        if self == Hand::Keyboard {
            chrome.tab_to(input).await;
        }
        chrome.element(input).await.send_keys(path).await.unwrap();
    }
}

impl Chrome {
    /// An element, once it is there.
    async fn element(&self, what: &str) -> Element {
        self.until(what, &format!("{WAYS} return {what} != null")).await;
        let found = self.script(&format!("{WAYS} return {what}")).await;
        let id = found.as_object().and_then(|of| of.values().next()).and_then(Value::as_str);
        let id = id.unwrap_or_else(|| panic!("{what} is no element: {found}"));
        Element::from_element_id(self.client.clone(), ElementRef::from(id.to_owned()))
    }

    /// Press a key, whatever has the focus.
    pub async fn key(&self, key: char) {
        self.keys(&key.to_string()).await;
    }

    /// Press keys, one behind the other.
    pub async fn keys(&self, keys: &str) {
        self.act(keys.chars().flat_map(pressed)).await;
    }

    /// Press keys while another is held.
    async fn held(&self, other: char, keys: &str) {
        let keys = keys.chars().flat_map(pressed);
        let all = std::iter::once(KeyAction::Down { value: other }).chain(keys);
        self.act(all.chain([KeyAction::Up { value: other }])).await;
    }

    async fn act(&self, actions: impl IntoIterator<Item = KeyAction>) {
        let keys = KeyActions::new("keyboard".to_owned());
        self.client.perform_actions(actions.into_iter().fold(keys, |all, one| all.then(one))).await.unwrap();
    }

    /// Go to an element by the tabulator, forwards or backwards, whichever is nearer. Somebody who looks must see
    /// where the focus is.
    pub async fn tab_to(&self, what: &str) {
        self.until(what, &format!("{WAYS} return {what} != null")).await;
        for look in 0..LOOKS + STOPS {
            match self.script(&format!("{WAYS} return way({what})")).await.as_i64() {
                Some(0) => {
                    let seen = "return document.activeElement.matches(':focus-visible')";
                    assert_eq!(self.script(seen).await, true, "nobody sees that {what} has the focus");
                    return;
                }
                // It is just being replaced.
                None => self.until(what, &format!("{WAYS} return {what} != null")).await,
                // Not every stop may have been foreseen: in the end each is looked at.
                Some(stops) => {
                    let times = if look < LOOKS { stops.unsigned_abs() as usize } else { 1 };
                    let tabs = TAB.to_string().repeat(times);
                    match stops > 0 || look >= LOOKS {
                        true => self.keys(&tabs).await,
                        false => self.held(SHIFT, &tabs).await,
                    }
                }
            }
        }
        panic!("the keyboard does not come to {what}");
    }
}

fn pressed(key: char) -> [KeyAction; 2] {
    [KeyAction::Down { value: key }, KeyAction::Up { value: key }]
}
