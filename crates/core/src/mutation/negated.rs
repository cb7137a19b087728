//! The answer says the opposite.

use crate::model::EvidencePart;

use super::answer_text::{AnswerWord, replaced, words};
use super::json_answer::JsonAnswer;
use super::mutant::{Damage, Mutant, MutationKind};
use super::original::Original;

pub(super) static KIND: MutationKind = MutationKind {
    name: "negated",
    doc: "the answer says the opposite",
    advice: None,
    part: EvidencePart::Answer,
    make,
};

/// Words that are replaced by each other.
const OPPOSITES: &[(&str, &str)] = &[
    ("yes", "no"),
    ("true", "false"),
    ("correct", "incorrect"),
    ("valid", "invalid"),
    ("possible", "impossible"),
    ("allowed", "forbidden"),
    ("always", "never"),
    ("more", "less"),
    ("higher", "lower"),
    ("best", "worst"),
    ("highest", "lowest"),
    ("increased", "decreased"),
    ("success", "failure"),
    ("succeeded", "failed"),
    ("passed", "rejected"),
];

/// Words behind which `not` negates a sentence.
const VERBS: &[&str] = &[
    "are", "can", "could", "did", "do", "does", "has", "have", "is", "must", "should", "was",
    "were", "will", "would",
];

fn make(original: &Original<'_>) -> Vec<Mutant> {
    let text = original.answer();
    if JsonAnswer::find(text).is_some() {
        return Vec::new();
    }
    let all = words(text);
    let mut changes = Vec::new();
    for (at, word) in all.iter().enumerate() {
        let next = all.get(at + 1).map_or("", |next| next.text);
        changes.extend(opposite(word, next));
    }
    if changes.is_empty() {
        return Vec::new();
    }
    vec![Mutant::of_answer(original, &KIND, Damage::Wrong, "", replaced(text, &changes))]
}

fn opposite(word: &AnswerWord<'_>, next: &str) -> Option<(std::ops::Range<usize>, String)> {
    let lower = word.text.to_lowercase();
    let range = word.start..word.end();
    if lower == "not" {
        return Some((range, String::new()));
    }
    if VERBS.contains(&lower.as_str()) && !next.eq_ignore_ascii_case("not") {
        return Some((range, format!("{} not", word.text)));
    }
    let found = OPPOSITES.iter().find_map(|(a, b)| match lower.as_str() {
        word if word == *a => Some(*b),
        word if word == *b => Some(*a),
        _ => None,
    })?;
    Some((range, in_the_case_of(found, word.text)))
}

fn in_the_case_of(word: &str, model: &str) -> String {
    let mut letters = model.chars();
    let is_upper = letters.next().is_some_and(char::is_uppercase);
    match (is_upper, model.chars().count() > 1 && !model.chars().any(char::is_lowercase)) {
        (true, true) => word.to_uppercase(),
        (true, false) => word[..1].to_uppercase() + &word[1..],
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::answers;
    use super::*;

    #[test]
    fn statements_are_turned_into_their_opposite() {
        for (text, negated) in [
            ("Yes, it is.", "No, it is not."),
            ("This is not valid", "This is  invalid"),
            ("PASSED", "REJECTED"),
        ] {
            assert_eq!(answers(&KIND, text), [negated]);
        }
        assert_eq!(answers(&KIND, "42 apples"), [""; 0]);
        assert_eq!(answers(&KIND, "{\"ok\": true}"), [""; 0]);
    }
}
