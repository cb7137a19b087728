//! Words and punctuation of the code of a file; `::` is one token.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub text: &'a str,
    pub at: usize,
}

impl Token<'_> {
    pub(crate) fn is_word(&self) -> bool {
        let first = self.text.as_bytes()[0];
        first.is_ascii_alphabetic() || first == b'_'
    }
}

/// `code` is a file whose comments and texts are blank.
pub(crate) fn tokens(code: &str) -> Vec<Token<'_>> {
    let bytes = code.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        if bytes[at].is_ascii_whitespace() {
            at += 1;
            continue;
        }
        if bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_' {
            while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_') {
                at += 1;
            }
        } else if bytes[at..].starts_with(b"::") {
            at += 2;
        } else {
            at += code[at..].chars().next().map_or(1, char::len_utf8);
        }
        found.push(Token { text: &code[start..at], at: start });
    }
    found
}

/// The index of the bracket that closes the one at `open`; the last token where none does.
pub(crate) fn closing(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    tokens.len().saturating_sub(1)
}

/// The index of the token that ends the item or field at `start`: a closing brace, a semicolon, or
/// the comma behind a field.
pub(crate) fn end_of_item(tokens: &[Token<'_>], start: usize) -> usize {
    let mut at = start;
    if tokens[at].text == "pub" {
        at += 1;
        if tokens[at].text == "(" {
            at = closing(tokens, at) + 1;
        }
    }
    let is_use = tokens[at].text == "use";
    // Commas of items separate generics and bounds.
    let is_item = ITEM_KEYWORDS.contains(&tokens[at].text);
    while at < tokens.len() {
        match tokens[at].text {
            "(" | "[" => at = closing(tokens, at),
            "{" if is_use => at = closing(tokens, at),
            "{" => return closing(tokens, at),
            ";" => return at,
            "," if !is_item => return at,
            _ => {}
        }
        at += 1;
    }
    tokens.len().saturating_sub(1)
}

const ITEM_KEYWORDS: [&str; 13] = [
    "async", "const", "enum", "extern", "fn", "impl", "mod", "static", "struct", "trait", "type",
    "unsafe", "use",
];
