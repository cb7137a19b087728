//! The least that any reader of the format has to do with the raw parser: its events kept as a
//! flat tree with byte spans, duplicate keys found. No meaning, no diagnostics.

use std::borrow::Cow;

use granit_parser::{Event, Parser, Span};

/// Mappings with more keys are searched through a hash map.
const FEW_KEYS: usize = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The text is a slice of the source.
    Slice,
    /// The text is in the pool.
    Copied,
    Sequence,
    Mapping,
    Alias,
}

#[derive(Debug, Clone, Copy)]
pub struct Node {
    pub kind: Kind,
    pub start: u32,
    pub end: u32,
    /// Where the text or the children begin, or the anchor that an alias names.
    pub first: u32,
    pub count: u32,
}

#[derive(Debug, Default)]
pub struct Tree {
    pub nodes: Vec<Node>,
    pub children: Vec<u32>,
    pub pool: String,
    /// Duplicate keys.
    pub duplicates: Vec<u32>,
}

/// Builds the tree; the error is the parser's own text.
pub fn build(text: &str) -> Result<Tree, String> {
    let options = granit_parser::options! {
        emit_anchor_events: true,
        emit_unresolved_aliases: true,
        emit_comments: false,
    };
    let mut parser = Parser::new_from_str_with_options(text, options);
    let mut builder =
        Builder { text, tree: Tree::default(), open: Vec::new(), pending: Vec::new() };
    while let Some(next) = parser.next_event() {
        let (event, span) = next.map_err(|error| error.to_string())?;
        builder.take(event, &span);
    }
    Ok(builder.tree)
}

struct Builder<'t> {
    text: &'t str,
    tree: Tree,
    /// The open collections, and where their children begin in `pending`.
    open: Vec<(u32, usize)>,
    pending: Vec<u32>,
}

impl Builder<'_> {
    fn take(&mut self, event: Event<'_>, span: &Span) {
        let range = span.byte_range().unwrap_or(0..0);
        let (start, end) = (range.start as u32, range.end as u32);
        let mut node = Node { kind: Kind::Slice, start, end, first: 0, count: 0 };
        match event {
            Event::Scalar(text, ..) => {
                node.count = text.len() as u32;
                (node.kind, node.first) = match text {
                    Cow::Borrowed(slice) => {
                        let first = slice.as_ptr() as usize - self.text.as_ptr() as usize;
                        (Kind::Slice, first as u32)
                    }
                    Cow::Owned(copy) => {
                        let first = self.tree.pool.len() as u32;
                        self.tree.pool.push_str(&copy);
                        (Kind::Copied, first)
                    }
                };
                self.add(node);
            }
            Event::Alias(anchor) => {
                node.kind = Kind::Alias;
                node.first = anchor as u32;
                self.add(node);
            }
            Event::SequenceStart(..) => self.begin(node, Kind::Sequence),
            Event::MappingStart(..) => self.begin(node, Kind::Mapping),
            Event::SequenceEnd | Event::MappingEnd => self.end(end),
            _ => {}
        }
    }

    fn add(&mut self, node: Node) -> u32 {
        let id = self.tree.nodes.len() as u32;
        self.tree.nodes.push(node);
        self.pending.push(id);
        id
    }

    fn begin(&mut self, node: Node, kind: Kind) {
        let id = self.add(Node { kind, ..node });
        self.open.push((id, self.pending.len()));
    }

    fn end(&mut self, end: u32) {
        let Some((id, from)) = self.open.pop() else {
            return;
        };
        let first = self.tree.children.len();
        self.tree.children.extend(self.pending.drain(from..));
        let count = self.tree.children.len() - first;
        let last = self.tree.children.last().copied();
        let last_end = last.map(|child| self.tree.nodes[child as usize].end);
        let node = &mut self.tree.nodes[id as usize];
        node.first = first as u32;
        node.count = count as u32;
        node.end = last_end.filter(|_| count > 0).unwrap_or(end);
        if node.kind == Kind::Mapping {
            self.find_duplicates(first);
        }
    }

    fn find_duplicates(&mut self, first: usize) {
        let keys = &self.tree.children[first..];
        let name = |id: u32| {
            let node = &self.tree.nodes[id as usize];
            let text = match node.kind {
                Kind::Slice => self.text,
                Kind::Copied => self.tree.pool.as_str(),
                _ => return None,
            };
            text.get(node.first as usize..(node.first + node.count) as usize)
        };
        let mut found = Vec::new();
        if keys.len() / 2 <= FEW_KEYS {
            for (at, key) in keys.iter().enumerate().step_by(2) {
                let mut earlier = keys[..at].iter().step_by(2);
                if earlier.any(|other| name(*other) == name(*key)) {
                    found.push(*key);
                }
            }
        } else {
            let mut known = std::collections::HashSet::with_capacity(keys.len() / 2);
            found.extend(keys.iter().step_by(2).filter(|key| !known.insert(name(**key))));
        }
        self.tree.duplicates.append(&mut found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_suite_becomes_a_tree_without_duplicates() {
        let mut bytes = Vec::new();
        crate::text::yaml(20, &mut bytes).unwrap();
        let tree = build(&String::from_utf8(bytes).unwrap()).unwrap();
        assert!(tree.nodes.len() > 20 * 40);
        assert_eq!(tree.duplicates, []);
    }

    #[test]
    fn a_repeated_key_is_found() {
        let tree = build("a: 1\nb: {c: 1, c: 2}\na: 2\n").unwrap();
        assert_eq!(tree.duplicates.len(), 2);
    }
}
