//! The answer is missing.

use crate::model::EvidencePart;

use super::mutant::{Damage, Mutant, MutationKind};

pub(super) static KIND: MutationKind = MutationKind {
    name: "empty",
    doc: "the answer is empty",
    advice: None,
    part: EvidencePart::Answer,
    make: |original| vec![Mutant::of_answer(original, &KIND, Damage::Missing, "", String::new())],
};
