//! The agenda: eight steps, how far somebody came, and where to go on.

use super::content::AGENDA;
use super::state::Progress;
use crate::html::Html;

/// What stands between top bar and help.
pub(crate) fn main(progress: &Progress) -> String {
    let mut html = Html::new();
    html.class("main", "plain agenda").attr("id", "main").element("h1", "", "The guided lesson");
    html.element(
        "p",
        "ink2",
        "A job called settle-invoices paid suppliers twice, and you are on call. In eight steps you reproduce it, \
         place a lock, break it, mend it, and sign what you would run. Each step is predicted, done and proved on \
         real processes and stores.",
    );
    html.class("p", "row");
    let next = progress.next();
    let begun = progress.steps.iter().any(|step| step.done > 0);
    if let Some(next) = next {
        let says = if begun { format!("Go on with step {next}") } else { "Begin".to_owned() };
        html.class("a", "btn btn-main btn-l").attr("href", &format!("/lesson/{next}")).text(&says).close();
    }
    html.class("a", "btn").attr("href", "/lesson/glossary").text("Glossary").close();
    html.class("a", "btn").attr("href", "/lesson/certificate").text("What you proved").close().close();
    html.class("ol", "agenda-l");
    for step in &progress.steps {
        let (title, question) = AGENDA[usize::from(step.number - 1)];
        html.class("li", "panel").class("span", if step.is_done() { "sn done" } else { "sn" });
        match step.is_done() {
            true => html.icon("check", false).element("span", "sr", "done"),
            false => html.text(&step.number.to_string()),
        };
        html.close().class("div", "grow").open("h2");
        match step.ready {
            true => drop(html.open("a").attr("href", &format!("/lesson/{}", step.number)).text(title).close()),
            false => drop(html.text(title)),
        }
        html.close().element("p", "ink2", question).close();
        let says = match step.ready {
            true => format!("{} of {} tasks", step.done, step.tasks),
            false => "not ready yet".to_owned(),
        };
        html.element("span", "muted num", &says).close();
    }
    html.close();
    keep(&mut html);
    html.finish()
}

/// Progress as a file: it belongs to the learner, not to this browser.
fn keep(html: &mut Html) {
    html.class("section", "agenda-k").element("h2", "", "Your progress as a file");
    html.element(
        "p",
        "ink2",
        "It is kept on this server under a cookie of this browser. Take it along as a file; importing one adds what \
         it has to what is here.",
    );
    html.class("p", "row")
        .class("a", "btn")
        .attr("href", "/api/lesson/progress")
        .attr("download", "aegis-progress.json");
    html.text("Export").close();
    html.class("label", "btn").attr("for", "import").text("Import").close();
    html.class("input", "sr").attr("type", "file").attr("id", "import").attr("accept", ".json,application/json").void();
    html.close().class("p", "l-said").attr("id", "l-said").attr("role", "status").close().close();
}
