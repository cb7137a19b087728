//! What a text has: its tests, and the names in it that other places refer to or that refer to others.

use std::ops::Range;

use evalrig_core::syntax::{Kind, Node};

use super::grammar::{MappingKind, TARGET_KEYS};
use super::parsed::{ParsedText, bytes_of};
use super::walk::Visit;

/// One test as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutlinedTest {
    /// `None` if it is not written.
    pub(crate) id: Option<String>,
    /// The id, or what the test begins with.
    pub(crate) name: Range<usize>,
    pub(crate) whole: Range<usize>,
    pub(crate) criteria: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum MarkKind {
    TestId,
    /// The `name` of a target.
    TargetName,
    /// The name of a target elsewhere.
    TargetUse,
    AssertionType,
    Skill,
    Provider,
    Tag,
}

/// A name in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) kind: MarkKind,
    pub(crate) name: String,
    /// With quotes, if there are any.
    pub(crate) place: Range<usize>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Survey {
    pub(crate) tests: Vec<OutlinedTest>,
    pub(crate) marks: Vec<Mark>,
    /// Scalars in the order of the text.
    pub(crate) scalars: Vec<Range<usize>>,
    /// Mappings and lists, from the line of their key or their first line.
    pub(crate) blocks: Vec<Range<usize>>,
}

impl Survey {
    pub(crate) fn of(parsed: &ParsedText) -> Self {
        let mut survey = Self::default();
        parsed.visit(&mut |place, start| survey.add(place, start));
        survey.marks.sort_by_key(|mark| mark.place.start);
        survey
    }

    /// The name at a byte.
    pub(crate) fn mark_at(&self, offset: usize) -> Option<&Mark> {
        self.marks.iter().find(|mark| mark.place.start <= offset && offset <= mark.place.end)
    }

    fn add(&mut self, place: &Visit<'_, '_>, start: usize) {
        match place {
            Visit::Mapping { node, tables } => {
                if matches!(tables.kind, MappingKind::Test | MappingKind::Eval) {
                    self.tests.push(outlined(*node, start));
                }
            }
            Visit::Entry { key, value, tables, field, .. } => {
                let name = field.map(|field| field.name);
                if let Some(kind) = name.and_then(|name| mark_kind(tables.kind, name)) {
                    self.mark(kind, *value, start);
                }
                self.add_value(*value, start);
                let end = bytes_of(*value, start).end;
                let begin = bytes_of(*key, start).start;
                if value.kind() != Kind::Scalar && !value.is_alias() && end > begin {
                    self.blocks.push(begin..end);
                }
            }
            Visit::Item { node, field, .. } => {
                if field.is_some_and(|field| field.name == "tags") {
                    self.mark(MarkKind::Tag, *node, start);
                }
                self.add_value(*node, start);
                if node.kind() == Kind::Mapping && !node.is_alias() {
                    self.blocks.push(bytes_of(*node, start));
                }
            }
        }
    }

    fn add_value(&mut self, node: Node<'_>, start: usize) {
        if node.kind() == Kind::Scalar && !node.is_alias() {
            self.scalars.push(bytes_of(node, start));
        }
    }

    fn mark(&mut self, kind: MarkKind, node: Node<'_>, start: usize) {
        if let Some(name) = node.scalar_text()
            && !node.is_alias()
            && !name.is_empty()
        {
            let place = bytes_of(node, start);
            self.marks.push(Mark { kind, name: name.to_owned(), place });
        }
    }
}

fn mark_kind(inside: MappingKind, field: &str) -> Option<MarkKind> {
    match (inside, field) {
        (MappingKind::Test | MappingKind::Eval, "id") => Some(MarkKind::TestId),
        (MappingKind::Target(_), "name") => Some(MarkKind::TargetName),
        (MappingKind::Target(_), "provider") => Some(MarkKind::Provider),
        (MappingKind::Assertion(_), "type") => Some(MarkKind::AssertionType),
        (MappingKind::Assertion(_), "skill") | (MappingKind::Evals, "skill_name") => {
            Some(MarkKind::Skill)
        }
        (MappingKind::Free | MappingKind::Metadata, _) => None,
        (_, name) if TARGET_KEYS.contains(&name) => Some(MarkKind::TargetUse),
        _ => None,
    }
}

fn outlined(node: Node<'_>, start: usize) -> OutlinedTest {
    let whole = bytes_of(node, start);
    let text = |key: &str| node.get(key).and_then(Node::scalar_text).map(str::to_owned);
    let written = node.get("id").filter(|id| id.scalar_text().is_some() && !id.is_alias());
    let first = node.written_entries().next().map(|(key, _)| bytes_of(key, start));
    let name = written.map(|id| bytes_of(id, start)).filter(|id| is_in(id, &whole));
    OutlinedTest {
        id: text("id").filter(|id| !id.trim().is_empty()),
        name: name.or(first).filter(|name| is_in(name, &whole)).unwrap_or(whole.start..whole.start),
        criteria: ["criteria", "expected_outcome", "expected_output"].into_iter().find_map(text),
        whole,
    }
}

fn is_in(inner: &Range<usize>, outer: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}
