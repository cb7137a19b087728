//! YAML outside of suites, such as a log file: parsed to a tree, or to one sentence that says why
//! it cannot be.

use std::sync::Arc;

use crate::diagnostic::Diagnostics;
use crate::source::SourceId;

use super::tree::Tree;
use super::yaml::parse_yaml;

/// Both entries of a repeated key are in the tree; for most writers of such files the last one wins.
pub fn lone_tree(text: String) -> Result<Tree, String> {
    let mut out = Diagnostics::new();
    parse_yaml(SourceId(0), Arc::new(text), &mut out).ok_or_else(|| {
        let first = out.iter().map(|one| one.message.clone()).next();
        first.unwrap_or_else(|| "it cannot be read".to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_a_tree_or_a_reason() {
        let tree = lone_tree("a: 1\na: 2\n".to_owned()).unwrap();
        assert_eq!(tree.root().written_entries().len(), 2);
        assert!(!lone_tree("a: [".to_owned()).unwrap_err().is_empty());
        assert!(!lone_tree(String::new()).unwrap_err().is_empty());
    }
}
