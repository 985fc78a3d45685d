//! A live session in a real page: a lab that serves, a headless Chromium on `/lab`, and three replicas under
//! `pg-lease` whose three schedules fire each second, which is as often as they can.

use std::path::Path;
use std::time::Duration;

use locks::event::Event;
use serde_json::Value;

use crate::Failure;
use crate::chrome::Chrome;
use crate::serve::Serve;

/// How long a script in the page may take.
const SCRIPT_LIMIT: Duration = Duration::from_secs(10);

/// What is looked for in a page that has come to life: the number of the last event that it shows.
const SHOWS_EVENTS: &str = "return document.querySelector('#tab-log .n')?.textContent > ''";

/// See the module.
pub struct Visit {
    pub serve: Serve,
    pub chrome: Chrome,
    /// The session's run.
    pub run: String,
}

impl Visit {
    pub async fn open(data: &Path) -> Result<Visit, Failure> {
        let visit = Visit::begin(data, Chrome::open(1440, 900).await).await?;
        visit.act(r#"{"set":{"strategy":"pg-lease","every_s":1}}"#).await?;
        Ok(visit)
    }

    /// The busiest there is: nine replicas under `redlock`, in a browser that keeps a trace of those categories.
    pub async fn busiest(data: &Path, categories: &str) -> Result<Visit, Failure> {
        let visit = Visit::begin(data, Chrome::traced(1440, 900, categories).await).await?;
        visit.act(r#"{"set":{"strategy":"redlock","every_s":5}}"#).await?;
        visit.act(r#"{"add":["D","E","F","G","H","I"]}"#).await?;
        let nine = "return document.querySelectorAll('article.card').length === 9";
        visit.chrome.until("nine replicas", nine).await;
        Ok(visit)
    }

    async fn begin(data: &Path, chrome: Chrome) -> Result<Visit, Failure> {
        let serve = Serve::start(data).await?;
        chrome.client.goto(&format!("{}/lab", serve.url)).await?;
        chrome.until("the page shows events", SHOWS_EVENTS).await;
        // The scenario's tab names the run; then back to what a learner sees first.
        let export = "return document.querySelector('#tab-panel a[href$=\"/export\"]')?.getAttribute('href')";
        chrome.script("document.getElementById('tab-scenario').click()").await;
        chrome.until("the scenario's tab", export).await;
        let run = chrome.script(export).await;
        let run = run.as_str().and_then(|href| href.split('/').nth(3)).ok_or("the page names no run")?.to_owned();
        chrome.script("document.getElementById('tab-wire').click()").await;
        Ok(Visit { serve, chrome, run })
    }

    /// Ask the run for something, as the page does.
    pub async fn act(&self, action: &str) -> Result<(), Failure> {
        let script = format!(
            "const done = arguments[arguments.length - 1];
             fetch('/api/runs/{}/actions', {{
               method: 'POST', headers: {{ 'content-type': 'application/json' }}, body: '{action}',
             }}).then(answer => done(answer.status), error => done(String(error)));",
            self.run
        );
        match self.asynchronous(&script).await? {
            Value::Number(status) if status.as_u64() < Some(300) => Ok(()),
            refused => Err(format!("{action}: {refused}").into()),
        }
    }

    /// The events of the log behind number `after` that a condition in JavaScript holds for.
    pub async fn events(&self, after: u64, condition: &str) -> Result<Vec<Event>, Failure> {
        let script = format!(
            "const done = arguments[arguments.length - 1], found = [];
             (async () => {{
               for (let after = {after};;) {{
                 const page = await (await fetch(`/api/runs/{}/log?after=${{after}}&limit=2000`)).json();
                 if (!page.length) return found;
                 found.push(...page.filter(event => {condition}));
                 after = page[page.length - 1].seq;
               }}
             }})().then(done, error => done(String(error)));",
            self.run
        );
        Ok(serde_json::from_value(self.asynchronous(&script).await?)?)
    }

    /// The number of the last event that the page shows.
    pub async fn last_seq(&self) -> Result<u64, Failure> {
        let shown = "return Number(document.querySelector('#tab-log .n').textContent.replace(/\\D/g, ''))";
        self.chrome.script(shown).await.as_u64().ok_or_else(|| "the page shows no number".into())
    }

    /// Be there until the run is as long as one becomes, and is stored; how many events it has. Whoever is there reads
    /// the stream and draws nothing.
    pub async fn until_stored(&self, limit: Duration) -> Result<u64, Failure> {
        self.chrome.client.goto(&format!("{}/runs", self.serve.url)).await?;
        let script = format!(
            "const done = arguments[0], end = performance.now() + {};
             const stream = new EventSource('/api/runs/{}/events?packed=true');
             const look = () => fetch('/api/runs').then(answer => answer.json()).then(runs => {{
               const run = runs.find(({{ id }}) => id === '{}');
               if (run || performance.now() > end) {{ stream.close(); done(run?.events ?? 0); }} else setTimeout(look, 1000);
             }});
             look();",
            limit.as_millis(),
            self.run,
            self.run
        );
        let timeouts = fantoccini::wd::TimeoutConfiguration::new(Some(limit + SCRIPT_LIMIT), None, None);
        self.chrome.client.update_timeouts(timeouts).await?;
        match self.chrome.client.execute_async(&script, Vec::new()).await?.as_u64() {
            Some(events) if events > 0 => Ok(events),
            _ => Err(format!("the session was not stored within {limit:?}").into()),
        }
    }

    /// A script that calls its last argument with its answer.
    pub async fn asynchronous(&self, script: &str) -> Result<Value, Failure> {
        let timeouts = fantoccini::wd::TimeoutConfiguration::new(Some(SCRIPT_LIMIT), None, None);
        self.chrome.client.update_timeouts(timeouts).await?;
        Ok(self.chrome.client.execute_async(script, Vec::new()).await?)
    }

    pub async fn close(self) -> Result<(), Failure> {
        self.chrome.client.clone().close().await?;
        drop(self.chrome);
        self.serve.end().await
    }
}
