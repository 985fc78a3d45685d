//! What was handed in, byte by byte. A form's reader that mends what is no text would have something graded that
//! nobody wrote, so this one is strict: UTF-8, no byte 0, no longer than the exercise takes.

use locks::homework::Exercise;

/// A form, read.
#[derive(Debug, PartialEq, Eq)]
pub struct Pressed {
    /// What was written.
    pub text: String,
    /// It is to be graded, not only kept.
    pub grade: bool,
}

/// Read a form of `text` and `do`; or why it is refused.
pub fn read(body: &[u8], exercise: &Exercise) -> Result<Pressed, String> {
    let (mut text, mut does) = (None, None);
    for pair in body.split(|byte| *byte == b'&') {
        let equals = pair.iter().position(|byte| *byte == b'=').unwrap_or(pair.len());
        let (name, value) = (decoded(&pair[..equals])?, decoded(pair.get(equals + 1..).unwrap_or_default())?);
        match name.as_slice() {
            b"text" => text = Some(value),
            b"do" => does = Some(value),
            _ => {}
        }
    }
    let text = text.ok_or("The form has no text.")?;
    let grade = match does.as_deref() {
        Some(b"grade") => true,
        Some(b"keep") => false,
        _ => return Err("That is no button of this page.".to_owned()),
    };
    // Browsers end the lines of forms as mails do.
    let text = checked(&text, exercise)?.replace("\r\n", "\n");
    if grade && text.trim().is_empty() {
        return Err("There is nothing to be graded.".to_owned());
    }
    Ok(Pressed { text, grade })
}

/// Read a draft.
pub fn draft(body: &[u8], exercise: &Exercise) -> Result<String, String> {
    checked(body, exercise).map(str::to_owned)
}

fn checked<'a>(bytes: &'a [u8], exercise: &Exercise) -> Result<&'a str, String> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| format!("This is no text: byte {} is not UTF-8.", error.valid_up_to() + 1))?;
    if let Some(at) = text.find('\0') {
        return Err(format!("Byte {} is 0, and no text has that.", at + 1));
    }
    // A form's line ends count as one byte.
    let (length, most) = (text.len() - text.matches("\r\n").count(), exercise.language.longest());
    if length > most {
        return Err(format!("This is too long: {length} bytes, and this exercise takes {most}."));
    }
    Ok(text)
}

/// What stands in a form as `+` and `%41`.
fn decoded(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'+' => out.push(b' '),
            b'%' => {
                let [high, low, after @ ..] = rest else { return Err("The form cannot be read.".to_owned()) };
                let (Some(high), Some(low)) = (digit(*high), digit(*low)) else {
                    return Err("The form cannot be read.".to_owned());
                };
                out.push(high << 4 | low);
                rest = after;
            }
            byte => out.push(*byte),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release() -> &'static Exercise {
        locks::homework::exercise("release").unwrap()
    }

    #[test]
    fn text_is_read_as_it_was_written() {
        let read = |body: &str| read(body.as_bytes(), release());
        let pressed = read("text=return+%27%C3%BC%27%0D%0A--%2B&do=grade").unwrap();
        assert_eq!(pressed, Pressed { text: "return 'ü'\n--+".to_owned(), grade: true });
        assert!(!read("do=keep&text=").unwrap().grade);
    }

    #[test]
    fn what_is_no_text_is_refused_and_never_mended() {
        let long = format!("text={}&do=grade", "x".repeat(4097));
        for (body, says) in [
            ("text=%FF&do=grade", "byte 1 is not UTF-8"),
            ("text=a%00b&do=grade", "Byte 2 is 0"),
            ("text=%20%0D%0A&do=grade", "nothing"),
            ("text=a&do=fly", "no button"),
            ("text=a", "no button"),
            ("do=grade", "no text"),
            ("text=%4&do=grade", "cannot be read"),
            ("text=%zz&do=grade", "cannot be read"),
            (long.as_str(), "4097 bytes"),
        ] {
            let why = read(body.as_bytes(), release()).unwrap_err();
            assert!(why.contains(says), "{body}: {why}");
        }
        assert!(draft(&[0xff], release()).is_err());
        // The lines' ends of a form do not count.
        assert!(read(format!("text={}&do=keep", "%0D%0A".repeat(4096)).as_bytes(), release()).is_ok());
    }
}
