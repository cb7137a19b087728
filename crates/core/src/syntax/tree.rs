//! The spanned tree: one flat arena per text, so that nothing recurses and dropping is cheap.
//!
//! A scalar is a slice of the source if its text appears there unchanged; only escaped and folded
//! ones are copied. Aliases stay references: readers follow them, bounded by the builder's count
//! of expanded nodes.

use std::collections::HashSet;
use std::sync::Arc;

use crate::source::{SourceId, Span};

use super::json::Scratch;
use super::scalar::{Scalar, resolve};

pub(super) type NodeId = u32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScalarStyle {
    Plain,
    Quoted,
    /// `|` or `>`.
    Block,
    /// Nothing was written: `key:` alone.
    Missing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NodeShape {
    Scalar(ScalarStyle),
    Sequence { flow: bool },
    Mapping { flow: bool },
    Alias,
}

/// A core tag written out by the author.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CoreTag {
    None,
    Str,
    Int,
    Float,
    Bool,
    Null,
}

/// Where a scalar's text is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextIn {
    Source,
    Pool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct NodeData {
    pub(super) shape: NodeShape,
    pub(super) tag: CoreTag,
    pub(super) text_in: TextIn,
    pub(super) start: u32,
    pub(super) end: u32,
    /// Scalar: where the text begins. Collection: the first child's place in `children`.
    /// Alias: the node it refers to.
    pub(super) first: u32,
    /// Scalar: bytes of text. Collection: number of children (keys and values both count).
    pub(super) count: u32,
}

impl NodeData {
    /// Without text, tag and children.
    pub(super) fn new(shape: NodeShape, start: u32, end: u32) -> Self {
        Self {
            shape,
            tag: CoreTag::None,
            text_in: TextIn::Source,
            start,
            end,
            first: start,
            count: 0,
        }
    }
}

#[derive(Debug)]
pub struct Tree {
    pub(super) source: SourceId,
    pub(super) text: Arc<String>,
    pub(super) nodes: Vec<NodeData>,
    pub(super) children: Vec<NodeId>,
    pub(super) pool: String,
    pub(super) root: NodeId,
    /// Some mapping has a plain `<<`; without one no lookup searches for it.
    pub(super) has_merges: bool,
    /// Some scalar may hold `{{`.
    pub(super) has_braces: bool,
    pub(super) scratch: Scratch,
}

impl Tree {
    pub(super) fn new(source: SourceId, text: Arc<String>) -> Self {
        Self {
            source,
            text,
            nodes: Vec::new(),
            children: Vec::new(),
            pool: String::new(),
            root: 0,
            has_merges: false,
            has_braces: true,
            scratch: Scratch::default(),
        }
    }

    pub(super) fn clear_nodes(&mut self) {
        self.nodes.clear();
        self.children.clear();
        self.pool.clear();
        self.root = 0;
        self.has_merges = false;
    }

    pub fn root(&self) -> Node<'_> {
        Node { tree: self, id: self.root }
    }

    pub fn source(&self) -> SourceId {
        self.source
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn span_of(&self, id: NodeId) -> Span {
        let data = &self.nodes[id as usize];
        Span::new(self.source, data.start, data.end)
    }

    #[inline]
    pub(super) fn scalar_text(&self, id: NodeId) -> &str {
        let data = &self.nodes[id as usize];
        let text: &str = match data.text_in {
            TextIn::Source => &self.text,
            TextIn::Pool => &self.pool,
        };
        &text[data.first as usize..(data.first + data.count) as usize]
    }

    /// The node itself, or the target of an alias.
    #[inline]
    pub(super) fn follow(&self, mut id: NodeId) -> NodeId {
        while self.nodes[id as usize].shape == NodeShape::Alias {
            id = self.nodes[id as usize].first;
        }
        id
    }
}

/// What a node is, aliases followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Scalar,
    Sequence,
    Mapping,
}

/// One value in a tree. An alias looks like its target, except that [`Node::span`] is the
/// place of the alias itself: that is where the author put the value.
#[derive(Debug, Clone, Copy)]
pub struct Node<'t> {
    pub(super) tree: &'t Tree,
    pub(super) id: NodeId,
}

impl<'t> Node<'t> {
    #[inline]
    pub fn span(self) -> Span {
        self.tree.span_of(self.id)
    }

    /// The place of the value itself, behind any alias.
    pub(crate) fn target_span(self) -> Span {
        self.tree.span_of(self.tree.follow(self.id))
    }

    #[inline]
    pub fn is_alias(self) -> bool {
        self.tree.nodes[self.id as usize].shape == NodeShape::Alias
    }

    #[inline]
    pub fn kind(self) -> Kind {
        match self.data().shape {
            NodeShape::Scalar(_) => Kind::Scalar,
            NodeShape::Sequence { .. } => Kind::Sequence,
            NodeShape::Mapping { .. } => Kind::Mapping,
            NodeShape::Alias => unreachable!("`follow` never ends on an alias"),
        }
    }

    #[inline]
    pub fn is_mapping(self) -> bool {
        self.kind() == Kind::Mapping
    }

    #[inline]
    pub fn is_sequence(self) -> bool {
        self.kind() == Kind::Sequence
    }

    /// Written as `{…}` or `[…]`.
    pub(crate) fn is_flow(self) -> bool {
        matches!(
            self.data().shape,
            NodeShape::Mapping { flow: true } | NodeShape::Sequence { flow: true }
        )
    }

    /// The text of a scalar after escapes, whatever its type; `None` for collections.
    #[inline]
    pub fn scalar_text(self) -> Option<&'t str> {
        match self.kind() {
            Kind::Scalar => Some(self.tree.scalar_text(self.tree.follow(self.id))),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn scalar_style(self) -> Option<ScalarStyle> {
        match self.data().shape {
            NodeShape::Scalar(style) => Some(style),
            _ => None,
        }
    }

    /// The text of a quoted or block scalar, which is always a string: a fast path for the common
    /// case.
    #[inline]
    pub(crate) fn quoted_text(self) -> Option<&'t str> {
        let id = self.tree.follow(self.id);
        let data = &self.tree.nodes[id as usize];
        match (data.shape, data.tag) {
            (NodeShape::Scalar(ScalarStyle::Quoted | ScalarStyle::Block), CoreTag::None) => {
                Some(self.tree.scalar_text(id))
            }
            _ => None,
        }
    }

    /// The scalar with its type by the YAML 1.2 core schema; `None` for collections.
    #[inline]
    pub fn scalar(self) -> Option<Scalar<'t>> {
        let data = self.data();
        match data.shape {
            NodeShape::Scalar(style) => {
                let text = self.tree.scalar_text(self.tree.follow(self.id));
                Some(resolve(text, style, data.tag))
            }
            _ => None,
        }
    }

    #[inline]
    pub fn is_null(self) -> bool {
        match (self.data().shape, self.data().tag) {
            (NodeShape::Scalar(ScalarStyle::Quoted | ScalarStyle::Block), CoreTag::None) => false,
            (NodeShape::Scalar(_), _) => matches!(self.scalar(), Some(Scalar::Null)),
            _ => false,
        }
    }

    /// Whether any scalar of the tree may hold `{{`; most trees hold none.
    #[inline]
    pub(crate) fn may_have_braces(self) -> bool {
        self.tree.has_braces
    }

    /// The items of a sequence; none for other kinds.
    #[inline]
    pub fn items(self) -> impl ExactSizeIterator<Item = Node<'t>> {
        let tree = self.tree;
        let ids = match self.kind() {
            Kind::Sequence => self.children(),
            _ => &[],
        };
        ids.iter().map(move |id| Node { tree, id: *id })
    }

    /// The entries of a mapping as written, `<<` included; none for other kinds.
    #[inline]
    pub fn written_entries(self) -> impl ExactSizeIterator<Item = (Node<'t>, Node<'t>)> {
        let tree = self.tree;
        let ids = match self.kind() {
            Kind::Mapping => self.children(),
            _ => &[],
        };
        ids.chunks_exact(2)
            .map(move |pair| (Node { tree, id: pair[0] }, Node { tree, id: pair[1] }))
    }

    /// The entries of a mapping with `<<` merged in: keys written out win over merged ones, and
    /// earlier merged mappings over later ones.
    pub fn entries(self) -> Vec<(Node<'t>, Node<'t>)> {
        if !self.has_merge() {
            return self.written_entries().collect();
        }
        let mut entries = Vec::new();
        let mut known = HashSet::new();
        self.collect_entries(&mut entries, &mut known);
        entries
    }

    /// Whether any key is a merge key, so that [`Node::entries`] differs from what was written.
    #[inline]
    pub fn has_merge(self) -> bool {
        self.tree.has_merges && self.written_entries().any(|(key, _)| key.is_merge_key())
    }

    fn collect_entries(
        self,
        entries: &mut Vec<(Node<'t>, Node<'t>)>,
        known: &mut HashSet<&'t str>,
    ) {
        for (key, value) in self.written_entries() {
            let is_new = key.scalar_text().is_none_or(|name| known.insert(name));
            if !key.is_merge_key() && is_new {
                entries.push((key, value));
            }
        }
        for (key, value) in self.written_entries() {
            if !key.is_merge_key() {
                continue;
            }
            match value.kind() {
                Kind::Mapping => value.collect_entries(entries, known),
                Kind::Sequence => {
                    for item in value.items().filter(|item| item.is_mapping()) {
                        item.collect_entries(entries, known);
                    }
                }
                Kind::Scalar => {}
            }
        }
    }

    /// The value of a key, merged ones included.
    pub fn get(self, name: &str) -> Option<Node<'t>> {
        let direct = self.written_entries().find(|(key, _)| key.scalar_text() == Some(name));
        if let Some((_, value)) = direct {
            return Some(value);
        }
        if !self.has_merge() {
            return None;
        }
        let found = self.entries().into_iter().find(|(key, _)| key.scalar_text() == Some(name));
        found.map(|(_, value)| value)
    }

    /// A plain, unquoted `<<`.
    pub(crate) fn is_merge_key(self) -> bool {
        self.scalar_text() == Some("<<") && self.scalar_style() == Some(ScalarStyle::Plain)
    }

    #[inline]
    fn data(self) -> &'t NodeData {
        &self.tree.nodes[self.tree.follow(self.id) as usize]
    }

    #[inline]
    fn children(self) -> &'t [NodeId] {
        let data = self.data();
        &self.tree.children[data.first as usize..(data.first + data.count) as usize]
    }

    /// Two handles to the same value, also through aliases.
    pub fn is_same(self, other: Self) -> bool {
        std::ptr::eq(self.tree, other.tree)
            && self.tree.follow(self.id) == other.tree.follow(other.id)
    }

    /// The place of a part of a scalar's text; of the whole scalar where escapes or folding make
    /// the two differ.
    pub(crate) fn text_span(self, part: std::ops::Range<usize>) -> Span {
        let data = self.data();
        match (data.shape, data.text_in) {
            (NodeShape::Scalar(_), TextIn::Source) if !self.is_alias() => {
                let at = |offset: usize| data.first + offset.min(data.count as usize) as u32;
                Span::new(self.tree.source, at(part.start), at(part.end))
            }
            _ => self.span(),
        }
    }

    /// The whole text this node was parsed from.
    pub fn tree_text(self) -> &'t str {
        &self.tree.text
    }

    pub fn source_text(self) -> &'t str {
        let span = self.span();
        &self.tree.text[span.start as usize..span.end as usize]
    }
}
