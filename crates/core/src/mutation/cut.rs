//! Only a part of the answer is there.

use crate::model::EvidencePart;

use super::answer_text::words;
use super::mutant::{Damage, Mutant, MutationKind};
use super::original::Original;

pub(super) static KIND: MutationKind = MutationKind {
    name: "cut",
    doc: "only the first or the last half of the answer is there",
    advice: None,
    part: EvidencePart::Answer,
    make,
};

fn make(original: &Original<'_>) -> Vec<Mutant> {
    let text = original.answer();
    let words = words(text);
    let Some(middle) = words.get(words.len() / 2).filter(|_| words.len() > 1) else {
        return Vec::new();
    };
    let (first, last) = text.split_at(middle.start);
    let mutant = |note, half: &str| {
        Mutant::of_answer(original, &KIND, Damage::Missing, note, half.trim().to_owned())
    };
    vec![
        mutant("only the first half of the answer is there", first),
        mutant("only the last half of the answer is there", last),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::testing::answers;
    use super::*;

    #[test]
    fn an_answer_is_cut_between_words() {
        assert_eq!(answers(&KIND, "one two, three four"), ["one two,", "three four"]);
        assert_eq!(answers(&KIND, "one"), [""; 0]);
    }
}
