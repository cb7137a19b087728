//! A text and the trees in it: one of a YAML or JSON file, one per line of a JSONL file. Of a YAML
//! text that cannot be parsed, the part before the fault.

use std::ops::Range;
use std::sync::Arc;

use evalrig_core::diagnostic::Diagnostics;
use evalrig_core::source::{SourceId, Sources};
use evalrig_core::syntax::{Node, Tree, parse_yaml};

use super::file_kind::FileKind;
use super::walk::{Visit, walk};

/// How often a text is shortened until it can be parsed.
const ATTEMPTS: usize = 3;

#[derive(Debug)]
pub(crate) struct ParsedText {
    kind: FileKind,
    /// With the byte at which each begins.
    trees: Vec<(usize, Tree)>,
    /// Only the part before a fault was parsed.
    pub(crate) is_cut: bool,
}

impl ParsedText {
    pub(crate) fn new(kind: FileKind, text: &Arc<String>) -> Self {
        let (trees, is_cut) = match kind {
            FileKind::Other => (Vec::new(), false),
            FileKind::Lines => (trees_of_lines(text), false),
            _ => match parse(text) {
                Ok(tree) => (vec![(0, tree)], false),
                Err(fault) => {
                    let tree = tree_before_fault(text, fault);
                    (tree.map(|tree| (0, tree)).into_iter().collect(), true)
                }
            },
        };
        Self { kind, trees, is_cut }
    }

    /// Visits every place; spans of nodes are turned into bytes of the text by the second argument.
    pub(crate) fn visit(&self, visit: &mut dyn FnMut(&Visit<'_, '_>, usize)) {
        for (start, tree) in &self.trees {
            walk(self.kind.shape(), tree.root(), None, &mut |place| visit(place, *start));
        }
    }
}

/// The bytes of a node in a text whose tree begins at `start`.
pub(super) fn bytes_of(node: Node<'_>, start: usize) -> Range<usize> {
    let span = node.span();
    start + span.start as usize..start + span.end as usize
}

fn nowhere() -> SourceId {
    Sources::new().add_file("/".into(), String::new(), 0)
}

/// The tree of a text, or the byte at which it cannot be parsed.
pub(super) fn parse(text: &Arc<String>) -> Result<Tree, usize> {
    let mut out = Diagnostics::new();
    parse_yaml(nowhere(), Arc::clone(text), &mut out)
        .ok_or_else(|| out.iter().map(|one| one.span.start as usize).next().unwrap_or(0))
}

fn tree_before_fault(text: &str, mut fault: usize) -> Option<Tree> {
    let mut text = text;
    for _ in 1..ATTEMPTS {
        let mut end = fault.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let line = text[..end].rfind('\n').map_or(0, |at| at + 1);
        // A fault at the end is that of something before it.
        let line = if line == text.len() {
            text[..line].trim_end().rfind('\n').map_or(0, |at| at + 1)
        } else {
            line
        };
        text = &text[..line];
        match parse(&Arc::new(text.to_owned())) {
            Ok(tree) => return Some(tree),
            Err(next) => fault = next,
        }
    }
    None
}

fn trees_of_lines(text: &str) -> Vec<(usize, Tree)> {
    let mut trees = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if !line.trim().is_empty()
            && let Ok(tree) = parse(&Arc::new(line.trim_end().to_owned()))
        {
            trees.push((start, tree));
        }
        start += line.len();
    }
    trees
}
