//! Between the core's values, which keep the spelling of numbers, and those of `serde_json`.

use evalrig_core::model::{Map, Number, Value};
use serde_json::Value as Json;

pub fn to_json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Number(number) => Json::Number(number_to_json(number)),
        Value::String(text) => Json::String(text.clone()),
        Value::List(items) => Json::Array(items.iter().map(to_json).collect()),
        Value::Map(map) => map_to_json(map),
    }
}

pub fn map_to_json(map: &Map) -> Json {
    let entries = map.iter();
    Json::Object(entries.map(|(key, value)| (key.to_owned(), to_json(value))).collect())
}

/// An integer stays one; what no float can hold becomes the nearest one that can.
pub fn number_to_json(number: &Number) -> serde_json::Number {
    let parsed = serde_json::from_str(number.text()).ok();
    parsed.or_else(|| serde_json::Number::from_f64(number.value())).unwrap_or_else(|| 0.into())
}

pub fn from_json(value: &Json) -> Value {
    match value {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => {
            let text = number.to_string();
            Number::parse(&text).map_or(Value::String(text), Value::Number)
        }
        Json::String(text) => Value::String(text.clone()),
        Json::Array(items) => Value::List(items.iter().map(from_json).collect()),
        Json::Object(entries) => {
            let entries = entries.iter();
            Value::Map(entries.map(|(key, value)| (key.clone(), from_json(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_as_they_were() {
        let text = r#"{"b":[1,2.5,null,true,"x"],"a":{"z":-3,"n":18446744073709551615}}"#;
        let json: Json = serde_json::from_str(text).unwrap();
        assert_eq!(to_json(&from_json(&json)), json);
    }
}
