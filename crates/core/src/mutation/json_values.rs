//! Every value of a JSON answer is another one of the same type.

use crate::model::{EvidencePart, Number, Value};
use crate::stats::SplitMix64;

use super::json_answer::{JsonAnswer, changed};
use super::mutant::{Damage, Mutant, MutationKind};
use super::numbers::other_digits;
use super::original::Original;

pub(super) static KIND: MutationKind = MutationKind {
    name: "json-values",
    doc: "every value of the JSON answer is another one of the same type",
    advice: Some("compare the values that matter: `field-accuracy`, or `is-json` with a `schema`"),
    part: EvidencePart::Answer,
    make,
};

fn make(original: &Original<'_>) -> Vec<Mutant> {
    let Some(json) = JsonAnswer::find(original.answer()) else { return Vec::new() };
    let mut random = original.random(KIND.name);
    let answer = json.with(&changed(&json.value, &mut |value| other(value, &mut random)));
    vec![Mutant::of_answer(original, &KIND, Damage::Wrong, "", answer)]
}

/// Another value of the same type. What is empty stays.
pub(super) fn other(value: &Value, random: &mut SplitMix64) -> Value {
    match value {
        Value::Bool(is_set) => Value::Bool(!is_set),
        Value::String(_) => Value::from("something else"),
        Value::Number(number) => {
            let text = number.text();
            let mantissa = text.find(['e', 'E']).unwrap_or(text.len());
            let mut out = String::new();
            for part in text[..mantissa].split_inclusive(['-', '+', '.']) {
                let digits = part.trim_end_matches(['-', '+', '.']);
                out.push_str(&other_digits(digits, random));
                out.push_str(&part[digits.len()..]);
            }
            out.push_str(&text[mantissa..]);
            Number::parse(&out).map_or(Value::Null, Value::Number)
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::answers;
    use super::*;

    #[test]
    fn values_keep_their_type() {
        let text = "{\"a\": \"x\", \"b\": [true, null, 12.5], \"c\": -3e2, \"d\": {}}";
        let found = answers(&KIND, text);
        let value = crate::syntax::json_value(&found[0]).unwrap();
        let map = value.as_map().unwrap();
        assert_eq!(map.get("a").unwrap().as_str(), Some("something else"));
        let list = map.get("b").unwrap().as_list().unwrap();
        assert_eq!(list[..2], [Value::Bool(false), Value::Null]);
        let Value::Number(number) = &list[2] else { panic!() };
        assert!(number.text().len() == 4 && number.text() != "12.5");
        let Value::Number(number) = map.get("c").unwrap() else { panic!() };
        assert!(number.text().starts_with('-') && number.text().ends_with("e2"));
    }
}
