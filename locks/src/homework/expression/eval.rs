//! An expression's value. Types were checked when it was read; numbers may still be too large, or divided by zero.

use super::super::Mistake;
use super::parse::{Node, Operator, Tree};

/// A value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A whole number.
    Number(i64),
    /// True or false.
    Truth(bool),
}

impl Value {
    /// As a number; a truth value is none, and counts as 0 or 1.
    pub fn number(self) -> i64 {
        match self {
            Value::Number(n) => n,
            Value::Truth(is) => i64::from(is),
        }
    }

    /// As a truth value.
    pub fn truth(self) -> bool {
        self.number() != 0
    }
}

pub(super) fn value(tree: &Tree, variables: &dyn Fn(&str) -> Option<Value>) -> Result<Value, Mistake> {
    let too_large = || tree.place.mistake("the value is too large here");
    Ok(match &tree.node {
        Node::Number(n) => Value::Number(*n),
        Node::Truth(is) => Value::Truth(*is),
        Node::Variable(name) => {
            variables(name).ok_or_else(|| tree.place.mistake(format!("`{name}` has no value here")))?
        }
        Node::Negative(of) => Value::Number(value(of, variables)?.number().checked_neg().ok_or_else(too_large)?),
        Node::Not(of) => Value::Truth(!value(of, variables)?.truth()),
        Node::Two(operator, of) => {
            let [left, right] = &**of;
            let left = value(left, variables)?;
            // As everywhere: the right side is looked at only where it decides.
            match (operator, left) {
                (Operator::And, Value::Truth(false)) | (Operator::Or, Value::Truth(true)) => return Ok(left),
                _ => {}
            }
            let right = value(right, variables)?;
            let (a, b) = (left.number(), right.number());
            let number = |n: Option<i64>| n.map(Value::Number).ok_or_else(too_large);
            match operator {
                Operator::Plus => number(a.checked_add(b))?,
                Operator::Minus => number(a.checked_sub(b))?,
                Operator::Times => number(a.checked_mul(b))?,
                Operator::Over if b == 0 => return Err(tree.place.mistake("a division by zero")),
                Operator::Over => number(floor(a, b))?,
                Operator::Min => Value::Number(a.min(b)),
                Operator::Max => Value::Number(a.max(b)),
                Operator::Less => Value::Truth(a < b),
                Operator::LessOrEqual => Value::Truth(a <= b),
                Operator::Greater => Value::Truth(a > b),
                Operator::GreaterOrEqual => Value::Truth(a >= b),
                Operator::Equal => Value::Truth(a == b),
                Operator::Unequal => Value::Truth(a != b),
                Operator::And | Operator::Or => right,
            }
        }
    })
}

/// A quotient, rounded down.
fn floor(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
}
