//! Every number of the answer is another one.

use crate::model::EvidencePart;
use crate::stats::SplitMix64;

use super::answer_text::replaced;
use super::json_answer::JsonAnswer;
use super::mutant::{Damage, Mutant, MutationKind};
use super::original::Original;

pub(super) static KIND: MutationKind = MutationKind {
    name: "numbers",
    doc: "every number is another one",
    advice: None,
    part: EvidencePart::Answer,
    make,
};

fn make(original: &Original<'_>) -> Vec<Mutant> {
    let text = original.answer();
    if JsonAnswer::find(text).is_some() {
        return Vec::new();
    }
    let mut random = original.random(KIND.name);
    let changes: Vec<_> = digit_runs(text)
        .map(|range| (range.clone(), other_digits(&text[range], &mut random)))
        .collect();
    if changes.is_empty() {
        return Vec::new();
    }
    let answer = replaced(text, &changes);
    vec![Mutant::of_answer(original, &KIND, Damage::Wrong, "", answer)]
}

fn digit_runs(text: &str) -> impl Iterator<Item = std::ops::Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() && !bytes[at].is_ascii_digit() {
            at += 1;
        }
        let start = at;
        while at < bytes.len() && bytes[at].is_ascii_digit() {
            at += 1;
        }
        (start < at).then_some(start..at)
    })
}

/// As many digits, each another one, so that the number looks alike. The first one does not become 0.
pub(super) fn other_digits(digits: &str, random: &mut SplitMix64) -> String {
    let other = |(at, digit): (usize, u8)| {
        let (digit, is_first) = (digit - b'0', at == 0);
        let mut shift = 1 + random.below(9) as u8;
        if is_first && (digit + shift).is_multiple_of(10) {
            shift = if shift == 9 { 8 } else { shift + 1 };
        }
        char::from(b'0' + (digit + shift) % 10)
    };
    digits.bytes().enumerate().map(other).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::answers;
    use super::*;

    #[test]
    fn every_digit_changes_and_the_rest_stays() {
        for text in ["$22,500 in 2024", "0", "9", "a1b22é333", "10.05 %"] {
            let found = answers(&KIND, text);
            let [changed] = &found[..] else { panic!("{text}: {found:?}") };
            for (a, b) in text.chars().zip(changed.chars()) {
                assert_eq!(a.is_ascii_digit(), b.is_ascii_digit());
                assert_eq!(a == b, !a.is_ascii_digit(), "{text} {changed}");
            }
        }
        assert_eq!(answers(&KIND, "no number"), [""; 0]);
    }
}
