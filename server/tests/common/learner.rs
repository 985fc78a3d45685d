//! A learner: somebody with a cookie of their own.

use serde_json::Value;

use super::served::{Answer, Served};

/// What a browser without scripts sends a form as.
pub const FORM: &str = "application/x-www-form-urlencoded";

/// Somebody who was here before.
pub struct Learner<'a> {
    pub lab: &'a Served,
    pub cookie: String,
}

impl<'a> Learner<'a> {
    /// Somebody new.
    pub fn new(lab: &'a Served) -> Learner<'a> {
        let page = lab.get("/lesson");
        assert_eq!(page.status, 200, "{}", page.body);
        Learner { lab, cookie: page.header("set-cookie").unwrap().split(';').next().unwrap().to_owned() }
    }

    pub fn ask(&self, method: &str, path: &str, kind: &str, body: &str) -> Answer {
        let host = format!("localhost:{}", self.lab.port);
        let headers = [("Host", &*host), ("Cookie", &self.cookie), ("Content-Type", kind)];
        self.lab.ask(method, path, &headers, body)
    }

    /// A request of the programming interface.
    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask("POST", path, "application/json", &body.to_string())
    }

    /// A button of a page, as a browser without scripts sends it.
    pub fn press(&self, path: &str, body: &str) -> Answer {
        self.ask("POST", path, FORM, body)
    }

    /// A page that is there.
    pub fn page(&self, path: &str) -> String {
        let page = self.ask("GET", path, "text/plain", "");
        assert_eq!(page.status, 200, "{path}: {}", page.body);
        page.body
    }
}
