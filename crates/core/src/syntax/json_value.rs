//! JSON text → free data.

use std::sync::Arc;

use crate::model::{Map, Number, Value};
use crate::source::SourceId;

use super::json::parse_into;
use super::scalar::Scalar;
use super::tree::{Node, Tree};

/// The value of a JSON text; `None` when it is not JSON.
pub fn json_value(text: &str) -> Option<Value> {
    let mut tree = Tree::new(SourceId(0), Arc::new(text.to_owned()));
    parse_into(&mut tree).ok()?;
    Some(plain_value(tree.root()))
}

/// A node as data, nothing replaced. The depth of a tree is bounded, so this may recurse.
pub(super) fn plain_value(node: Node<'_>) -> Value {
    if node.is_sequence() {
        return Value::List(node.items().map(plain_value).collect());
    }
    match node.scalar() {
        None => Value::Map(
            node.entries()
                .into_iter()
                .filter_map(|(key, value)| {
                    Some((key.scalar_text()?.to_owned(), plain_value(value)))
                })
                .collect::<Map>(),
        ),
        Some(Scalar::Null) => Value::Null,
        Some(Scalar::Bool(value)) => Value::Bool(value),
        Some(Scalar::Int(text) | Scalar::Float(text)) => {
            Number::parse(text).map_or_else(|| Value::from(text), Value::Number)
        }
        Some(Scalar::Str(text)) => Value::from(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::JsonStyle;

    #[test]
    fn json_comes_back_as_it_was() {
        let text = r#"{"b":[1.50,null,true],"a":{"x":"\n"}}"#;
        assert_eq!(json_value(text).unwrap().to_json(JsonStyle::Compact), text);
        assert_eq!(json_value("{a: 1}"), None);
    }
}
