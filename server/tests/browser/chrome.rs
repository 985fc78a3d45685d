//! A headless Chromium of a test's own, driven through its own chromedriver. Whatever the page writes to
//! the console is read back: any error there fails the test.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use serde_json::{Value, json};

/// How long a page may take to show what is asked for.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Words that scripts may use.
const WORDS: &str = "
    const card = name => [...document.querySelectorAll('article.card')].find(c => c.ariaLabel === `Replica ${name}`);
    const state = name => card(name)?.querySelector('.state-w').textContent;
    const belief = name => card(name)?.querySelector('.truth .val').textContent;
    const names = () => [...document.querySelectorAll('article.card')].map(c => c.ariaLabel.split(' ')[1]);
    const holder = () => names().find(name => state(name) === 'Running');
    const tally = word => {
      const figure = [...document.querySelectorAll('.tally > div')].find(d => d.textContent.includes(word));
      return figure && parseInt(figure.querySelector('dd').textContent, 10);
    };
    const executed = () => [...document.querySelectorAll('.rk > div')]
      .filter(sheet => sheet.querySelector('h3').textContent.includes('audit'))
      .flatMap(sheet => [...sheet.querySelectorAll('tbody tr')])
      .filter(row => /executed/i.test(row.textContent))
      .map(row => row.textContent.match(/\\d\\d:\\d\\d:\\d\\d/)?.[0]);
    const target = to => document.querySelector(`.map [data-to='${to}']`) ?? document.querySelector(`[data-to='${to}']`);
    const named = to => target(to)?.getAttribute('aria-label') ?? '';
    const caused = text => [...document.querySelectorAll('.tl text, .tl title')].some(t => t.textContent.includes(text));
    const text = item => item.querySelector('span')?.textContent;
    const point = to => {
      const element = target(to), path = element?.querySelector('path');
      const area = element.getBoundingClientRect();
      const of = part => {
        if (!path) return [area.left + area.width * part, area.top + area.height / 2];
        const at = path.getPointAtLength(path.getTotalLength() * part), box = path.ownerSVGElement.getBoundingClientRect();
        return [box.left + at.x, box.top + at.y];
      };
      const is_free = ([x, y]) => element.contains(document.elementFromPoint(x, y));
      return [.5, .4, .6, .3, .7, .2, .8, .1, .9].map(of).map(p => p.map(Math.round)).find(is_free) ?? null;
    };
    const hydrated = () => document.querySelector('.map .sto') !== null;
";

/// A browser window.
pub struct Chrome {
    pub client: Client,
    driver: Child,
    profile: tempfile::TempDir,
}

impl Chrome {
    /// A window of that size.
    pub async fn open(width: u32, height: u32) -> Chrome {
        Chrome::start(width, height, &[], "").await
    }

    /// The same of somebody who wants less motion.
    pub async fn calm(width: u32, height: u32) -> Chrome {
        Chrome::start(width, height, &["--force-prefers-reduced-motion"], "").await
    }

    /// One that keeps a trace of those categories, which [`Chrome::trace`] reads.
    pub async fn traced(width: u32, height: u32, categories: &str) -> Chrome {
        Chrome::start(width, height, &[], categories).await
    }

    async fn start(width: u32, height: u32, further: &[&str], categories: &str) -> Chrome {
        let profile = tempfile::tempdir().unwrap();
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .expect("chromedriver (Debian: apt-get install chromium-driver)");
        let port = port_of(&mut driver);
        let mut arguments = vec![
            "--headless".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-quic".to_owned(),
            "--no-first-run".to_owned(),
            "--disable-background-networking".to_owned(),
            "--disable-component-update".to_owned(),
            "--disable-sync".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            "--hide-scrollbars".to_owned(),
            format!("--user-data-dir={}", profile.path().display()),
        ];
        arguments.extend(further.iter().map(|&argument| argument.to_owned()));
        let mut wanted = json!({
            "browserName": "chrome",
            "goog:chromeOptions": { "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        });
        if !categories.is_empty() {
            wanted["goog:loggingPrefs"]["performance"] = json!("ALL");
            wanted["goog:chromeOptions"]["perfLoggingPrefs"] =
                json!({ "enableNetwork": false, "enablePage": false, "traceCategories": categories });
        }
        let Value::Object(wanted) = wanted else { unreachable!() };
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(wanted)
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .expect("a browser session");
        let chrome = Chrome { client, driver, profile };
        chrome.resize(width, height).await;
        chrome
    }

    /// Make the *page* that large: a window has borders, and a narrow one is refused without this.
    pub async fn resize(&self, width: u32, height: u32) {
        let narrow = width < 500;
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": narrow });
        self.devtools("Emulation.setDeviceMetricsOverride", metrics).await;
    }

    /// Run a script in each page that is opened from now on, before the page's own.
    pub async fn before_each_page(&self, source: &str) {
        self.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": source })).await;
    }

    /// Let no page run a script of its own from now on.
    pub async fn forbid_scripts(&self) {
        self.devtools("Emulation.setScriptExecutionDisabled", json!({ "value": true })).await;
    }

    /// Forget what was loaded, as a browser that was never here.
    pub async fn forget(&self) {
        self.devtools("Network.clearBrowserCache", json!({})).await;
    }

    /// The trace's events since this was last asked.
    pub async fn trace(&self) -> Vec<Value> {
        let log =
            self.client.issue_cmd(Vendor { path: "se/log", body: json!({ "type": "performance" }) }).await.unwrap();
        let lines = log.as_array().into_iter().flatten();
        let told = lines.filter_map(|line| serde_json::from_str::<Value>(line["message"].as_str()?).ok());
        let of_trace = told.filter(|told| told["message"]["method"] == "Tracing.dataCollected");
        of_trace.map(|mut told| told["message"]["params"].take()).collect()
    }

    async fn devtools(&self, command: &str, params: Value) {
        let body = json!({ "cmd": command, "params": params });
        self.client.issue_cmd(Vendor { path: "goog/cdp/execute", body }).await.expect(command);
    }

    /// Run a script in the page: the body of a function, with `return`.
    pub async fn script(&self, body: &str) -> Value {
        self.client.execute(&format!("{WORDS} {body}"), Vec::new()).await.expect(body)
    }

    /// Wait until a script's answer is true.
    pub async fn until(&self, what: &str, condition: &str) {
        self.until_within(PATIENCE, what, condition).await;
    }

    /// The same, with a limit of one's own.
    pub async fn until_within(&self, limit: Duration, what: &str, condition: &str) {
        // The page itself waits and looks; WebDriver only has to be patient. Not at each frame: that would keep it
        // drawing, and many browsers wait at once.
        let script = format!(
            "const done = arguments[arguments.length - 1], end = performance.now() + {};
             const look = () => {{
               let now; try {{ now = (() => {{ {WORDS} {condition} }})(); }} catch (e) {{ now = false; }}
               if (now || performance.now() > end) done(!!now); else setTimeout(look, 25);
             }}; look();",
            limit.as_millis()
        );
        let timeouts = fantoccini::wd::TimeoutConfiguration::new(Some(limit * 2), None, None);
        self.client.update_timeouts(timeouts).await.expect("timeouts");
        let came = self.client.execute_async(&script, Vec::new()).await.expect(what);
        if came != Value::Bool(true) {
            self.keep("failed").await;
            panic!("{what}: not within {limit:?}\n{}", self.console().await.join("\n"));
        }
    }

    /// Keep a picture of the page where the environment says so (`AEGIS_SHOTS`).
    pub async fn keep(&self, name: &str) {
        let Some(folder) = std::env::var_os("AEGIS_SHOTS").map(PathBuf::from) else { return };
        let picture = self.client.screenshot().await.expect("a picture");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(Path::new(&folder).join(format!("{name}.png")), picture).unwrap();
    }

    /// Everything written to the console since this was last asked.
    pub async fn console(&self) -> Vec<String> {
        let log = self.client.issue_cmd(Vendor { path: "se/log", body: json!({ "type": "browser" }) }).await.unwrap();
        log.as_array().into_iter().flatten().map(|line| format!("{} {}", line["level"], line["message"])).collect()
    }

    /// Fail if the console has an error, then close.
    pub async fn close(self) {
        let errors: Vec<String> = self
            .console()
            .await
            .into_iter()
            .filter(|line| line.contains("SEVERE") || line.contains("panicked"))
            .collect();
        self.client.clone().close().await.unwrap();
        assert!(errors.is_empty(), "the console has errors:\n{}", errors.join("\n"));
    }
}

impl Drop for Chrome {
    fn drop(&mut self) {
        // After a panic too: chromedriver leaves its browser behind when it is ended alone, so its whole group
        // goes, and whoever else works on the profile.
        for pid in working_on(self.profile.path()) {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
        if let Ok(pid) = i32::try_from(self.driver.id()) {
            let _ = killpg(Pid::from_raw(pid), Signal::SIGKILL);
        }
        let _ = self.driver.wait();
    }
}

/// Processes whose arguments name that profile.
fn working_on(profile: &Path) -> Vec<i32> {
    let profile = profile.to_str().expect("a temporary folder's path is text");
    let pids = std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let arguments = |pid: &i32| std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    pids.filter(|pid| String::from_utf8_lossy(&arguments(pid)).contains(profile)).collect()
}

/// The port that chromedriver chose, as it says itself.
fn port_of(driver: &mut Child) -> u16 {
    let began = Instant::now();
    let lines = BufReader::new(driver.stdout.take().unwrap()).lines();
    for line in lines.map_while(Result::ok) {
        if let Some((_, port)) = line.rsplit_once("started successfully on port ")
            && let Ok(port) = port.trim_end_matches('.').parse()
        {
            return port;
        }
        assert!(began.elapsed() < PATIENCE, "chromedriver says no port");
    }
    panic!("chromedriver ended");
}

/// A command of Chromium's driver that the standard does not have.
#[derive(Debug)]
struct Vendor {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Vendor {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &url::Url) -> (axum::http::Method, Option<String>) {
        (axum::http::Method::POST, Some(self.body.to_string()))
    }
}
