//! The written texts of each test, in one buffer until the files are known, so that a test can be
//! dropped as soon as it has been added.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::Hash;

use crate::model::{Expected, Test};
use crate::secrets::Secrets;
use crate::source::Span;

use super::Transpiler;
use super::prompt::{files_of, prompt_of};

/// One per test, in suite order.
#[derive(Debug, Default)]
pub(super) struct Entries {
    list: Vec<EntryPieces>,
    /// All pieces, one behind the other.
    text: String,
    /// Where each piece ends.
    ends: Vec<usize>,
}

/// Its pieces are the prompt, the expected output if there is one, the files, the assertions.
#[derive(Debug)]
struct EntryPieces {
    first: usize,
    has_expected: bool,
    files: usize,
    assertions: usize,
    /// The whole test.
    span: Span,
}

/// One entry, to be written.
#[derive(Debug)]
pub(super) struct EntryView<'e, P> {
    pub(super) prompt: &'e str,
    pub(super) expected_output: Option<&'e str>,
    pub(super) files: P,
    pub(super) assertions: P,
    /// The whole test.
    pub(super) span: Span,
}

impl Transpiler<'_> {
    /// Adds the texts of a test.
    pub(super) fn entry(&mut self, test: &Test, expected: Option<&str>, is_copy: bool) {
        let prompt = prompt_of(test, &mut self.faults);
        let assertions = self.sentences_of(test, is_copy);
        let files = files_of(test, self.options.skill_root);
        let entries = &mut self.entries;
        entries.list.push(EntryPieces {
            first: entries.ends.len(),
            has_expected: expected.is_some(),
            files: files.len(),
            assertions: assertions.len(),
            span: test.span,
        });
        entries.push(&prompt);
        expected.into_iter().for_each(|text| entries.push(text));
        files.iter().for_each(|text| entries.push(text));
        assertions.iter().for_each(|text| entries.push(text));
    }
}

/// The reference output as text, unless it is empty.
pub(super) fn expected_of(test: &Test) -> Option<Cow<'_, str>> {
    let text = match test.expected_output.as_ref()? {
        Expected::Text(text) => text.into(),
        other => Cow::from(other.text()?),
    };
    (!text.is_empty()).then_some(text)
}

impl Entries {
    fn push(&mut self, piece: &str) {
        self.text.push_str(piece);
        self.ends.push(self.text.len());
    }

    fn piece(&self, at: usize) -> &str {
        &self.text[self.start(at)..self.ends[at]]
    }

    fn start(&self, at: usize) -> usize {
        at.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    pub(super) fn view(
        &self,
        at: usize,
    ) -> EntryView<'_, impl ExactSizeIterator<Item = &str> + use<'_>> {
        let entry = &self.list[at];
        let files = entry.first + 1 + usize::from(entry.has_expected);
        let assertions = files + entry.files;
        let pieces = |from: usize, count: usize| (from..from + count).map(|at| self.piece(at));
        EntryView {
            prompt: self.piece(entry.first),
            expected_output: entry.has_expected.then(|| self.piece(entry.first + 1)),
            files: pieces(files, entry.files),
            assertions: pieces(assertions, entry.assertions),
            span: entry.span,
        }
    }

    /// The total length of an entry's pieces.
    pub(super) fn size(&self, at: usize) -> usize {
        let next = self.list.get(at + 1).map_or(self.ends.len(), |next| next.first);
        self.start(next) - self.start(self.list[at].first)
    }

    /// The same with secrets redacted.
    pub(super) fn redacted(self, secrets: &Secrets) -> Self {
        if secrets.is_empty() {
            return self;
        }
        let mut clean = Self::default();
        for at in 0..self.ends.len() {
            clean.push(&secrets.redact(self.piece(at)));
        }
        clean.list = self.list;
        clean
    }
}

/// Without exact repeats of earlier texts.
pub(super) fn distinct<T: Eq + Hash>(mut texts: Vec<T>) -> Vec<T> {
    // For short lists a linear search is faster than a hash set.
    const SHORT: usize = 12;
    if texts.len() <= 1 {
        return texts;
    }
    if texts.len() <= SHORT {
        let mut at = 1;
        while at < texts.len() {
            if texts[..at].contains(&texts[at]) { drop(texts.remove(at)) } else { at += 1 }
        }
        return texts;
    }
    let mut seen = HashSet::new();
    let is_new: Vec<bool> = texts.iter().map(|text| seen.insert(text)).collect();
    let mut is_new = is_new.into_iter();
    texts.retain(|_| is_new.next().unwrap_or(true));
    texts
}

#[cfg(test)]
mod tests {
    use super::distinct;

    #[test]
    fn repeats_are_dropped_from_short_and_long_lists() {
        let list = |count: usize| -> Vec<String> { (0..count).map(|n| n.to_string()).collect() };
        for count in [0, 1, 2, 5, 40] {
            let twice = [list(count), list(count)].concat();
            assert_eq!(distinct(twice), list(count));
        }
    }
}
