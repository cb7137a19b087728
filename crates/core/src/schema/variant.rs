//! Mappings whose other keys depend on one of them: assertion types, providers.

use crate::model::Value;

use super::keyword::{map, matching, when, with};

/// What holds when the deciding key is one of these names.
#[derive(Debug, Clone)]
pub struct Variant {
    pub names: Vec<String>,
    pub schema: Value,
}

/// One rule per variant, and one for every other name.
pub fn choose(key: &str, variants: &[Variant], otherwise: Option<Value>) -> Vec<Value> {
    let is_one_of = |names: Vec<String>| with(key, map([("enum", names.into())]));
    let mut rules: Vec<Value> = variants
        .iter()
        .map(|variant| when(is_one_of(variant.names.clone()), variant.schema.clone()))
        .collect();
    if let Some(schema) = otherwise {
        let all = variants.iter().flat_map(|variant| variant.names.clone());
        rules.push(map([("if", is_one_of(all.collect())), ("else", schema)]));
    }
    rules
}

/// A mapping whose key holds a name that matches the pattern, for schemas of editors: they show the
/// words of an `enum` to readers, and an entry that is not written yet matches every condition that
/// does not ask for a mapping.
pub fn is_named(key: &str, pattern: &str) -> Value {
    map([
        ("type", "object".into()),
        ("required", vec![key].into()),
        ("properties", map([(key, matching(&format!("^({pattern})$")))])),
    ])
}

/// All spellings of a name: each `-` may be written as `_`.
pub fn spellings(name: &str) -> Vec<String> {
    let mut written = vec![String::new()];
    for character in name.chars() {
        let longer = |with: char| move |start: &String| format!("{start}{with}");
        written = match character {
            '-' => {
                let hyphens: Vec<String> = written.iter().map(longer('-')).collect();
                let underscores = written.iter().map(longer('_'));
                hyphens.iter().cloned().chain(underscores).collect()
            }
            other => written.iter().map(longer(other)).collect(),
        };
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_hyphen_may_be_an_underscore() {
        assert_eq!(spellings("regex"), ["regex"]);
        assert_eq!(spellings("a-b-c"), ["a-b-c", "a_b-c", "a-b_c", "a_b_c"]);
    }
}
