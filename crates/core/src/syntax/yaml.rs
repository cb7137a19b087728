//! YAML events → tree. The only place, with `yaml_error`, that knows which parser we use.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use granit_parser::{Event, Parser, ScalarStyle as Style, Span as Mark, StructureStyle, Tag};

use crate::diagnostic::{Diagnostic, Diagnostics, did_you_mean};
use crate::source::{SourceId, Span};

use super::fields::pack;
use super::omitted::{Omitted, OpenCollection};
use super::tree::{CoreTag, NodeData, NodeId, NodeShape, ScalarStyle, TextIn, Tree};
use super::{codes, encoding, merge, yaml_error};

/// Nodes that aliases may add to a file (spec 2.6).
const ALIAS_NODES: u64 = 1_000_000;
/// Bytes that aliases may add: a long text behind many aliases is a bomb with few nodes.
const ALIAS_BYTES: u64 = 64 * 1024 * 1024;
/// Below this many keys comparing each with each is faster than hashing.
pub(super) const FEW_KEYS: usize = 12;

/// Comparing every unknown alias with every anchor would take the square of the file's length.
const MOST_SUGGESTIONS: usize = 100;
const NEAREST_ANCHORS: usize = 1000;

/// `None` when the text holds no tree at all; then the reason has been reported.
pub fn parse_yaml(source: SourceId, text: Arc<String>, out: &mut Diagnostics) -> Option<Tree> {
    if let Some((at, character)) = encoding::find_control(&text) {
        out.report(codes::control_character(source, at, character));
        return None;
    }
    let options = granit_parser::options! {
        emit_anchor_events: true,
        emit_unresolved_aliases: true,
        emit_comments: false,
        flow_nesting_limit: super::DEPTH_LIMIT + 2,
        block_nesting_limit: super::DEPTH_LIMIT + 2,
    };
    let mut parser = Parser::new_from_str_with_options(&text, options);
    let mut builder = Builder::new(source, &text, out);
    loop {
        match parser.next_event() {
            None => break,
            Some(Ok((event, mark))) => {
                if builder.take(event, mark).is_err() {
                    return None;
                }
            }
            Some(Err(error)) => {
                builder.out.report(yaml_error::explain(source, &text, &error));
                return None;
            }
        }
    }
    if builder.is_broken {
        return None;
    }
    if builder.has_root {
        return Some(builder.tree);
    }
    out.report(codes::empty_file(source));
    None
}

/// The rest of the text cannot be read; the reason has been reported.
struct Stop;

struct Frame {
    node: NodeId,
    pending_from: usize,
    grown_from: Size,
}

/// The size of a node with every alias in it expanded.
#[derive(Clone, Copy, Default)]
struct Size {
    nodes: u64,
    bytes: u64,
}

impl Size {
    fn minus(self, earlier: Self) -> Self {
        Self { nodes: self.nodes - earlier.nodes, bytes: self.bytes - earlier.bytes }
    }

    fn plus(self, other: Self) -> Self {
        Self { nodes: self.nodes + other.nodes, bytes: self.bytes + other.bytes }
    }
}

struct Anchor {
    node: NodeId,
    /// `None` while the node is still being built: an alias to it would contain itself.
    size: Option<Size>,
    name: String,
}

struct Builder<'a> {
    tree: Tree,
    input: &'a str,
    out: &'a mut Diagnostics,
    frames: Vec<Frame>,
    /// Children of the open collections, innermost last.
    pending: Vec<NodeId>,
    anchors: BTreeMap<usize, Anchor>,
    open_anchors: Vec<(NodeId, usize)>,
    grown: Size,
    added_by_aliases: Size,
    documents: usize,
    has_root: bool,
    /// Some node is a placeholder for text that could not be read.
    is_broken: bool,
    last_end: u32,
}

impl<'a> Builder<'a> {
    fn new(source: SourceId, input: &'a Arc<String>, out: &'a mut Diagnostics) -> Self {
        let mut tree = Tree::new(source, input.clone());
        tree.nodes.reserve(input.len() / 24);
        tree.children.reserve(input.len() / 24);
        Self {
            tree,
            input,
            out,
            frames: Vec::new(),
            pending: Vec::new(),
            anchors: BTreeMap::new(),
            open_anchors: Vec::new(),
            grown: Size::default(),
            added_by_aliases: Size::default(),
            documents: 0,
            has_root: false,
            is_broken: false,
            last_end: 0,
        }
    }

    fn take(&mut self, event: Event<'_>, mark: Mark) -> Result<(), Stop> {
        let (start, end) = byte_range(&mark);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.scalar(text, style, anchor, tag.as_deref(), mark);
            }
            Event::MappingStart(style, _, tag) => {
                let flow = style == StructureStyle::Flow;
                self.open(NodeShape::Mapping { flow }, tag.as_deref(), mark)?;
            }
            Event::SequenceStart(style, _, tag) => {
                let flow = style == StructureStyle::Flow;
                self.open(NodeShape::Sequence { flow }, tag.as_deref(), mark)?;
            }
            Event::MappingEnd | Event::SequenceEnd => self.close(end),
            Event::Anchor(id, name) => self.anchor(id, name.into_owned()),
            Event::Alias(id) => self.alias(id, start, end)?,
            Event::UnresolvedAlias(name) => self.unresolved_alias(&name, start, end),
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    self.out.report(codes::multiple_documents(self.span(start, end)));
                    return Err(Stop);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn scalar(
        &mut self,
        text: Cow<'_, str>,
        style: Style,
        anchor: usize,
        tag: Option<&Tag>,
        mark: Mark,
    ) {
        let (start, end) = byte_range(&mark);
        let style = match style {
            Style::Plain if start == end => ScalarStyle::Missing,
            Style::Plain => ScalarStyle::Plain,
            Style::Literal | Style::Folded => ScalarStyle::Block,
            _ => ScalarStyle::Quoted,
        };
        let (start, end) = match style {
            ScalarStyle::Block => self.block_scalar_range(start, end),
            ScalarStyle::Missing => {
                self.missing_value_range(start, end, anchor != 0 || tag.is_some())
            }
            _ => (start, end),
        };
        let is_merge = style == ScalarStyle::Plain && text == "<<";
        let (text_in, first, count) = match (style, text) {
            (ScalarStyle::Missing, _) => (TextIn::Source, start, 0),
            (_, Cow::Borrowed(slice)) => {
                let first = slice.as_ptr() as usize - self.input.as_ptr() as usize;
                (TextIn::Source, first as u32, slice.len() as u32)
            }
            (_, Cow::Owned(copy)) => {
                let first = self.tree.pool.len() as u32;
                self.tree.pool.push_str(&copy);
                (TextIn::Pool, first, copy.len() as u32)
            }
        };
        let tag = self.core_tag(tag, mark);
        self.tree.has_merges |= is_merge;
        self.grown.bytes += u64::from(count);
        self.last_end = self.last_end.max(end);
        self.add(NodeData {
            shape: NodeShape::Scalar(style),
            tag,
            text_in,
            start,
            end,
            first,
            count,
        });
    }

    /// The parser's range begins at the content; ours begins at the `|` or `>` of the header and
    /// ends with the last line that is not blank.
    fn block_scalar_range(&self, start: u32, end: u32) -> (u32, u32) {
        let before = &self.input[..start as usize];
        let header_end = before.trim_end_matches([' ', '\t', '\r', '\n']).len();
        let line_start = before[..header_end].rfind('\n').map_or(0, |at| at + 1);
        let from = line_start.max(self.last_end as usize).min(header_end);
        let begin =
            before[from..header_end].find(['|', '>']).map_or(start as usize, |at| from + at);
        let content = &self.input[begin..(end as usize).max(begin)];
        (begin as u32, (begin + content.trim_end().len()) as u32)
    }

    /// Where the parser has a place, it is that of whatever comes next.
    fn missing_value_range(&self, start: u32, end: u32, is_marked: bool) -> (u32, u32) {
        let Some(frame) = self.frames.last() else {
            return (start, end);
        };
        let data = &self.tree.nodes[frame.node as usize];
        let role = match data.shape {
            NodeShape::Sequence { .. } => Omitted::Item,
            _ if (self.pending.len() - frame.pending_from).is_multiple_of(2) => Omitted::Key,
            _ => Omitted::Value,
        };
        let is_flow = self.is_flow(frame.node);
        let collection = OpenCollection { start: data.start as usize, is_flow, is_marked };
        let from = self.last_end.max(data.start) as usize;
        match role.place(self.input.as_bytes(), collection, from) {
            Some(place) => (place as u32, place as u32),
            None => (start, end),
        }
    }

    fn is_flow(&self, node: NodeId) -> bool {
        let shape = self.tree.nodes[node as usize].shape;
        matches!(shape, NodeShape::Mapping { flow: true } | NodeShape::Sequence { flow: true })
    }

    fn open(&mut self, shape: NodeShape, tag: Option<&Tag>, mark: Mark) -> Result<(), Stop> {
        let (start, end) = byte_range(&mark);
        if self.frames.len() >= super::DEPTH_LIMIT {
            self.out.report(codes::too_deep(self.span(start, end)));
            return Err(Stop);
        }
        let _ = self.core_tag(tag, mark);
        let grown_from = self.grown;
        let node = self.add(NodeData::new(shape, start, end));
        self.frames.push(Frame { node, pending_from: self.pending.len(), grown_from });
        Ok(())
    }

    fn close(&mut self, end: u32) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        let first = self.tree.children.len() as u32;
        self.tree.children.extend(self.pending.drain(frame.pending_from..));
        let count = self.tree.children.len() as u32 - first;
        let last_pair = self.tree.children[first as usize..].iter().rev().take(2);
        let last_end = last_pair.map(|child| self.tree.nodes[*child as usize].end).max();
        let shape = self.tree.nodes[frame.node as usize].shape;
        let start = self.tree.nodes[frame.node as usize].start;
        let true_end =
            last_end.unwrap_or(start).max(if self.is_flow(frame.node) { end } else { start });
        let data = &mut self.tree.nodes[frame.node as usize];
        data.first = first;
        data.count = count;
        data.end = true_end;
        self.last_end = self.last_end.max(data.end);
        if let NodeShape::Mapping { .. } = shape {
            self.check_keys(first, count);
        }
        while let Some((node, id)) = self.open_anchors.last().copied()
            && node == frame.node
        {
            self.open_anchors.pop();
            if let Some(anchor) = self.anchors.get_mut(&id) {
                anchor.size = Some(self.grown.minus(frame.grown_from));
            }
        }
    }

    fn anchor(&mut self, id: usize, name: String) {
        let node = self.tree.nodes.len() as NodeId - 1;
        let data = self.tree.nodes[node as usize];
        let size = match data.shape {
            NodeShape::Scalar(_) => Some(Size { nodes: 1, bytes: u64::from(data.count) }),
            _ => {
                self.open_anchors.push((node, id));
                None
            }
        };
        self.anchors.insert(id, Anchor { node, size, name });
    }

    fn alias(&mut self, id: usize, start: u32, end: u32) -> Result<(), Stop> {
        let span = self.span(start, end);
        let Some(anchor) = self.anchors.get(&id) else {
            self.add_null(start, end);
            return Ok(());
        };
        let Some(size) = anchor.size else {
            let defined = self.tree.span_of(anchor.node).at_start();
            self.out.report(codes::alias_cycle(span, &anchor.name, defined));
            return Err(Stop);
        };
        let target = anchor.node;
        self.added_by_aliases = self.added_by_aliases.plus(size);
        let added = self.added_by_aliases;
        if added.nodes > ALIAS_NODES || added.bytes > ALIAS_BYTES {
            self.out.report(codes::alias_limit(span));
            return Err(Stop);
        }
        self.grown = self.grown.plus(size);
        self.last_end = self.last_end.max(end);
        self.add(NodeData { first: target, ..NodeData::new(NodeShape::Alias, start, end) });
        Ok(())
    }

    fn unresolved_alias(&mut self, name: &str, start: u32, end: u32) {
        let nearest = if self.out.len() < MOST_SUGGESTIONS { NEAREST_ANCHORS } else { 0 };
        let known = self.anchors.values().rev().take(nearest);
        let help = match did_you_mean(name, known.map(|anchor| anchor.name.as_str())) {
            Some(near) => format!("did you mean `*{near}`?"),
            None => {
                format!("define it first with `&{name}`, or quote the text if the `*` is meant")
            }
        };
        let message = format!("anchor `&{name}` is not defined above this alias");
        let span = self.span(start, end);
        self.out.report(Diagnostic::new(&codes::YAML_SYNTAX, span, message).help(help));
        self.is_broken = true;
        self.add_null(start, end);
    }

    fn add_null(&mut self, start: u32, end: u32) {
        let shape = NodeShape::Scalar(ScalarStyle::Missing);
        self.add(NodeData::new(shape, start, end));
    }

    fn add(&mut self, data: NodeData) -> NodeId {
        let id = self.tree.nodes.len() as NodeId;
        self.tree.nodes.push(data);
        self.grown.nodes += 1;
        if self.frames.is_empty() && !self.has_root {
            self.tree.root = id;
            let is_nothing = data.shape == NodeShape::Scalar(ScalarStyle::Missing);
            self.has_root = !is_nothing || data.tag != CoreTag::None;
        } else {
            self.pending.push(id);
        }
        id
    }

    fn core_tag(&mut self, tag: Option<&Tag>, mark: Mark) -> CoreTag {
        let Some(tag) = tag else { return CoreTag::None };
        let found = match tag.core_suffix() {
            Some("str") => Some(CoreTag::Str),
            Some("int") => Some(CoreTag::Int),
            Some("float") => Some(CoreTag::Float),
            Some("bool") => Some(CoreTag::Bool),
            Some("null") => Some(CoreTag::Null),
            Some("map" | "seq") => Some(CoreTag::None),
            _ if tag.original() == "!" => Some(CoreTag::Str),
            _ => None,
        };
        found.unwrap_or_else(|| {
            let (start, end) = byte_range(&mark.tag_span().unwrap_or(mark));
            self.out.report(codes::unsupported_tag(self.span(start, end), &tag.original()));
            CoreTag::None
        })
    }

    fn check_keys(&mut self, first: u32, count: u32) {
        let entries = &self.tree.children[first as usize..(first + count) as usize];
        for key in entries.iter().step_by(2) {
            let shape = self.tree.nodes[self.tree.follow(*key) as usize].shape;
            if !matches!(shape, NodeShape::Scalar(_)) {
                self.out.report(codes::collection_as_key(self.tree.span_of(*key)));
            }
        }
        for (earlier, later) in duplicate_keys(&self.tree, entries) {
            let name = self.tree.scalar_text(self.tree.follow(later));
            let (first, second) = (self.tree.span_of(earlier), self.tree.span_of(later));
            self.out.report(codes::duplicate_key(name, first, second));
        }
        let pairs = first as usize..(first + count) as usize;
        for wrong in merge::not_mergeable(&self.tree, &self.tree.children[pairs]) {
            let span = self.tree.span_of(wrong);
            self.out.report(codes::not_mergeable(span));
        }
    }

    fn span(&self, start: u32, end: u32) -> Span {
        Span::new(self.tree.source, start, end.max(start))
    }
}

fn byte_range(mark: &Mark) -> (u32, u32) {
    let range = mark.byte_range().unwrap_or(0..0);
    (range.start as u32, range.end as u32)
}

/// Pairs of keys with the same text: the first use and each later one. `entries` are keys and
/// values in turn.
pub(super) fn duplicate_keys(tree: &Tree, entries: &[NodeId]) -> Vec<(NodeId, NodeId)> {
    if entries.len() <= 2 * FEW_KEYS {
        duplicates_of_few(tree, entries)
    } else {
        duplicates_of_many(tree, entries)
    }
}

fn key_text(tree: &Tree, key: NodeId) -> Option<&str> {
    let key = tree.follow(key);
    let is_scalar = matches!(tree.nodes[key as usize].shape, NodeShape::Scalar(_));
    is_scalar.then(|| tree.scalar_text(key))
}

fn duplicates_of_few(tree: &Tree, entries: &[NodeId]) -> Vec<(NodeId, NodeId)> {
    let mut found = Vec::new();
    let mut packed = [0; FEW_KEYS];
    for (at, key) in entries.iter().step_by(2).enumerate() {
        let Some(name) = key_text(tree, *key) else {
            continue;
        };
        let word = pack(name.as_bytes());
        let is_equal = |known: &usize| {
            packed[*known] == word && key_text(tree, entries[2 * known]) == Some(name)
        };
        found.extend((0..at).find(is_equal).map(|earlier| (entries[2 * earlier], *key)));
        packed[at] = word;
    }
    found
}

fn duplicates_of_many(tree: &Tree, entries: &[NodeId]) -> Vec<(NodeId, NodeId)> {
    let mut found = Vec::new();
    let mut known = HashMap::with_capacity(entries.len() / 2);
    for key in entries.iter().step_by(2) {
        let Some(name) = key_text(tree, *key) else {
            continue;
        };
        match known.entry(name) {
            std::collections::hash_map::Entry::Occupied(entry) => found.push((*entry.get(), *key)),
            std::collections::hash_map::Entry::Vacant(entry) => {
                entry.insert(*key);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::Node;

    fn parse(text: &str) -> Option<Tree> {
        parse_yaml(SourceId(0), Arc::new(text.to_owned()), &mut Diagnostics::new())
    }

    fn children(node: Node<'_>) -> Vec<Node<'_>> {
        match (node.is_alias(), node.is_mapping()) {
            (true, _) => Vec::new(),
            (_, true) => node.written_entries().flat_map(|(key, value)| [key, value]).collect(),
            _ => node.items().collect(),
        }
    }

    /// Every node is inside its parent and behind its older sibling.
    fn check_places(text: &str, root: Node<'_>) {
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            let mut earliest = node.span().start;
            for child in children(node) {
                let span = child.span();
                let is_sound = earliest <= span.start && span.end <= node.span().end;
                assert!(is_sound, "{text:?}: {span:?} in {:?}", node.span());
                earliest = span.end;
                open.push(child);
            }
        }
    }

    #[test]
    fn omitted_keys_and_values_are_inside_their_mapping() {
        for (text, expected) in [
            ("a:\n\n# c\n", vec![(0, 1), (2, 2)]),
            ("? \n\n# c\n", vec![(1, 1), (1, 1)]),
            ("?\n# c\n:\n", vec![(1, 1), (7, 7)]),
            (": x\n", vec![(0, 0), (2, 3)]),
            ("? a\n\n\n? b\n", vec![(2, 3), (3, 3), (8, 9), (9, 9)]),
            ("?\n:: a", vec![(1, 1), (1, 1), (2, 3), (5, 6)]),
            ("{a , ? , : b}", vec![(1, 2), (3, 3), (6, 6), (7, 7), (9, 9), (11, 12)]),
        ] {
            let tree = parse(text).unwrap();
            let places = children(tree.root());
            let places: Vec<_> =
                places.iter().map(|node| (node.span().start, node.span().end)).collect();
            assert_eq!(places, expected, "{text:?}");
        }
    }

    #[test]
    fn nodes_of_any_short_text_are_in_order_and_inside_their_parents() {
        const PARTS: [&str; 14] =
            ["a", " ", "\n", ":", "?", "- ", "? ", ": ", "[", "]", "{", "}", ",", "!a "];
        const LONGEST: u32 = 5;
        let mut trees = 0;
        for number in 0..PARTS.len().pow(LONGEST) {
            let parts = (0..LONGEST).map(|at| PARTS[number / PARTS.len().pow(at) % PARTS.len()]);
            let text: String = parts.collect();
            if let Some(tree) = parse(&text) {
                check_places(&text, tree.root());
                trees += 1;
            }
        }
        assert!(trees > 10_000, "{trees}");
    }
}
