//! What a replica believes: bars while it is inside, dots while it waits, frost while it is stopped.

use std::fmt::Write;

use super::super::{schedule_of, sections};
use super::{Pen, again, width};
use crate::html::escaped;
use crate::stage::track::{Section, Wait};
use crate::stage::view::{hue, words};

impl Pen<'_> {
    pub(super) fn sections(&mut self) {
        let stage = self.stage;
        for section in sections(stage, self.look) {
            let Some((from, to, _)) = self.place(section.span) else { continue };
            let Some((y, h)) = self.bar(&section.attempt.replica, &section.schedule) else { continue };
            let hue = hue(&section.attempt.replica);
            let mut svg = String::new();
            let mut at = from;
            let mut labels = Vec::new();
            for denied in &section.denied {
                let (start, end) = (self.scale.x(denied.0), denied.1.map_or(to, |until| self.scale.x(until)));
                solid(&mut svg, hue, at, start, y, h);
                labels.push((at, start, false));
                hollow(&mut svg, hue, start, end.max(start + 3.0), y, h);
                labels.push((start, end, true));
                at = end;
            }
            if at < to {
                solid(&mut svg, hue, at, to, y, h);
                labels.push((at, to, false));
            }
            if h > 10.0 {
                for (from, to, denied) in labels {
                    let to = to.min(self.scale.x(self.now_us));
                    label(&mut svg, section, hue, (from, to), y, denied, self.window);
                }
            }
            _ = write!(
                svg,
                "<title>{}</title>",
                escaped(&(self.look.whose(&section.schedule) + &section_words(section)))
            );
            self.put(2, format!("s{}", section.seq), svg);
        }
    }

    pub(super) fn stops(&mut self) {
        let stage = self.stage;
        for stop in &stage.track.stops {
            let Some((from, to, open)) = self.place(stop.span) else { continue };
            let Some(lane) = self.lanes.of(&stop.replica) else { continue };
            let y = lane + self.lanes.replica_height - 12.0;
            let w = to - from;
            let mut svg = format!(
                r#"<rect x="{from:.1}" y="{y:.1}" width="{w:.1}" height="9" class="frost"/><rect x="{from:.1}" y="{y:.1}" width="{w:.1}" height="9" fill="url(#fr)"/>"#
            );
            let text = match (stop.dead, stop.span.1) {
                (true, _) => "dead (SIGKILL)".to_owned(),
                (false, None) => "stopped (SIGSTOP)".to_owned(),
                (false, Some(until)) => format!("stopped {}", words::ms(until.saturating_sub(stop.span.0))),
            };
            let room = width(&text) * 0.92 + 10.0;
            if open || w > room + 24.0 {
                _ = write!(
                    svg,
                    r#"<rect x="{:.1}" y="{:.1}" width="{room:.1}" height="11" class="under"/><text x="{:.1}" y="{:.1}" class="t t-s">{text}</text>"#,
                    from + 16.0,
                    y - 1.0,
                    from + 21.0,
                    y + 8.0
                );
            }
            _ = write!(svg, "<title>{} {text}</title>", escaped(&stop.replica));
            self.put(3, format!("p{}{}", stop.replica, stop.span.0), svg);
        }
    }

    pub(super) fn waits(&mut self) {
        let stage = self.stage;
        for wait in stage.track.waits.iter().filter(|wait| self.look.row(&wait.schedule).is_some()) {
            let Some((from, to, _)) = self.place(wait.span) else { continue };
            let Some((y, h)) = self.bar(&wait.attempt.replica, &wait.schedule) else { continue };
            let hue = hue(&wait.attempt.replica);
            let y = y + h / 2.0 + 1.0;
            let mut svg = format!(r#"<path d="M{from:.1} {y:.1}H{to:.1}" class="wait s-{hue}"/>"#);
            for busy in &wait.busy {
                let x = self.scale.x(*busy);
                _ = write!(svg, r#"<circle cx="{x:.1}" cy="{y:.1}" r="3" class="busy s-{hue}"/>"#);
            }
            let text = match wait.busy.len() {
                0 => String::new(),
                1 => "busy".to_owned(),
                n => format!("waits, {n} × busy"),
            };
            if !text.is_empty() && !self.look.is_all() {
                let last = wait.busy.last().map_or(to, |busy| self.scale.x(*busy));
                let wide = to - from > width(&text) + 30.0;
                let x = if wide { from + 11.0 } else { last.max(to.min(last + 4.0)) + 7.0 };
                if wide {
                    _ = write!(
                        svg,
                        r#"<rect x="{:.1}" y="{:.1}" width="{:.1}" height="12" class="under"/>"#,
                        x - 3.0,
                        y - 6.0,
                        width(&text) * 0.92 + 6.0
                    );
                }
                // Behind a wait that was granted stands the bar, which says more.
                let granted = stage.track.sections.iter().any(|section| section.attempt == wait.attempt);
                if wide || (wait.span.1.is_some() && !granted) {
                    _ = write!(svg, r#"<text x="{x:.1}" y="{:.1}" class="t t-s t-halo">{text}</text>"#, y + 4.0);
                }
            }
            _ = write!(
                svg,
                "<title>{}{} {}</title>",
                escaped(&self.look.whose(&wait.schedule)),
                escaped(&wait.attempt.replica),
                wait_words(wait)
            );
            self.put(4, format!("q{}", wait.attempt), svg);
        }
    }

    /// Commands without an answer: a solid line from the moment of sending.
    pub(super) fn unanswered(&mut self) {
        let stage = self.stage;
        let open = stage.wire.rows.iter().filter(|row| row.answer.is_none() && row.command.is_some());
        let now_us = self.now_us;
        for row in open.filter(|row| now_us.saturating_sub(row.at_us) > 60_000) {
            let Some((from, to, _)) = self.place((row.at_us, None)) else { continue };
            let Some((y, h)) = self.bar(&row.replica, schedule_of(&row.about)) else { continue };
            let hue = hue(&row.replica);
            let y = y + h / 2.0 + 1.0;
            let svg = format!(
                r#"<path d="M{from:.1} {y:.1}H{to:.1}" class="open s-{hue}"/><rect x="{from:.1}" y="{:.1}" width="3" height="10" class="f-{hue}"/><text x="{:.1}" y="{:.1}" class="t t-s t-halo">{} unanswered</text><title>{} from {} is unanswered</title>"#,
                y - 5.0,
                from + 8.0,
                y - 4.0,
                escaped(&row.name),
                escaped(&row.name),
                escaped(&row.replica)
            );
            self.put(4, format!("u{}", row.seq), svg);
        }
    }
}

fn solid(svg: &mut String, hue: char, from: f64, to: f64, y: f64, h: f64) {
    if to <= from {
        return;
    }
    let w = (to - from).max(3.0);
    let rx = if w > 6.0 { 3 } else { 0 };
    _ = write!(
        svg,
        r#"<rect x="{from:.1}" y="{y:.1}" width="{w:.1}" height="{h}" rx="{rx}" class="f-{hue}"/><rect x="{from:.1}" y="{y:.1}" width="{w:.1}" height="{h}" rx="{rx}" fill="url(#h{hue})"/>"#
    );
}

fn hollow(svg: &mut String, hue: char, from: f64, to: f64, y: f64, h: f64) {
    let (x, y, w, h) = (from + 0.75, y + 0.75, (to - from - 1.5).max(1.5), h - 1.5);
    _ = write!(
        svg,
        r#"<rect x="{x:.1}" y="{y:.2}" width="{w:.1}" height="{h}" rx="2" class="hollow s-{hue}"/><rect x="{x:.1}" y="{y:.2}" width="{w:.1}" height="{h}" rx="2" fill="url(#o{hue})"/>"#
    );
}

/// The longest of a few labels that fits inside with 7 pixels each side; said again along a long bar.
fn label(
    svg: &mut String,
    section: &Section,
    hue: char,
    (from, to): (f64, f64),
    y: f64,
    denied: bool,
    window: (f64, f64),
) {
    let epoch = section.epoch.map(|epoch| format!("epoch {epoch}"));
    let candidates: Vec<String> = match (denied, epoch) {
        (true, _) => vec!["inside · store denies".to_owned(), "store denies".to_owned(), "denied".to_owned()],
        (false, Some(epoch)) if section.elsewhere => {
            vec![format!("inside · {epoch} · store not asked"), format!("inside · {epoch}"), epoch]
        }
        (false, Some(epoch)) => vec![format!("inside · {epoch} · store agrees"), format!("inside · {epoch}"), epoch],
        (false, None) => vec!["inside".to_owned()],
    };
    let Some(text) = candidates.into_iter().find(|text| width(text) + 14.0 <= to - from) else { return };
    let class = if denied { "t t-b t-halo".to_owned() } else { format!("t t-6 i-{hue} h-{hue}") };
    for x in again(from + 7.0, to - width(&text) - 7.0, window) {
        _ = write!(svg, r#"<text x="{x:.1}" y="{:.1}" class="{class}">{text}</text>"#, y + 11.5);
    }
}

/// A wait in words.
pub(in super::super) fn wait_words(wait: &Wait) -> String {
    match wait.busy.len() {
        0 => "asked for the lock".to_owned(),
        n => format!("asked for the lock, told “busy” {n} ×"),
    }
}

/// A section in words.
pub(in super::super) fn section_words(section: &Section) -> String {
    let epoch = section.epoch.map(|epoch| format!(", believes epoch {epoch}")).unwrap_or_default();
    let denied = if section.denied.is_empty() { "" } else { "; for a part of it the store denies it" };
    let elsewhere = if section.elsewhere { "; begun before the strategy was changed" } else { "" };
    format!("{} inside{epoch}{denied}{elsewhere}", section.attempt.replica)
}
