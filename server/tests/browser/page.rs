//! What a learner does on the lab's page, in the words of the page.

use fantoccini::Locator;
use serde_json::Value;

use crate::chrome::Chrome;

impl Chrome {
    /// Follow a link or press a button that shows this text.
    pub async fn press(&self, text: &str) {
        let path = format!("//*[self::a or self::button][contains(normalize-space(.), '{text}')]");
        let found = self.client.wait().for_element(Locator::XPath(&path)).await.unwrap_or_else(|error| {
            panic!("nothing to press says {text:?}: {error}");
        });
        found.click().await.unwrap();
    }

    /// Choose a value of the set-up.
    pub async fn choose(&self, label: &str, value: &str) {
        let path = format!("//label[span='{label}']/select");
        let select = self.client.find(Locator::XPath(&path)).await.expect(label);
        select.select_by_value(value).await.expect(value);
        let shown = format!("{} return select.value === '{value}'", select_of(label));
        self.until(&format!("{label} shows {value}"), &shown).await;
    }

    /// Type a number of the set-up.
    pub async fn enter(&self, label: &str, value: u64) {
        let path = format!("//label[span='{label}']//input");
        let input = self.client.find(Locator::XPath(&path)).await.expect(label);
        input.click().await.unwrap();
        input.send_keys(&format!("\u{e009}a\u{e000}{value}\n")).await.unwrap();
    }

    /// Do something to a replica by its menu.
    pub async fn to_replica(&self, name: &str, deed: &str) {
        let menu = self.client.find(Locator::Id(&format!("menu-{name}"))).await.expect(name);
        menu.click().await.unwrap();
        let path = format!("//*[@role='menu']//button[contains(., '{deed}')]");
        let item = self.client.wait().for_element(Locator::XPath(&path)).await.expect(deed);
        item.click().await.unwrap();
    }

    /// A tab of the inspector.
    pub async fn tab(&self, name: &str) {
        let path = format!("//*[@role='tab'][contains(., '{name}')]");
        self.client.find(Locator::XPath(&path)).await.expect(name).click().await.unwrap();
    }

    /// Everything that the run's log says, as the API gives it to this learner.
    pub async fn log(&self) -> Vec<Value> {
        let script = "const done = arguments[arguments.length - 1];
            const id = document.querySelector('.run-id').getAttribute('href').split('/').pop();
            fetch(`/api/runs/${id}/log`).then(answer => answer.json()).then(done, error => done(String(error)));";
        match self.client.execute_async(script, Vec::new()).await.unwrap() {
            Value::Array(events) => events,
            other => panic!("the log cannot be read: {other}"),
        }
    }
}

fn select_of(label: &str) -> String {
    format!(
        "const select = [...document.querySelectorAll('label.field')]
            .find(field => field.querySelector('span').textContent === '{label}').querySelector('select');"
    )
}
