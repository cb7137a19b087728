//! Formats words for a shell.

/// Quotes a word if a shell would change it.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// How to ask all providers of a file, if it has several.
pub fn other_providers(subject: &str, answering: &[String]) -> Option<String> {
    let [first, _, ..] = answering else { return None };
    let all: Vec<String> = answering.iter().map(|name| format!("-t {}", quoted(name))).collect();
    Some(format!(
        "{subject} has {} providers, and a run asks `{first}`; add `{}` to `run` to ask all",
        answering.len(),
        all.join(" ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_shell_would_change_are_quoted() {
        assert_eq!(quoted("a/b-c.jsonl"), "a/b-c.jsonl");
        assert_eq!(quoted("!x*"), "'!x*'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn names_of_providers_are_quoted() {
        let names = ["a", "b c"].map(str::to_owned);
        let text = other_providers("`x.yaml`", &names).unwrap();
        assert!(text.ends_with("asks `a`; add `-t a -t 'b c'` to `run` to ask all"), "{text}");
        assert_eq!(other_providers("the file", &names[..1]), None);
    }
}
