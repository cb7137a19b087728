//! Tools are called with other arguments.

use crate::model::{Call, EvidencePart};

use super::damaged_files::FileDamage;
use super::json_answer::changed;
use super::json_values::other;
use super::mutant::{Damage, Mutant, MutationKind};
use super::original::Original;

pub(super) static KIND: MutationKind = MutationKind {
    name: "call-arguments",
    doc: "every argument of the tool calls has another value",
    advice: Some("give the expected call its `args`"),
    part: EvidencePart::Calls,
    make,
};

fn make(original: &Original<'_>) -> Vec<Mutant> {
    let mut random = original.random(KIND.name);
    let calls = original.calls().iter().map(|call| Call {
        args: changed(&call.args, &mut |value| other(value, &mut random)),
        ..call.clone()
    });
    let mut transcript = original.with_calls(calls.collect(), Some);
    if transcript.calls.as_deref() == Some(original.calls()) {
        return Vec::new();
    }
    // A skill is used by a call whose argument names it.
    for used in transcript.skills.used.iter_mut().flatten().filter(|used| used.call.is_some()) {
        used.name = "something else".to_owned();
    }
    let files = FileDamage::default();
    vec![Mutant { kind: &KIND, note: String::new(), damage: Damage::Wrong, transcript, files }]
}

#[cfg(test)]
mod tests {
    use super::super::testing::called;
    use super::*;

    #[test]
    fn calls_without_arguments_have_no_mutant() {
        assert_eq!(called(&["bare"], make).len(), 0);
        let found = called(&["search"], make);
        let calls = found[0].transcript.calls.as_ref().unwrap();
        let query = calls[0].args.as_map().unwrap().get("query").unwrap();
        assert_eq!(query.as_str(), Some("something else"));
    }
}
