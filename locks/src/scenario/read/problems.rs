//! The problems that reading collects, several in one go, and their lines and columns.

use std::ops::Range;

use crate::scenario::Problem;

/// Problems found so far.
#[derive(Debug, Default)]
pub(crate) struct Problems(Vec<Problem>);

impl Problems {
    /// Note a problem.
    pub(crate) fn add(&mut self, span: &Range<usize>, what: impl Into<String>, allowed: impl Into<String>) {
        let (span, what, allowed) = (span.clone(), what.into(), allowed.into());
        self.0.push(Problem { span, line: 0, column: 0, what, allowed });
    }

    /// Is there none?
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The problems in the order in which they stand in the text, with lines and columns.
    pub(crate) fn in_text(mut self, text: &str) -> Vec<Problem> {
        self.0.sort_by_key(|problem| problem.span.start);
        for problem in &mut self.0 {
            let before = text.get(..problem.span.start).unwrap_or(text);
            let line_start = before.rfind('\n').map_or(0, |at| at + 1);
            problem.line = before.matches('\n').count() + 1;
            problem.column = before[line_start..].chars().count() + 1;
        }
        self.0
    }

    /// The first problem, for texts without lines.
    pub(crate) fn first(self) -> Option<Problem> {
        self.0.into_iter().next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_not_bytes() {
        let mut problems = Problems::default();
        problems.add(&("a\nüü".len().."a\nüüx".len()), "what", "");
        let problems = problems.in_text("a\nüüx");
        assert_eq!((problems[0].line, problems[0].column), (2, 3));
    }
}
