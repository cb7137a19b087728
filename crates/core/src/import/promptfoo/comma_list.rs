//! Several texts in one: `a, "b, c"`, as `contains-any` and its relatives accept it.

/// The texts between the commas. A text in double quotes may contain commas; a quote in it is doubled
/// or has a backslash before it.
pub(super) fn comma_list(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        if rest.is_empty() {
            return found;
        }
        if let Some(inner) = rest.strip_prefix('"')
            && let Some((item, behind)) = quoted(inner)
        {
            found.push(item);
            rest = behind;
            continue;
        }
        let end = rest.find(',').unwrap_or(rest.len());
        found.push(rest[..end].trim().to_owned());
        rest = &rest[end..];
    }
}

/// Up to the closing quote; `None` if there is none.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut item = String::new();
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next);
        match (letter, next) {
            ('\\', Some(escaped @ ('"' | '\\'))) | ('"', Some(escaped @ '"')) => {
                item.push(escaped);
                letters.next();
            }
            ('"', _) => return Some((item, &text[at + 1..])),
            _ => item.push(letter),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::comma_list;

    #[test]
    fn quotes_protect_commas() {
        assert_eq!(comma_list("a, b ,, c"), ["a", "b", "c"]);
        assert_eq!(comma_list(r#""1,000", in stock"#), ["1,000", "in stock"]);
        assert_eq!(comma_list(r#""say ""hi""", "a\"b""#), ["say \"hi\"", "a\"b"]);
        assert_eq!(comma_list("\"open, b"), ["\"open", "b"]);
        assert_eq!(comma_list(" , "), [""; 0]);
    }
}
