//! What axe-core finds on a page. `scripts/test` installs it and says by `AEGIS_AXE` where it is. A script that
//! WebDriver runs is not the page's own, so the page's strict policy neither hinders it nor has to be loosened.

use serde_json::Value;

use crate::chrome::Chrome;

/// What is found so bad that it must be mended.
const LOOK: &str = "const done = arguments[arguments.length - 1], only = arguments[0];
    axe.run(document, { resultTypes: ['violations'], ...(only && { runOnly: [only] }) }).then(({ violations }) => done(violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, help, nodes }) => `${id}: ${help}\\n` + nodes.slice(0, 5)
        .map(({ target, failureSummary }) => `    ${target.join(' ')}: ${failureSummary}`).join('\\n'))),
      error => done([String(error)]));";

impl Chrome {
    /// Serious and critical findings of the page as it stands: by all rules, or by one.
    pub async fn barriers(&self, only: Option<&str>) -> Vec<String> {
        let is_there = "return typeof window.axe === 'object'";
        if self.script(is_there).await != Value::Bool(true) {
            let path = std::env::var_os("AEGIS_AXE").expect("AEGIS_AXE says where axe.min.js is; scripts/test sets it");
            let source = std::fs::read_to_string(path).expect("axe.min.js");
            self.client.execute(&source, Vec::new()).await.expect("axe-core");
        }
        let found = self.client.execute_async(LOOK, vec![only.into()]).await.expect("axe-core's answer");
        serde_json::from_value(found).expect("a list of findings")
    }
}
