//! Every key of a JSON answer has another name.

use crate::model::{EvidencePart, Map, Value};

use super::json_answer::JsonAnswer;
use super::mutant::{Damage, Mutant, MutationKind};
use super::original::Original;

pub(super) static KIND: MutationKind = MutationKind {
    name: "json-keys",
    doc: "every key of the JSON answer has another name",
    advice: Some(
        "name the keys that must be there: `field-accuracy`, or `is-json` with a `schema`",
    ),
    part: EvidencePart::Answer,
    make,
};

fn make(original: &Original<'_>) -> Vec<Mutant> {
    let Some(json) = JsonAnswer::find(original.answer()) else { return Vec::new() };
    let answer = json.with(&renamed(&json.value));
    vec![Mutant::of_answer(original, &KIND, Damage::Wrong, "", answer)]
}

/// The depth is bounded by the parser.
fn renamed(value: &Value) -> Value {
    match value {
        Value::List(items) => Value::List(items.iter().map(renamed).collect()),
        Value::Map(map) => {
            let entries = map.iter().map(|(key, value)| (format!("renamed_{key}"), renamed(value)));
            Value::Map(entries.collect::<Map>())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::answers;
    use super::*;

    #[test]
    fn keys_change_at_every_depth() {
        assert_eq!(
            answers(&KIND, "```json\n[{\"a\": {\"b\": 1}}]\n```"),
            ["```json\n[{\"renamed_a\": {\"renamed_b\": 1}}]\n```"]
        );
        assert_eq!(answers(&KIND, "[1, 2]"), [""; 0]);
        assert_eq!(answers(&KIND, "{\"a\": 1} and more"), [""; 0]);
    }
}
