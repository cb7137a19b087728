//! Tool calls happen in another order.

use crate::model::EvidencePart;

use super::damaged_files::FileDamage;
use super::mutant::{Damage, Mutant, MutationKind};
use super::original::Original;

pub(super) static KIND: MutationKind = MutationKind {
    name: "calls-reordered",
    doc: "the tool calls are in reverse order",
    advice: None,
    part: EvidencePart::Calls,
    make,
};

fn make(original: &Original<'_>) -> Vec<Mutant> {
    let calls = original.calls();
    let is_same =
        calls.iter().zip(calls.iter().rev()).all(|(a, b)| a.tool == b.tool && a.args == b.args);
    if is_same {
        return Vec::new();
    }
    let last = calls.len() - 1;
    let reversed = calls.iter().rev().cloned().collect();
    vec![Mutant {
        kind: &KIND,
        note: String::new(),
        damage: Damage::Wrong,
        transcript: original.with_calls(reversed, |at| last.checked_sub(at)),
        files: FileDamage::default(),
    }]
}

#[cfg(test)]
mod tests {
    use super::super::testing::called;
    use super::*;

    #[test]
    fn an_order_that_reads_the_same_backwards_has_no_mutant() {
        assert_eq!(called(&["a", "b", "a"], make).len(), 0);
        let found = called(&["a", "b"], make);
        let calls = found[0].transcript.calls.as_ref().unwrap();
        assert_eq!(calls.iter().map(|call| call.tool.as_str()).collect::<Vec<_>>(), ["b", "a"]);
    }
}
