//! The values that the merge key `<<` accepts: a mapping, or a list of mappings (spec 2.5).

use super::tree::{NodeId, NodeShape, ScalarStyle, Tree};

/// The values of merge keys, or the items of them, that cannot be merged. `pairs` are the keys
/// and values of one mapping.
pub(super) fn not_mergeable(tree: &Tree, pairs: &[NodeId]) -> Vec<NodeId> {
    pairs
        .chunks_exact(2)
        .filter(|pair| is_merge_key(tree, pair[0]))
        .filter_map(|pair| first_that_is_no_mapping(tree, pair[1]))
        .collect()
}

fn is_merge_key(tree: &Tree, key: NodeId) -> bool {
    let key = tree.follow(key);
    let is_plain = matches!(tree.nodes[key as usize].shape, NodeShape::Scalar(ScalarStyle::Plain));
    is_plain && tree.scalar_text(key) == "<<"
}

fn first_that_is_no_mapping(tree: &Tree, value: NodeId) -> Option<NodeId> {
    let data = |id: NodeId| tree.nodes[tree.follow(id) as usize];
    let is_mapping = |id: NodeId| matches!(data(id).shape, NodeShape::Mapping { .. });
    let list = data(value);
    match list.shape {
        NodeShape::Mapping { .. } => None,
        NodeShape::Sequence { .. } => {
            let items = &tree.children[list.first as usize..(list.first + list.count) as usize];
            items.iter().copied().find(|item| !is_mapping(*item))
        }
        _ => Some(value),
    }
}
