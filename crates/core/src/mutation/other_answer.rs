//! The answer of another test of the suite.

use crate::model::EvidencePart;

use super::answer_text::same_words;
use super::json_answer::JsonAnswer;
use super::mutant::{Damage, Mutant, MutationKind};
use super::original::{Original, OtherAnswer};

pub(super) static KIND: MutationKind = MutationKind {
    name: "other-answer",
    doc: "the answer is that of another test",
    advice: None,
    part: EvidencePart::Answer,
    make,
};

/// One that has the same form, so that the form does not give it away.
fn make(original: &Original<'_>) -> Vec<Mutant> {
    let own = original.answer();
    if own.trim().is_empty() {
        return Vec::new();
    }
    let is_json = JsonAnswer::find(own).is_some();
    let fits = |other: &&OtherAnswer| {
        other.test != original.test.id.as_str()
            && other.answer != own
            && !other.answer.trim().is_empty()
            && !same_words(&other.answer, own)
            && JsonAnswer::find(&other.answer).is_some() == is_json
    };
    if original.others.is_empty() {
        return Vec::new();
    }
    // The first that fits from a random one on: comparing all of them would take long.
    let chosen = original.random(KIND.name).below(original.others.len() as u64) as usize;
    let (before, after) = original.others.split_at(chosen);
    let Some(other) = after.iter().chain(before).find(fits) else { return Vec::new() };
    let note = format!("the answer is that of test `{}`", other.test);
    vec![Mutant::of_answer(original, &KIND, Damage::Wrong, note, other.answer.clone())]
}

#[cfg(test)]
mod tests {
    use super::super::testing::answers_among;
    use super::*;

    #[test]
    fn another_answer_has_the_same_form() {
        let others =
            [("a", "mine"), ("b", "{\"x\": 1}"), ("c", "hers"), ("d", " hello "), ("e", "")];
        assert_eq!(answers_among(&KIND, "hello", &others), ["hers"]);
        assert_eq!(answers_among(&KIND, "{\"y\": 2}", &others), ["{\"x\": 1}"]);
        assert_eq!(answers_among(&KIND, "hello", &others[..2]), [""; 0]);
    }
}
