//! A line's tree. Types are checked here, so that what is read can only fail by its numbers.

use super::super::Mistake;
use super::token::{Token, Word};
use super::{Place, Type, Wanted};

/// Brackets and signs within each other, at most: deeper ones are no arithmetic but an attack on the stack.
const DEPTH: u8 = 40;

#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub place: Place,
    pub node: Node,
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    Number(i64),
    Truth(bool),
    Variable(String),
    Negative(Box<Tree>),
    Not(Box<Tree>),
    Two(Operator, Box<[Tree; 2]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Plus,
    Minus,
    Times,
    Over,
    Min,
    Max,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    Unequal,
    And,
    Or,
}

/// One line: which of the wanted names it defines, and as what.
pub(super) struct Definition {
    pub which: usize,
    pub place: Place,
    pub tree: Tree,
}

/// Read a line; `None` if nothing stands there.
pub(super) fn definition(tokens: &[Token], line: u32, wanted: &[Wanted]) -> Result<Option<Definition>, Mistake> {
    let Some(first) = tokens.first() else { return Ok(None) };
    let names = || wanted.iter().map(|wanted| format!("`{}`", wanted.name)).collect::<Vec<_>>().join(", ");
    let which = match &first.word {
        Word::Name(name) => wanted.iter().position(|wanted| wanted.name == name),
        _ => None,
    };
    let which = which.ok_or_else(|| {
        first.place.mistake(format!("`{}` is nothing to be defined (allowed: {})", first.word.text(), names()))
    })?;
    let mut parser = Parser { tokens, at: 1, line, uses: wanted[which].uses, depth: 0 };
    parser.expect("=")?;
    let (tree, is) = parser.either()?;
    if let Some(token) = parser.tokens.get(parser.at) {
        return Err(token.place.mistake(format!("the expression ends before `{}`", token.word.text())));
    }
    let of = wanted[which].of;
    if is != of {
        let what = format!("`{}` must be {}, and this is {}", wanted[which].name, of.words(), is.words());
        return Err(tree.place.mistake(what));
    }
    Ok(Some(Definition { which, place: first.place, tree }))
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    line: u32,
    uses: &'static [(&'static str, Type)],
    depth: u8,
}

type Read = Result<(Tree, Type), Mistake>;

impl Parser<'_> {
    fn next(&self) -> Option<&Word> {
        self.tokens.get(self.at).map(|token| &token.word)
    }

    /// Where the next word stands, or would stand.
    fn place(&self) -> Place {
        match (self.tokens.get(self.at), self.tokens.last()) {
            (Some(token), _) => token.place,
            (None, Some(last)) => {
                let length = u32::try_from(last.word.text().chars().count()).unwrap_or_default();
                Place { column: last.place.column + length, ..last.place }
            }
            (None, None) => Place { line: self.line, column: 1 },
        }
    }

    fn expect(&mut self, sign: &'static str) -> Result<(), Mistake> {
        match self.next() {
            Some(Word::Sign(found)) if *found == sign => {
                self.at += 1;
                Ok(())
            }
            Some(other) => Err(self.place().mistake(format!("`{sign}` expected, not `{}`", other.text()))),
            None => Err(self.place().mistake(format!("`{sign}` expected"))),
        }
    }

    /// The operator that stands next, if it is one of these.
    fn operator(&mut self, of: &[(&str, Operator)]) -> Option<Operator> {
        let text = match self.next()? {
            Word::Sign(sign) => (*sign).to_owned(),
            Word::Name(name) => name.clone(),
            Word::Number(_) => return None,
        };
        let (_, operator) = of.iter().find(|(name, _)| *name == text)?;
        self.at += 1;
        Some(*operator)
    }

    fn either(&mut self) -> Read {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.place().mistake(format!("more than {DEPTH} brackets and signs within each other")));
        }
        let read =
            self.left(&[("or", Operator::Or)], |parser| parser.left(&[("and", Operator::And)], Parser::compared));
        self.depth -= 1;
        read
    }

    /// Operands of one rank, from left to right.
    fn left(&mut self, of: &[(&str, Operator)], operand: fn(&mut Self) -> Read) -> Read {
        let (mut tree, mut is) = operand(self)?;
        loop {
            let place = self.place();
            let Some(operator) = self.operator(of) else { return Ok((tree, is)) };
            let right = operand(self)?;
            (tree, is) = two(operator, place, (tree, is), right)?;
        }
    }

    fn compared(&mut self) -> Read {
        if self.next() == Some(&Word::Name("not".to_owned())) {
            let place = self.place();
            self.at += 1;
            let (tree, is) = self.deeper(Parser::compared)?;
            need(&tree, is, Type::Truth, "`not`")?;
            return Ok((Tree { place, node: Node::Not(Box::new(tree)) }, Type::Truth));
        }
        let left = self.sum()?;
        let place = self.place();
        match self.operator(COMPARISONS) {
            Some(operator) => {
                let right = self.sum()?;
                let both = two(operator, place, left, right)?;
                match self.operator(COMPARISONS) {
                    Some(_) => Err(place.mistake("two comparisons in a row: join them with `and`")),
                    None => Ok(both),
                }
            }
            None => Ok(left),
        }
    }

    fn sum(&mut self) -> Read {
        self.left(&[("+", Operator::Plus), ("-", Operator::Minus)], |parser| {
            parser.left(&[("*", Operator::Times), ("/", Operator::Over)], Parser::single)
        })
    }

    fn deeper(&mut self, of: fn(&mut Self) -> Read) -> Read {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.place().mistake(format!("more than {DEPTH} brackets and signs within each other")));
        }
        let read = of(self);
        self.depth -= 1;
        read
    }

    fn single(&mut self) -> Read {
        let place = self.place();
        let Some(word) = self.next().cloned() else {
            return Err(place.mistake("the expression ends here, and a value is missing"));
        };
        self.at += 1;
        match word {
            Word::Number(n) => Ok((Tree { place, node: Node::Number(n) }, Type::Number)),
            Word::Sign("-") => {
                let (tree, is) = self.deeper(Parser::single)?;
                need(&tree, is, Type::Number, "`-`")?;
                Ok((Tree { place, node: Node::Negative(Box::new(tree)) }, Type::Number))
            }
            Word::Sign("(") => {
                let inner = self.either()?;
                self.expect(")")?;
                Ok(inner)
            }
            Word::Name(name) => self.name(name, place),
            Word::Sign("=") => Err(place.mistake("`=` defines; `==` compares")),
            Word::Sign(sign) => Err(place.mistake(format!("a value is missing before `{sign}`"))),
        }
    }

    fn name(&mut self, name: String, place: Place) -> Read {
        match name.as_str() {
            "true" | "false" => Ok((Tree { place, node: Node::Truth(name == "true") }, Type::Truth)),
            "min" | "max" => {
                self.expect("(")?;
                let left = self.either()?;
                self.expect(",")?;
                let right = self.either()?;
                self.expect(")")?;
                two(if name == "min" { Operator::Min } else { Operator::Max }, place, left, right)
            }
            _ => match self.uses.iter().find(|(known, _)| *known == name) {
                Some((_, is)) => Ok((Tree { place, node: Node::Variable(name) }, *is)),
                None => {
                    let known: Vec<String> = self.uses.iter().map(|(known, _)| format!("`{known}`")).collect();
                    let allowed = if known.is_empty() { "numbers only".to_owned() } else { known.join(", ") };
                    Err(place.mistake(format!("`{name}` is not known here (allowed: {allowed})")))
                }
            },
        }
    }
}

const COMPARISONS: &[(&str, Operator)] = &[
    ("<", Operator::Less),
    ("<=", Operator::LessOrEqual),
    (">", Operator::Greater),
    (">=", Operator::GreaterOrEqual),
    ("==", Operator::Equal),
    ("!=", Operator::Unequal),
];

fn need(tree: &Tree, is: Type, of: Type, by: &str) -> Result<(), Mistake> {
    match is == of {
        true => Ok(()),
        false => Err(tree.place.mistake(format!("{by} takes {}, and this is {}", of.words(), is.words()))),
    }
}

fn two(operator: Operator, place: Place, left: (Tree, Type), right: (Tree, Type)) -> Read {
    use Operator::*;
    let (takes, gives) = match operator {
        Plus | Minus | Times | Over | Min | Max => (Type::Number, Type::Number),
        Less | LessOrEqual | Greater | GreaterOrEqual | Equal | Unequal => (Type::Number, Type::Truth),
        And | Or => (Type::Truth, Type::Truth),
    };
    for (tree, is) in [&left, &right] {
        need(tree, *is, takes, &format!("`{}`", operator.text()))?;
    }
    Ok((Tree { place, node: Node::Two(operator, Box::new([left.0, right.0])) }, gives))
}

impl Operator {
    pub fn text(self) -> &'static str {
        match self {
            Operator::Plus => "+",
            Operator::Minus => "-",
            Operator::Times => "*",
            Operator::Over => "/",
            Operator::Min => "min",
            Operator::Max => "max",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
            Operator::Equal => "==",
            Operator::Unequal => "!=",
            Operator::And => "and",
            Operator::Or => "or",
        }
    }
}
