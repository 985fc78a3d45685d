//! What strategies cost, measured on the learner's machine: a table whose cells are bars, one scale a column. The
//! numbers are those of runs of the learner's own, from the matrix; what was not run is not there.

use locks::lesson::Cost;

use super::page::StepPage;
use crate::html::Html;
use crate::stage::view::words;

/// Length of the longest bar, in pixels.
const LONG: f64 = 88.0;
/// A bar that stands for something can be seen.
const LEAST: f64 = 1.5;

/// A column: its heading, what it is, and how its values are read and said.
struct Column {
    name: &'static str,
    what: &'static str,
    value: fn(&Cost) -> Option<u64>,
    says: fn(u64) -> String,
}

const COLUMNS: [Column; 3] = [
    Column {
        name: "Grant",
        what: "the quickest, from its command to the replica’s knowing",
        value: |cost| cost.grant_us,
        says: |us| format!("{}.{} ms", us / 1000, us % 1000 / 100),
    },
    Column {
        name: "Commands",
        what: "sent to stores for one slot that two replicas want",
        value: |cost| cost.commands,
        says: |n| n.to_string(),
    },
    Column {
        name: "Takeover",
        what: "from the holder’s crash to the next grant; the lease there is the matrix’s",
        value: |cost| cost.takeover_ms,
        says: |ms| format!("{} ms", words::grouped(ms)),
    },
];

/// The table, under what the text says of it.
pub(super) fn table(html: &mut Html, page: &StepPage, above: &str) {
    html.class("section", "costs").attr("id", "l-costs").attr("aria-labelledby", "costs-h");
    html.open("h2").attr("id", "costs-h").text("Measured on this machine").close();
    html.class("div", "prose").raw(above).close();
    let measured = |of: fn(&Cost) -> bool| page.costs.iter().any(|(_, cost)| of(cost));
    for (race, title, shows, there) in [
        ("two-at-once", "two replicas at once", "grants and commands", measured(|cost| cost.commands.is_some())),
        ("crash-while-holding", "crash while holding", "takeovers", measured(|cost| cost.takeover_ms.is_some())),
    ] {
        if !there {
            html.open("p").text("Race ").open("a").attr("href", &format!("/matrix?race={race}#race")).text(title);
            html.close().text(&format!(" to see {shows} here.")).close();
        }
    }
    if page.costs.iter().any(|(_, cost)| *cost != Cost::default()) {
        bars(html, &page.costs);
    }
    html.close();
}

fn bars(html: &mut Html, costs: &[(String, Cost)]) {
    html.class("div", "scroll-x").attr("tabindex", "0").attr("role", "group").attr("aria-label", "Costs").open("table");
    html.open("thead").open("tr").open("th").attr("scope", "col").text("Strategy").close();
    for column in &COLUMNS {
        html.open("th").attr("scope", "col").attr("title", column.what).text(column.name).close();
    }
    html.close().close().open("tbody");
    for (strategy, cost) in costs {
        html.open("tr").open("th").attr("scope", "row").element("code", "", strategy).close();
        for column in &COLUMNS {
            let most = costs.iter().filter_map(|(_, cost)| (column.value)(cost)).max().unwrap_or(0);
            html.open("td");
            match (column.value)(cost) {
                Some(value) => bar(html, value, most, &(column.says)(value)),
                None => drop(html.element("span", "muted", "–")),
            }
            html.close();
        }
        html.close();
    }
    html.close().close().close();
    html.open("dl");
    for column in &COLUMNS {
        html.element("dt", "", column.name).element("dd", "", column.what);
    }
    html.close();
}

fn bar(html: &mut Html, value: u64, most: u64, says: &str) {
    // Both are counts far below 2^52.
    let long = if value == 0 { 0.0 } else { (LONG * value as f64 / most.max(1) as f64).max(LEAST) };
    html.open("svg").attr("viewBox", "0 0 88 10").attr("width", "88").attr("height", "10").attr("aria-hidden", "true");
    html.open("rect").attr("width", &format!("{long:.1}")).attr("height", "10").attr("rx", "2").close().close();
    html.element("span", "num", says);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_share_a_scale_and_what_was_not_run_is_not_there() {
        let of = |grant_us, takeover_ms| Cost { grant_us, commands: None, takeover_ms };
        let costs = vec![
            ("none".to_owned(), of(None, None)),
            ("pg-lease".to_owned(), of(Some(1500), Some(3000))),
            ("redlock".to_owned(), of(Some(3000), None)),
        ];
        let mut html = Html::new();
        table(&mut html, &StepPage { costs, ..StepPage::default() }, "");
        let html = html.finish();
        assert!(html.contains("width=\"44.0\"") && html.contains("1.5 ms") && html.contains("3.0 ms"), "{html}");
        assert!(html.contains("/matrix?race=two-at-once#race"), "{html}");
        assert_eq!(html.matches("<rect").count(), 3);
    }
}
