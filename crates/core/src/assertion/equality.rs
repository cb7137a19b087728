//! Equality of JSON values: the order of keys does not matter, and numbers compare by value.

use std::collections::HashMap;

use crate::model::{Map, Number, Value};

/// Up to this many entries, a linear search is faster than hashing.
const FEW: usize = 16;

/// Recursive; values come from readers that limit their depth.
pub(super) fn are_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => are_equal_numbers(a, b),
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| are_equal(a, b))
        }
        (Value::Map(a), Value::Map(b)) => a.len() == b.len() && is_part_of(a, b),
        (a, b) => a == b,
    }
}

/// Whether `whole` has every entry of `part`.
pub(super) fn is_part_of(part: &Map, whole: &Map) -> bool {
    if part.len().min(whole.len()) <= FEW {
        return part
            .iter()
            .all(|(key, value)| whole.get(key).is_some_and(|other| are_equal(value, other)));
    }
    let whole: HashMap<&str, &Value> = whole.iter().collect();
    part.iter().all(|(key, value)| whole.get(key).is_some_and(|other| are_equal(value, other)))
}

/// `1` and `1.0` are equal. Two integers are compared digit by digit, because floats
/// cannot distinguish neighbours above 2^53.
fn are_equal_numbers(a: &Number, b: &Number) -> bool {
    let is_integer = |number: &Number| {
        let digits = number.text().strip_prefix('-').unwrap_or(number.text());
        digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    if is_integer(a) && is_integer(b) {
        a.text() == b.text() || (a.value() == 0.0 && b.value() == 0.0)
    } else {
        a.value() == b.value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::json_value;

    fn equal(a: &str, b: &str) -> bool {
        let value = |text| json_value(text).unwrap();
        are_equal(&value(a), &value(b)) && are_equal(&value(b), &value(a))
    }

    #[test]
    fn numbers_compare_by_value() {
        for (a, b) in [
            ("1", "1.0"),
            ("1000", "1e3"),
            ("0", "-0"),
            ("-0", "0.0"),
            ("12345678901234567890123", "12345678901234567890123"),
            ("[1.50]", "[1.5]"),
        ] {
            assert!(equal(a, b), "{a} {b}");
        }
        for (a, b) in [
            ("9007199254740993", "9007199254740992"),
            ("1", "\"1\""),
            ("1", "true"),
            ("0", "null"),
            ("0", "false"),
        ] {
            assert!(!equal(a, b), "{a} {b}");
        }
    }

    #[test]
    fn keys_have_no_order_and_lists_have_one() {
        assert!(equal(r#"{"a":1,"b":[{}]}"#, r#"{"b":[{}],"a":1.0}"#));
        assert!(!equal(r#"{"a":1}"#, r#"{"a":1,"b":null}"#));
        assert!(!equal(r#"{"a":null}"#, r#"{"b":null}"#));
        assert!(!equal("[1,2]", "[2,1]"));
        assert!(!equal("[]", "{}"));
    }

    #[test]
    fn large_mappings_are_compared_in_time() {
        let map = |keys: &mut dyn Iterator<Item = u32>| {
            let entries: Vec<String> = keys.map(|n| format!("\"{n}\":{n}")).collect();
            format!("{{{}}}", entries.join(","))
        };
        assert!(equal(&map(&mut (0..20_000)), &map(&mut (0..20_000).rev())));
        assert!(!equal(&map(&mut (0..20_000)), &map(&mut (1..20_001))));
    }
}
