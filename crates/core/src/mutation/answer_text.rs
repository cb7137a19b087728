//! The words of an answer, and how they are replaced.

/// A word with its place: letters, digits and what joins them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AnswerWord<'a> {
    pub(super) start: usize,
    pub(super) text: &'a str,
}

impl AnswerWord<'_> {
    pub(super) fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

pub(super) fn words(text: &str) -> Vec<AnswerWord<'_>> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, letter) in text.char_indices().chain([(text.len(), ' ')]) {
        match (is_of_word(letter), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                let text = text[from..at].trim_end_matches(['\'', '’']);
                found.push(AnswerWord { start: from, text });
                start = None;
            }
            _ => {}
        }
    }
    found.retain(|word| !word.text.is_empty());
    found
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '\'' | '’')
}

/// Whether two texts differ in spaces only.
pub(super) fn same_words(a: &str, b: &str) -> bool {
    a.split_whitespace().eq(b.split_whitespace())
}

/// The text with these byte ranges replaced, which are in order and do not overlap.
pub(super) fn replaced(text: &str, changes: &[(std::ops::Range<usize>, String)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (range, with) in changes {
        out.push_str(&text[at..range.start]);
        out.push_str(with);
        at = range.end;
    }
    out.push_str(&text[at..]);
    out
}

/// Words that carry no fact.
pub(super) fn is_function_word(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been",
        "before", "but", "by", "can", "could", "did", "do", "does", "each", "for", "from", "had",
        "has", "have", "he", "her", "here", "his", "how", "i", "if", "in", "into", "is", "it",
        "its", "may", "me", "more", "most", "my", "of", "on", "or", "our", "out", "over", "she",
        "should", "so", "some", "such", "than", "that", "the", "their", "them", "then", "there",
        "these", "they", "this", "those", "to", "up", "was", "we", "were", "what", "when", "where",
        "which", "while", "who", "will", "with", "would", "you", "your",
    ];
    let lower = word.to_lowercase();
    WORDS.binary_search(&lower.as_str()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_end_at_marks() {
        let found: Vec<&str> =
            words("It's 'fine': $22,500—naïve x_1.").iter().map(|word| word.text).collect();
        assert_eq!(found, ["It's", "'fine", "22", "500", "naïve", "x_1"]);
    }

    #[test]
    fn function_words_are_found_in_any_case() {
        assert!(is_function_word("The") && is_function_word("your") && is_function_word("a"));
        assert!(!is_function_word("November") && !is_function_word("best"));
    }
}
