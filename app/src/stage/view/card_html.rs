//! A card's changing parts as markup: its chip, its three witnesses, the joints between them.

use super::card::{Card, Joint, Witness};
use crate::html::{Html, Size};
use crate::stage::replica::Process;

impl Card {
    /// The chip's class: it is filled where the process does not run.
    pub fn chip_class(&self) -> &'static str {
        if matches!(self.process, Process::Running | Process::Starting) { "chip" } else { "chip chip-solid" }
    }

    /// What became of its process.
    pub fn chip_html(&self) -> String {
        let mut html = Html::new();
        html.icon(self.chip.0, false).text(&self.chip.1);
        html.finish()
    }

    /// The three witnesses.
    pub fn truth(&self) -> String {
        let mut html = Html::new();
        witness(&mut html, "believes", &self.believes, None);
        witness(&mut html, "store says", &self.store, Some(self.first));
        witness(&mut html, &format!("{} took", self.sink_name), &self.sink, Some(self.second));
        html.finish()
    }

    /// The joint that stands for both where there is little room.
    pub fn fold(&self) -> String {
        let mut html = Html::new();
        joint(&mut html, if self.first.cuts() { self.first } else { self.second });
        html.finish()
    }
}

fn witness(html: &mut Html, who: &str, says: &Witness, joint_above: Option<Joint>) {
    html.class(
        "div",
        match joint_above {
            Some(Joint::Harm) => "tr cut harm",
            Some(Joint::Differs) => "tr cut",
            _ => "tr",
        },
    );
    html.class("span", "who");
    if let Some(above) = joint_above {
        joint(html, above);
    }
    html.text(" ").text(who).close();
    html.class("span", "bd").badge(says.of.as_deref(), Size::Small).close();
    html.element("span", "val", &says.value);
    html.class("span", "note").attr("title", &says.note).text(&says.note).close().close();
}

/// The circle between two witnesses.
fn joint(html: &mut Html, joint: Joint) {
    let (class, path) = match joint {
        Joint::Equal => ("joint", "M1.5 3.6h7M1.5 6.4h7"),
        Joint::Open => ("joint open", "M3.4 3.4A1.7 1.7 0 1 1 5.8 5c-.5.3-.8.6-.8 1.2M5 8.2v.05"),
        Joint::Differs => ("joint ne", "M1.5 3.6h7M1.5 6.4h7M7 .8 3 9.2"),
        Joint::Harm => ("joint ne harm", "M1.5 3.6h7M1.5 6.4h7M7 .8 3 9.2"),
    };
    html.class("span", class).attr("role", "img").attr("aria-label", joint.words());
    html.open("svg").attr("viewBox", "0 0 10 10").open("path").attr("d", path).close().close().close();
}
