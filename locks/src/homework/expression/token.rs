//! The words of a line.

use super::super::Mistake;
use super::Place;

/// A word, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub place: Place,
    pub word: Word,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Number(i64),
    Name(String),
    /// An operator or a bracket.
    Sign(&'static str),
}

impl Word {
    pub fn text(&self) -> String {
        match self {
            Word::Number(n) => n.to_string(),
            Word::Name(name) => name.clone(),
            Word::Sign(sign) => (*sign).to_owned(),
        }
    }
}

/// Longer signs first: `<=` is one, not two.
const SIGNS: [&str; 16] = ["<=", ">=", "==", "!=", "<", ">", "=", "+", "-", "*", "/", "(", ")", ",", "≤", "≥"];

/// Words of a line, at most: a tree is as deep as its line is long.
const MOST: usize = 1000;

pub(super) fn tokens(line: &str, number: u32) -> Result<Vec<Token>, Mistake> {
    let mut tokens = Vec::new();
    let mut rest = line;
    let mut column = 1;
    while let Some(first) = rest.chars().next() {
        if first == '#' {
            break;
        }
        let place = Place { line: number, column };
        if tokens.len() == MOST {
            return Err(place.mistake(format!("more than {MOST} words in a line")));
        }
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else if first.is_ascii_digit() {
            let length = run(rest, |c| c.is_ascii_alphanumeric() || c == '_');
            let digits: String = rest[..length].chars().filter(|c| *c != '_').collect();
            let number = digits
                .parse()
                .map_err(|_| place.mistake(format!("`{}` is no whole number of at most 18 digits", &rest[..length])))?;
            tokens.push(Token { place, word: Word::Number(number) });
            length
        } else if first.is_ascii_alphabetic() || first == '_' {
            let length = run(rest, |c| c.is_ascii_alphanumeric() || c == '_');
            tokens.push(Token { place, word: Word::Name(rest[..length].to_owned()) });
            length
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            let sign = sign.ok_or_else(|| place.mistake(format!("`{first}` means nothing here")))?;
            let meant = match *sign {
                "≤" => "<=",
                "≥" => ">=",
                sign => sign,
            };
            tokens.push(Token { place, word: Word::Sign(meant) });
            sign.len()
        };
        column += u32::try_from(rest[..length].chars().count()).unwrap_or(u32::MAX);
        rest = &rest[length..];
    }
    Ok(tokens)
}

/// How many bytes from the start are so; all of them are ASCII.
fn run(text: &str, so: impl Fn(char) -> bool) -> usize {
    text.find(|c| !so(c)).unwrap_or(text.len())
}
