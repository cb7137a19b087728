//! The skills that tests name, to report two whose files would have the same name (spec 12.3).
//! Only names and places are kept.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use camino::Utf8Path;

use crate::model::Test;
use crate::source::{Position, Sources, Span};
use crate::syntax::Node;
use crate::transpile_rules::{
    NamedSkill, SKILL_NAME_COLLISION, WantedTrigger, collision, file_name, triggers_of,
};

use super::loader::Loader;
use super::test::{LineLocation, LineRetention};

/// A longer text is not kept to show where a skill was named.
const LONGEST_EXCERPT: u32 = 200;

/// The skills that tests have named so far.
#[derive(Debug)]
pub(super) struct SkillRegistry {
    known: HashSet<Arc<str>>,
    entries: SkillEntries,
}

#[derive(Debug)]
enum SkillEntries {
    /// Of the whole suite, by the names of their files.
    Whole(HashMap<String, (Arc<str>, SkillPlace)>),
    /// Of a part of a file; they are compared when the parts are joined.
    Part(Vec<PartSkill>),
}

/// A skill that a part of a file names, at its first place there.
#[derive(Debug)]
pub(super) struct PartSkill {
    pub(super) name: Arc<str>,
    pub(super) place: SkillPlace,
    /// Position of the test in its part.
    pub(super) test: u32,
}

#[derive(Debug, Clone)]
pub(super) enum SkillPlace {
    Span(Span),
    Line(SkillLine),
}

/// A place on a line that will not be kept.
#[derive(Debug, Clone)]
pub(super) struct SkillLine {
    path: Arc<Utf8Path>,
    position: Position,
    /// The text there, which begins at byte `start` of the line.
    text: String,
    start: u32,
    /// Where in the file the line begins, and which bytes of it are marked.
    pub(super) offset: u64,
    pub(super) head: (u32, u32),
}

impl SkillRegistry {
    pub(super) fn of_suite() -> Self {
        Self { known: HashSet::new(), entries: SkillEntries::Whole(HashMap::new()) }
    }

    pub(super) fn of_part() -> Self {
        Self { known: HashSet::new(), entries: SkillEntries::Part(Vec::new()) }
    }

    pub(super) fn into_met(self) -> Vec<PartSkill> {
        match self.entries {
            SkillEntries::Part(met) => met,
            SkillEntries::Whole(_) => Vec::new(),
        }
    }

    /// The earlier skill with the same file name, if there is one.
    fn enter(&mut self, met: PartSkill) -> Option<(Arc<str>, SkillPlace)> {
        self.known.insert(met.name.clone());
        match &mut self.entries {
            SkillEntries::Part(list) => {
                list.push(met);
                None
            }
            SkillEntries::Whole(names) => {
                let name = file_name(&met.name).to_lowercase();
                if let Some(first) = names.get(&name) {
                    return Some(first.clone());
                }
                names.insert(name, (met.name, met.place));
                None
            }
        }
    }
}

impl Loader<'_, '_> {
    /// Reports what keeps the triggers of a test from being transpiled (spec 12.3).
    pub(super) fn check_triggers(
        &mut self,
        test: &Test,
        node: Node<'_>,
        retention: &LineRetention,
    ) {
        let wanted = triggers_of(test, &mut |conflict| self.reader.report(conflict));
        for one in wanted {
            if self.skills.known.contains(one.skill) {
                continue;
            }
            let met = PartSkill {
                name: one.skill.into(),
                place: place_of(&one, node, retention),
                test: self.position,
            };
            if let Some(first) = self.skills.enter(met) {
                self.report_collision(one.skill, &first, |_| one.assertion.common.head);
            }
        }
    }

    /// What the tests of a part named; `mark` makes the place of a skill there.
    pub(super) fn take_over_skills(
        &mut self,
        all: Vec<PartSkill>,
        mark: impl Fn(&SkillPlace, &mut Sources) -> Span,
    ) {
        for met in all {
            if self.skills.known.contains(&met.name) {
                continue;
            }
            let (name, place) = (met.name.clone(), met.place.clone());
            self.reader.out.enter_test(self.position + met.test);
            if let Some(first) = self.skills.enter(met) {
                self.report_collision(&name, &first, |sources| mark(&place, sources));
            }
            self.reader.out.leave_test();
        }
    }

    fn report_collision(
        &mut self,
        name: &str,
        (other, first): &(Arc<str>, SkillPlace),
        place: impl FnOnce(&mut Sources) -> Span,
    ) {
        if self.reader.out.is_full() {
            self.reader.out.count_unkept(SKILL_NAME_COLLISION.level);
            return;
        }
        let other = NamedSkill { name: other, place: Some(first.shown(self.reader.sources)) };
        let place = place(self.reader.sources);
        self.reader.report(collision(name, place, other));
    }
}

/// Assertions of the root have a lasting place; those on a JSONL line do not.
fn place_of(one: &WantedTrigger<'_>, node: Node<'_>, retention: &LineRetention) -> SkillPlace {
    let common = &one.assertion.common;
    match retention {
        LineRetention::Dropped(location) if common.head.source == node.span().source => {
            let is_short = common.span.end - common.span.start <= LONGEST_EXCERPT;
            let shown = if is_short { common.span } else { common.head };
            SkillPlace::Line(SkillLine::new(location, node, shown, common.head))
        }
        _ => SkillPlace::Span(common.head),
    }
}

impl SkillLine {
    pub(super) fn line(&self) -> u32 {
        self.position.line
    }

    fn new(location: &LineLocation, node: Node<'_>, shown: Span, head: Span) -> Self {
        let line = node.tree_text();
        let (start, end) = (shown.start as usize, shown.end as usize);
        Self {
            path: location.path.clone(),
            position: Position {
                line: location.line,
                column: line[..start].chars().count() as u32 + 1,
            },
            text: line[start..end].to_owned(),
            start: shown.start,
            offset: location.offset,
            head: (head.start, head.end),
        }
    }
}

impl SkillPlace {
    /// As something that can be shown.
    fn shown(&self, sources: &mut Sources) -> Span {
        match self {
            Self::Span(span) => *span,
            Self::Line(line) => {
                let offset = line.offset + u64::from(line.start);
                let (path, text) = (line.path.clone(), line.text.as_str());
                let source = sources.add_excerpt(path, text, line.position, offset);
                Span::new(source, 0, text.len() as u32)
            }
        }
    }
}
