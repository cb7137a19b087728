//! Tool calls are missing.

use std::cmp::Ordering;

use crate::model::EvidencePart;

use super::damaged_files::FileDamage;
use super::mutant::{Damage, Mutant, MutationKind};
use super::original::Original;

pub(super) static KIND: MutationKind = MutationKind {
    name: "calls-dropped",
    doc: "tool calls are missing: all of them, or one",
    advice: None,
    part: EvidencePart::Calls,
    make,
};

/// Single calls that are left out in turn.
const SINGLE: usize = 5;

fn make(original: &Original<'_>) -> Vec<Mutant> {
    let calls = original.calls();
    if calls.is_empty() {
        return Vec::new();
    }
    let mutant = |note: String, damage, transcript| Mutant {
        kind: &KIND,
        note,
        damage,
        transcript,
        files: FileDamage::default(),
    };
    let none = original.with_calls(Vec::new(), |_| None);
    let mut found = vec![mutant("all tool calls are missing".to_owned(), Damage::Missing, none)];
    if calls.len() > 1 {
        let step = calls.len().div_ceil(SINGLE);
        found.extend((0..calls.len()).step_by(step).map(|at| {
            let mut rest = calls.to_vec();
            let gone = rest.remove(at);
            let note =
                format!("tool call {} of {}, `{}`, is missing", at + 1, calls.len(), gone.tool);
            let place = |old: usize| match old.cmp(&at) {
                Ordering::Less => Some(old),
                Ordering::Equal => None,
                Ordering::Greater => Some(old - 1),
            };
            mutant(note, Damage::Wrong, original.with_calls(rest, place))
        }));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::testing::called;
    use super::*;

    #[test]
    fn all_calls_and_single_calls_are_dropped() {
        let lengths = |tools: &[&str]| -> Vec<usize> {
            let found = called(tools, make);
            found.iter().map(|one| one.transcript.calls.as_ref().unwrap().len()).collect()
        };
        assert_eq!(lengths(&[]), [0; 0]);
        assert_eq!(lengths(&["a"]), [0]);
        assert_eq!(lengths(&["a", "b", "c"]), [0, 2, 2, 2]);
        assert_eq!(lengths(&["a"; 12]), [0, 11, 11, 11, 11]);
    }
}
