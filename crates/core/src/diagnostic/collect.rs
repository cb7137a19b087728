//! Collects diagnostics while files are read.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::source::Span;

use super::code::{Level, Severity};
use super::diagnostic::Diagnostic;
use super::fix::Fix;

/// A damaged file of a million lines must not become a million diagnostics in memory.
const KEPT: usize = 10_000;
/// Fixes of diagnostics that are not kept: without them every 10 000 fixes would need a reading of
/// their own.
const KEPT_FIXES: usize = 1_000_000;

/// Everything reported so far. The same fault at the same place is kept once: a mapping that is
/// reached through several aliases is read several times.
#[derive(Debug, Default)]
pub struct Diagnostics {
    kept: Vec<Diagnostic>,
    /// Of diagnostics that are not kept, in files that are.
    more_fixes: Vec<(Span, Fix)>,
    is_in_line: bool,
    seen: HashSet<(&'static str, Span, u64)>,
    errors: usize,
    blocking: usize,
    warnings: usize,
    dropped: usize,
    current_test: Option<u32>,
    strict: bool,
}

impl Diagnostics {
    pub fn new() -> Self {
        Self::default()
    }

    /// Raises warnings and conformance errors to blocking errors.
    pub fn strict() -> Self {
        Self { strict: true, ..Self::default() }
    }

    /// Faults reported from now on touch the test at this position.
    pub(crate) fn enter_test(&mut self, position: u32) {
        self.current_test = Some(position);
    }

    pub(crate) fn leave_test(&mut self) {
        self.current_test = None;
    }

    /// Whether the text is one line of a JSONL file, which is dropped unless a diagnostic about it is
    /// kept.
    pub(crate) fn set_in_line(&mut self, is_in_line: bool) {
        self.is_in_line = is_in_line;
    }

    pub fn report(&mut self, mut diagnostic: Diagnostic) {
        if diagnostic.test.is_none() {
            diagnostic.test = self.current_test;
        }
        if self.strict {
            diagnostic.level = diagnostic.level.strict();
        }
        if !self.seen.insert((diagnostic.code.name, diagnostic.span, hash_of(&diagnostic.message)))
        {
            return;
        }
        self.count(diagnostic.level);
        if self.kept.len() < KEPT {
            self.kept.push(diagnostic);
        } else {
            self.dropped += 1;
            self.seen.clear();
            let has_room = !self.is_in_line && self.more_fixes.len() < KEPT_FIXES;
            if let Some(fix) = diagnostic.fix.filter(|_| has_room) {
                self.more_fixes.push((diagnostic.span, fix));
            }
        }
    }

    /// Every fix with the place of its diagnostic.
    pub(crate) fn fixes(&self) -> impl Iterator<Item = (Span, &Fix)> {
        let kept = self.kept.iter().filter_map(|one| Some((one.span, one.fix.as_ref()?)));
        kept.chain(self.more_fixes.iter().map(|(span, fix)| (*span, fix)))
    }

    fn count(&mut self, level: Level) {
        self.blocking += usize::from(level == Level::Blocking);
        match level.severity() {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
            Severity::Note => {}
        }
    }

    /// No further diagnostic will be kept.
    pub(crate) fn is_full(&self) -> bool {
        self.kept.len() >= KEPT
    }

    /// Counts a fault whose details are not kept.
    pub(crate) fn count_unkept(&mut self, level: Level) {
        let level = if self.strict { level.strict() } else { level };
        self.count(level);
        self.dropped += 1;
    }

    /// How many are kept so far.
    pub fn kept(&self) -> usize {
        self.kept.len()
    }

    pub fn errors(&self) -> usize {
        self.errors
    }

    pub fn warnings(&self) -> usize {
        self.warnings
    }

    /// At least one fault was blocking, kept or not.
    pub fn is_blocked(&self) -> bool {
        self.blocking > 0
    }

    /// How many were counted but not kept.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// How many diagnostics came in so far; grows with every report that was not a repetition.
    pub fn len(&self) -> usize {
        self.kept.len() + self.dropped
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.kept.iter()
    }

    /// Takes over what was reported about a part of a file: spans are moved, and the first test of
    /// the part comes after `tests_before` others.
    pub(crate) fn take_over(
        &mut self,
        part: Self,
        tests_before: u32,
        place: impl Fn(Span) -> Span,
    ) {
        let (kept_errors, kept_warnings) = part.kept_counts();
        self.blocking += part.blocking - part.kept_blocking();
        for mut diagnostic in part.kept {
            diagnostic.move_spans(&place);
            diagnostic.test = diagnostic.test.map(|test| test + tests_before);
            self.report(diagnostic);
        }
        // What the part counted but did not keep.
        self.errors += part.errors - kept_errors;
        self.warnings += part.warnings - kept_warnings;
        self.dropped += part.dropped;
    }

    fn kept_blocking(&self) -> usize {
        let all = self.kept.iter();
        all.filter(|one| one.level == Level::Blocking).count()
    }

    fn kept_counts(&self) -> (usize, usize) {
        let of = |severity| self.kept.iter().filter(|one| one.level.severity() == severity).count();
        (of(Severity::Error), of(Severity::Warning))
    }

    /// Takes everything over from another collection, whose levels are already final.
    pub fn absorb(&mut self, other: Self) {
        self.errors += other.errors;
        self.blocking += other.blocking;
        self.warnings += other.warnings;
        self.dropped += other.dropped;
        let room = KEPT.saturating_sub(self.kept.len());
        self.dropped += other.kept.len().saturating_sub(room);
        self.kept.extend(other.kept.into_iter().take(room));
        self.more_fixes.extend(other.more_fixes);
    }

    pub fn into_vec(self) -> Vec<Diagnostic> {
        self.kept
    }
}

fn hash_of(message: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    message.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::{Code, Family};
    use crate::source::Sources;

    static CODE: Code =
        Code { name: "a-fault", level: Level::Warning, family: Family::Shape, doc: "" };

    fn span(at: u32) -> Span {
        let mut sources = Sources::new();
        let id = sources.add_file("/a".into(), "x".repeat(10), 0);
        Span::new(id, at, at + 1)
    }

    #[test]
    fn the_same_fault_at_the_same_place_is_kept_once() {
        let mut out = Diagnostics::new();
        out.report(Diagnostic::new(&CODE, span(1), "m"));
        out.report(Diagnostic::new(&CODE, span(1), "m"));
        out.report(Diagnostic::new(&CODE, span(2), "m"));
        assert_eq!((out.len(), out.warnings()), (2, 2));
    }

    #[test]
    fn strict_counts_warnings_as_errors() {
        let mut out = Diagnostics::strict();
        out.report(Diagnostic::new(&CODE, span(1), "m"));
        assert_eq!((out.errors(), out.warnings()), (1, 0));
    }

    #[test]
    fn the_count_goes_on_when_no_more_are_kept() {
        let mut out = Diagnostics::new();
        for n in 0..KEPT + 5 {
            out.report(Diagnostic::new(&CODE, span(1), n.to_string()));
        }
        assert_eq!((out.iter().count(), out.dropped(), out.warnings()), (KEPT, 5, KEPT + 5));
    }

    #[test]
    fn a_blocking_fault_counts_even_if_it_is_not_kept() {
        let mut out = Diagnostics::new();
        for n in 0..KEPT {
            out.report(Diagnostic::new(&CODE, span(1), n.to_string()));
        }
        assert!(!out.is_blocked());
        out.report(Diagnostic::new(&CODE, span(1), "last").level(Level::Blocking));
        assert!(out.is_blocked());
    }
}
