//! A YAML text that no suite holds, such as a file of a log: a tree, or one sentence that says why
//! there is none.

use std::sync::Arc;

use crate::diagnostic::Diagnostics;
use crate::source::SourceId;

use super::tree::Tree;
use super::yaml::parse_yaml;

/// Of a key that comes twice, both are in the tree: most writers of such files let the last count.
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
