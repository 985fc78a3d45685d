//! Commands with their words marked: keywords, text, numbers, comments. A small scanner for reading with
//! the eye, not a parser.

/// What a piece of a command is; also its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A keyword of SQL, a Redis or HTTP verb.
    Keyword,
    /// Quoted text.
    Text,
    /// A number or a placeholder.
    Number,
    /// Anything else.
    Plain,
}

impl Piece {
    /// The class that colours it.
    pub fn class(self) -> &'static str {
        match self {
            Piece::Keyword => "kw",
            Piece::Text => "str",
            Piece::Number => "nu",
            Piece::Plain => "",
        }
    }
}

const KEYWORDS: &str = " with select insert into update delete from where set values returning on conflict do nothing \
    and or not is null as for share skip locked begin commit rollback limit order by case when then else end \
    interval now clock_timestamp excluded post get put px nx xx eval evalsha del pexpire pttl blmove rpush lpush ";

fn is_keyword(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    KEYWORDS.contains(&format!(" {lower} "))
}

/// The pieces of a command, in order; white space is folded, so that a command stands in one line.
pub fn pieces(text: &str) -> Vec<(Piece, String)> {
    let mut out: Vec<(Piece, String)> = Vec::new();
    let mut push = |piece: Piece, text: String| match out.last_mut() {
        Some((last, so_far)) if *last == piece => so_far.push_str(&text),
        _ => out.push((piece, text)),
    };
    let mut rest = text.trim();
    while let Some(c) = rest.chars().next() {
        let taken = match c {
            '\'' | '"' => rest[1..].find(c).map_or(rest.len(), |end| end + 2),
            c if c.is_ascii_alphanumeric() || c == '_' || c == '$' => {
                rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '$')).unwrap_or(rest.len())
            }
            c if c.is_whitespace() => rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (word, after) = rest.split_at(taken);
        let piece = match c {
            '\'' | '"' => Piece::Text,
            c if c.is_ascii_digit() || c == '$' => Piece::Number,
            _ if is_keyword(word) => Piece::Keyword,
            _ => Piece::Plain,
        };
        push(piece, if c.is_whitespace() { " ".to_owned() } else { word.to_owned() });
        rest = after;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_apart_and_nothing_is_lost() {
        let text = "update locks\n   set epoch = epoch + 1 where name = $1 and token = 'it''s'";
        let pieces = pieces(text);
        assert_eq!(pieces[0], (Piece::Keyword, "update".to_owned()));
        assert!(pieces.contains(&(Piece::Number, "$1".to_owned())));
        assert!(pieces.iter().any(|(piece, text)| *piece == Piece::Text && text.contains("it")));
        let whole: String = pieces.into_iter().map(|(_, text)| text).collect();
        assert_eq!(whole, "update locks set epoch = epoch + 1 where name = $1 and token = 'it''s'");
    }

    #[test]
    fn an_open_quote_ends_with_the_text() {
        assert_eq!(pieces("a 'b").last(), Some(&(Piece::Text, "'b".to_owned())));
    }
}
