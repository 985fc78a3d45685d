//! A small language for exercises about arithmetic: definitions `name = expression`, one a line, of whole numbers
//! and truth values, with `+ - * /` (division rounds down), `min(a, b)`, `max(a, b)`, comparisons, `and`, `or`,
//! `not` and brackets; `#` begins a comment. It has no loops and no calls of its own, so every expression ends.
//! What is wrong with one is told with line and column before anything is computed.
//!
//! | module | what it holds |
//! |---|---|
//! | `token` | the words of a line |
//! | `parse` | their tree, and its type |
//! | `eval` | its value |

mod eval;
mod parse;
#[cfg(test)]
mod tests;
mod token;

pub use eval::Value;
use parse::Tree;

use super::Mistake;

/// What an expression's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A whole number.
    Number,
    /// True or false.
    Truth,
}

impl Type {
    fn words(self) -> &'static str {
        match self {
            Type::Number => "a number",
            Type::Truth => "true or false",
        }
    }
}

/// A place in the text, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Line.
    pub line: u32,
    /// Column, in characters.
    pub column: u32,
}

impl Place {
    fn mistake(self, message: impl Into<String>) -> Mistake {
        Mistake { message: message.into(), line: Some(self.line), column: Some(self.column), ..Mistake::default() }
    }
}

/// A name that must be defined, and what its expression may use.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The name.
    pub name: &'static str,
    /// What it must be.
    pub of: Type,
    /// What its expression may name, with types.
    pub uses: &'static [(&'static str, Type)],
}

/// An expression that was read.
#[derive(Clone, Debug)]
pub struct Expression(Tree);

impl Expression {
    /// Its value where the variables have these values. What cannot be computed is told with its place.
    pub fn value(&self, variables: &dyn Fn(&str) -> Option<Value>) -> Result<Value, Mistake> {
        eval::value(&self.0, variables)
    }
}

/// Read a text that defines exactly what is wanted; the expressions come in that order.
pub fn read(text: &str, wanted: &[Wanted]) -> Result<Vec<Expression>, Mistake> {
    let mut found: Vec<Option<Expression>> = vec![None; wanted.len()];
    for (line, number) in text.lines().zip(1..) {
        let tokens = token::tokens(line, number)?;
        let Some(definition) = parse::definition(&tokens, number, wanted)? else { continue };
        let at = &mut found[definition.which];
        if at.is_some() {
            return Err(definition.place.mistake(format!("`{}` is defined twice", wanted[definition.which].name)));
        }
        *at = Some(Expression(definition.tree));
    }
    let end = Place { line: text.lines().count().max(1).try_into().unwrap_or(u32::MAX), column: 1 };
    let missing = |wanted: &Wanted| end.mistake(format!("`{}` is not defined", wanted.name));
    found.into_iter().zip(wanted).map(|(found, wanted)| found.ok_or_else(|| missing(wanted))).collect()
}
