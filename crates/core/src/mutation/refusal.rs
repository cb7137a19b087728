//! The agent refuses.

use crate::model::EvidencePart;

use super::json_answer::JsonAnswer;
use super::mutant::{Damage, Mutant, MutationKind};
use super::original::Original;

pub(super) static KIND: MutationKind = MutationKind {
    name: "refusal",
    doc: "the agent says that it cannot help",
    advice: None,
    part: EvidencePart::Answer,
    make,
};

const REFUSAL: &str = "I'm sorry, but I can't help with that request. Is there anything else that I \
                       can do for you today?";

fn make(original: &Original<'_>) -> Vec<Mutant> {
    if original.answer().trim().is_empty() {
        return Vec::new();
    }
    // A refusal is no JSON, so checks of the form notice it.
    let is_json = JsonAnswer::find(original.answer()).is_some();
    let damage = if is_json { Damage::Missing } else { Damage::Wrong };
    vec![Mutant::of_answer(original, &KIND, damage, "", REFUSAL.to_owned())]
}
