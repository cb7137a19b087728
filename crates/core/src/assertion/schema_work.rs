//! How much work it is to validate a value against a JSON Schema (spec 7.12). References make the
//! work grow exponentially with the length of a schema or the depth of a value, and the validator
//! has no limit of its own. So its way is gone through before: each visit of a subschema counts.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::{Map, Value as Json};

/// Visits of subschemas, for one value.
pub(super) const MOST_VISITS: u64 = 2_000_000;
/// Subschemas inside one another while a value is visited, on a thread with a large stack.
const DEEPEST: usize = 10_000;
/// The same for a value without parts.
const DEEPEST_OF_SCALAR: usize = 200;

/// The work is more than is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooMuchWork;

/// The visits that a validation takes. It may be more than the validator makes, which stops early.
pub(super) fn visits(schema: &Json, value: &Json) -> Result<u64, TooMuchWork> {
    let mut walk = SchemaWalk::new(schema, DEEPEST);
    walk.visit(schema, value)?;
    Ok(walk.visits)
}

/// Nothing is below this value, so what is too much for it is too much for every value.
pub(super) fn check_scalar(schema: &Json) -> Result<(), TooMuchWork> {
    SchemaWalk::new(schema, DEEPEST_OF_SCALAR).visit(schema, &Json::Null)
}

pub(super) fn has_references(schema: &Json) -> bool {
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        match value {
            Json::Array(items) => open.extend(items),
            Json::Object(entries) => {
                if entries.contains_key("$ref") || entries.contains_key("$dynamicRef") {
                    return true;
                }
                open.extend(entries.values());
            }
            _ => {}
        }
    }
    false
}

struct SchemaWalk<'s> {
    /// Schemas with an `$id`, and the whole.
    resources: Vec<(String, &'s Json)>,
    anchors: Vec<(&'s str, &'s Json)>,
    /// By reference, once it was followed.
    targets: HashMap<&'s str, Rc<[&'s Json]>>,
    visits: u64,
    depth: usize,
    deepest: usize,
}

impl<'s> SchemaWalk<'s> {
    fn new(schema: &'s Json, deepest: usize) -> Self {
        let mut walk = Self {
            resources: vec![(String::new(), schema)],
            anchors: Vec::new(),
            targets: HashMap::new(),
            visits: 0,
            depth: 0,
            deepest,
        };
        walk.collect_names(schema);
        walk
    }

    fn collect_names(&mut self, schema: &'s Json) {
        let mut open = vec![schema];
        while let Some(value) = open.pop() {
            match value {
                Json::Array(items) => open.extend(items),
                Json::Object(entries) => {
                    let text = |key: &str| entries.get(key).and_then(Json::as_str);
                    if let Some(id) = text("$id") {
                        let (document, anchor) = id.split_once('#').unwrap_or((id, ""));
                        self.resources.push((document.to_owned(), value));
                        self.anchors.push((anchor, value));
                    }
                    let anchors = ["$anchor", "$dynamicAnchor"].into_iter().filter_map(text);
                    self.anchors.extend(anchors.map(|anchor| (anchor, value)));
                    open.extend(entries.values());
                }
                _ => {}
            }
        }
    }

    fn visit(&mut self, schema: &'s Json, value: &Json) -> Result<(), TooMuchWork> {
        self.count(1)?;
        let Json::Object(keywords) = schema else {
            return Ok(());
        };
        self.depth += 1;
        if self.depth > self.deepest {
            return Err(TooMuchWork);
        }
        for (keyword, part) in keywords {
            self.visit_same(keyword, part, value)?;
            match value {
                Json::Array(items) => self.visit_items(keyword, part, items)?,
                Json::Object(members) => self.visit_members(keyword, part, members)?,
                _ => {}
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn count(&mut self, more: usize) -> Result<(), TooMuchWork> {
        self.visits += more as u64;
        if self.visits > MOST_VISITS { Err(TooMuchWork) } else { Ok(()) }
    }

    /// Keywords whose subschemas apply to the value itself.
    fn visit_same(
        &mut self,
        keyword: &str,
        part: &'s Json,
        value: &Json,
    ) -> Result<(), TooMuchWork> {
        match (keyword, part) {
            ("allOf" | "anyOf" | "oneOf", Json::Array(schemas)) => {
                schemas.iter().try_for_each(|schema| self.visit(schema, value))
            }
            ("dependentSchemas" | "dependencies", Json::Object(schemas)) => {
                schemas.values().try_for_each(|schema| self.visit(schema, value))
            }
            ("not" | "if" | "then" | "else", schema) => self.visit(schema, value),
            ("$ref" | "$dynamicRef", Json::String(reference)) => {
                let targets = match self.targets.get(reference.as_str()) {
                    Some(known) => Rc::clone(known),
                    None => {
                        let found: Rc<[&Json]> = self.targets_of(reference).into();
                        self.targets.insert(reference, Rc::clone(&found));
                        found
                    }
                };
                targets.iter().try_for_each(|schema| self.visit(schema, value))
            }
            ("enum" | "required", Json::Array(values)) => self.count(values.len()),
            _ => Ok(()),
        }
    }

    fn visit_items(
        &mut self,
        keyword: &str,
        part: &'s Json,
        items: &[Json],
    ) -> Result<(), TooMuchWork> {
        match (keyword, part) {
            ("prefixItems" | "items", Json::Array(schemas)) => {
                schemas.iter().zip(items).try_for_each(|(schema, item)| self.visit(schema, item))
            }
            ("items" | "additionalItems" | "unevaluatedItems" | "contains", schema) => {
                items.iter().try_for_each(|item| self.visit(schema, item))
            }
            _ => Ok(()),
        }
    }

    fn visit_members(
        &mut self,
        keyword: &str,
        part: &'s Json,
        members: &Map<String, Json>,
    ) -> Result<(), TooMuchWork> {
        match (keyword, part) {
            ("properties", Json::Object(schemas)) => {
                let known = schemas
                    .iter()
                    .filter_map(|(name, schema)| members.get(name).map(|member| (schema, member)));
                let known: Vec<(&Json, &Json)> = known.collect();
                self.count(schemas.len())?;
                known.into_iter().try_for_each(|(schema, member)| self.visit(schema, member))
            }
            // Which names match does not matter: all are searched.
            ("patternProperties", Json::Object(schemas)) => {
                schemas.values().try_for_each(|schema| {
                    members.values().try_for_each(|member| self.visit(schema, member))
                })
            }
            ("additionalProperties" | "unevaluatedProperties", schema) => {
                members.values().try_for_each(|member| self.visit(schema, member))
            }
            ("propertyNames", schema) => {
                members.keys().try_for_each(|_| self.visit(schema, &Json::Null))
            }
            _ => Ok(()),
        }
    }

    /// Every schema that a reference may mean. Which one it is depends on the nearest `$id`; there is
    /// rarely more than one.
    fn targets_of(&self, reference: &str) -> Vec<&'s Json> {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let named = self.resources.iter().filter(|(id, _)| id.ends_with(document));
        let mut found: Vec<&'s Json> = match fragment {
            "" => named.map(|(_, schema)| *schema).collect(),
            pointer if pointer.starts_with('/') => {
                let pointer = percent_decoded(pointer);
                named.filter_map(|(_, schema)| schema.pointer(&pointer)).collect()
            }
            anchor => {
                let named = self.anchors.iter().filter(|(name, _)| *name == anchor);
                named.map(|(_, schema)| *schema).collect()
            }
        };
        found.sort_by_key(|schema| std::ptr::from_ref(*schema));
        found.dedup_by_key(|schema| std::ptr::from_ref(*schema));
        found
    }
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).filter(|_| *first == b'%');
        let digits = hex.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_visit_of_a_subschema_counts() {
        let schema = json!({"properties": {"a": {"items": {"type": "number"}}, "b": {}}});
        assert_eq!(visits(&schema, &json!({"a": [1, 2, 3]})), Ok(7));
        assert_eq!(visits(&schema, &json!(1)), Ok(1));
        assert_eq!(visits(&json!(true), &json!(1)), Ok(1));
    }

    #[test]
    fn references_are_followed_by_pointer_anchor_and_id() {
        let definitions = json!({
            "a/b c": {"type": "number"},
            "named": {"$anchor": "here", "type": "number"},
            "other": {"$id": "https://example.org/other", "$defs": {"n": {"type": "number"}}},
        });
        for reference in [
            "#/$defs/a~1b%20c",
            "#here",
            "https://example.org/other",
            "https://example.org/other#/$defs/n",
            "other",
        ] {
            let schema = json!({"$defs": definitions, "$ref": reference});
            assert_eq!(visits(&schema, &json!(1)), Ok(2), "{reference}");
        }
    }

    #[test]
    fn work_that_doubles_is_too_much() {
        let mut definitions = Map::from_iter([("d0".to_owned(), json!({}))]);
        for number in 1..40 {
            let below = json!({"$ref": format!("#/$defs/d{}", number - 1)});
            definitions.insert(format!("d{number}"), json!({"allOf": [below, below]}));
        }
        let schema = json!({"$defs": definitions, "$ref": "#/$defs/d39"});
        assert_eq!(visits(&schema, &json!({})), Err(TooMuchWork));

        let item = json!({"items": {"$ref": "#"}});
        let schema = json!({"allOf": [item, item]});
        assert_eq!(check_scalar(&schema), Ok(()));
        let nested = |depth| (0..depth).fold(json!([]), |inner, _| json!([inner]));
        assert!(visits(&schema, &nested(3)).is_ok());
        assert_eq!(visits(&schema, &nested(100)), Err(TooMuchWork));

        for endless in [json!({"$ref": "#"}), json!({"not": {"anyOf": [{"$ref": "#"}]}})] {
            assert_eq!(check_scalar(&endless), Err(TooMuchWork));
        }
    }

    #[test]
    fn a_tree_is_no_more_work_than_its_nodes() {
        let schema = json!({"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}});
        let tree = (0..10).fold(json!({}), |inner, _| json!({"left": inner, "right": inner}));
        assert!(visits(&schema, &tree).unwrap() < 20 * 2048);
        let list = (0..100).fold(json!({}), |inner, _| json!({"left": inner}));
        assert!(visits(&schema, &list).unwrap() < 1000);
    }
}
