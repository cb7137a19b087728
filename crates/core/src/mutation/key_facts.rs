//! What the answer is about is missing from it.

use std::collections::HashSet;

use crate::model::{EvidencePart, Test};

use super::answer_text::{AnswerWord, is_function_word, replaced, words};
use super::json_answer::JsonAnswer;
use super::mutant::{Damage, Mutant, MutationKind};
use super::original::Original;

pub(super) static KIND: MutationKind = MutationKind {
    name: "key-facts",
    doc: "the facts are missing from the answer",
    advice: None,
    part: EvidencePart::Answer,
    make,
};

fn make(original: &Original<'_>) -> Vec<Mutant> {
    let text = original.answer();
    if JsonAnswer::find(text).is_some() {
        return Vec::new();
    }
    let expected = expected_words(original.test);
    let all = words(text);
    let is_fact = |at: usize| {
        let word = all[at].text;
        word.contains(|letter: char| letter.is_numeric())
            || expected.contains(&word.to_lowercase())
            || (is_capitalized(word) && !begins_sentence(text, all[at].start))
    };
    let facts = without(text, &all, is_fact);
    let content = without(text, &all, |at| !is_function_word(all[at].text));
    let mutant = |note: &str, answer: String| {
        // Without any word left, it is an answer that is missing.
        let is_left = !words(&answer).is_empty();
        let damage = if is_left { Damage::Wrong } else { Damage::Missing };
        Mutant::of_answer(original, &KIND, damage, note, answer)
    };
    let without_facts =
        mutant("numbers, names and expected words are missing from the answer", facts);
    vec![without_facts, mutant("only function words of the answer are left", content)]
}

/// The text without some of its words.
fn without(text: &str, all: &[AnswerWord<'_>], leaves_out: impl Fn(usize) -> bool) -> String {
    let out = (0..all.len()).filter(|at| leaves_out(*at));
    let changes: Vec<_> = out.map(|at| (all[at].start..all[at].end(), String::new())).collect();
    replaced(text, &changes).split_inclusive('\n').map(single_spaced).collect()
}

fn single_spaced(line: &str) -> String {
    let end = if line.ends_with('\n') { "\n" } else { "" };
    line.split_whitespace().collect::<Vec<_>>().join(" ") + end
}

fn expected_words(test: &Test) -> HashSet<String> {
    let expected = test.expected_output.as_ref().and_then(|expected| expected.text());
    let text = expected.unwrap_or_default();
    let found = words(&text).into_iter().filter(|word| !is_function_word(word.text));
    found.map(|word| word.text.to_lowercase()).collect()
}

fn is_capitalized(word: &str) -> bool {
    word.chars().next().is_some_and(char::is_uppercase) && word != "I"
}

fn begins_sentence(text: &str, at: usize) -> bool {
    text[..at].trim_end().chars().next_back().is_none_or(|last| ".!?:*#-".contains(last))
}

#[cfg(test)]
mod tests {
    use super::super::testing::answers;
    use super::*;

    #[test]
    fn names_and_numbers_are_facts() {
        assert_eq!(
            answers(&KIND, "The best month was November\nwith $22,500."),
            ["The best month was\nwith $,.", "The was\nwith $,."]
        );
        assert_eq!(answers(&KIND, "{\"month\": \"November\"}"), [""; 0]);
    }
}
