//! The search for all spellings of all secrets in one pass over a text.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use memchr::memmem;

use super::spelling::add_spellings;
use super::{SHORTEST, SHORTEST_VARIABLE};

/// Marks that show where a text was truncated.
const CUT_MARKS: &[&str] = &["...", "…"];

/// Bytes of a truncated secret that are recognised.
const WINDOW: usize = SHORTEST_VARIABLE;

/// Cheap to clone.
#[derive(Clone)]
pub(super) struct SecretMatcher(Arc<Needles>);

struct Needles {
    spellings: Vec<String>,
    /// `None` if the spellings are too large to be searched at once.
    automaton: Option<AhoCorasick>,
    /// Few texts are truncated, so it is made when the first one is seen.
    windows: OnceLock<WindowIndex>,
}

/// Spelling and offset of every window of the spellings, in lower case.
type WindowIndex = HashMap<[u8; WINDOW], Vec<(u32, u32)>>;

impl SecretMatcher {
    pub(super) fn new(values: &BTreeSet<String>) -> Self {
        let mut spellings = BTreeSet::new();
        for value in values {
            add_spellings(value, &mut spellings);
        }
        spellings.retain(|spelling| spelling.chars().count() >= SHORTEST);
        let spellings: Vec<String> = spellings.into_iter().collect();
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(&spellings)
            .ok();
        Self(Arc::new(Needles { spellings, automaton, windows: OnceLock::new() }))
    }

    pub(super) fn is_in(&self, text: &str) -> bool {
        let found = match &self.0.automaton {
            Some(automaton) => automaton.is_match(text),
            None => !self.whole_spans(text).is_empty(),
        };
        found || !self.cut_spans(text).is_empty()
    }

    /// In order and apart from each other. Matches that overlap become one span, so that no end of a
    /// secret is left.
    pub(super) fn spans(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = self.whole_spans(text);
        found.extend(self.cut_spans(text));
        if found.len() > 1 {
            found.sort_unstable_by_key(|span| (span.start, span.end));
        }
        let mut spans: Vec<Range<usize>> = Vec::with_capacity(found.len());
        for span in found {
            match spans.last_mut() {
                Some(last) if span.start < last.end => last.end = last.end.max(span.end),
                _ => spans.push(span),
            }
        }
        spans
    }

    fn whole_spans(&self, text: &str) -> Vec<Range<usize>> {
        match &self.0.automaton {
            Some(automaton) => {
                automaton.find_overlapping_iter(text).map(|found| found.range()).collect()
            }
            None => {
                let found = self
                    .0
                    .spellings
                    .iter()
                    .flat_map(|spelling| text.match_indices(spelling.as_str()));
                found.map(|(at, same)| at..at + same.len()).collect()
            }
        }
    }

    /// Texts are truncated before they are shown, perhaps within a secret: what is left of it beside the
    /// mark.
    fn cut_spans(&self, text: &str) -> Vec<Range<usize>> {
        let mut spans = Vec::new();
        for mark in CUT_MARKS {
            for at in memmem::find_iter(text.as_bytes(), mark) {
                spans.extend(self.beginning(text, at));
                spans.extend(self.rest(text, at + mark.len()));
            }
        }
        spans
    }

    /// The beginning of a secret in front of a mark.
    fn beginning(&self, text: &str, end: usize) -> Option<Range<usize>> {
        let before = &text.as_bytes()[..end];
        let window = before.last_chunk::<WINDOW>()?;
        let lengths = self.0.found(window).filter_map(|(spelling, offset)| {
            let length = offset + WINDOW;
            let seen = &before[end.checked_sub(length)?..];
            seen.eq_ignore_ascii_case(&spelling[..length]).then_some(length)
        });
        let start = end - lengths.max()?;
        Some(floor_boundary(text, start)..end)
    }

    /// The rest of a secret behind a mark, up to its end or the next mark.
    fn rest(&self, text: &str, start: usize) -> Option<Range<usize>> {
        let behind = &text.as_bytes()[start..];
        let window = behind.first_chunk::<WINDOW>()?;
        let lengths = self.0.found(window).filter_map(|(spelling, offset)| {
            let wanted = &spelling[offset..];
            let same = behind.iter().zip(wanted).take_while(|(a, b)| a.eq_ignore_ascii_case(b));
            let length = same.count();
            let is_cut =
                || CUT_MARKS.iter().any(|mark| behind[length..].starts_with(mark.as_bytes()));
            (length == wanted.len() || is_cut()).then_some(length)
        });
        let end = start + lengths.max()?;
        Some(start..end)
    }
}

impl Needles {
    /// The spellings that have this window, and where.
    fn found(&self, window: &[u8; WINDOW]) -> impl Iterator<Item = (&[u8], usize)> {
        let windows = self.windows.get_or_init(|| index_windows(&self.spellings));
        let places = windows.get(&window.to_ascii_lowercase()[..]).into_iter().flatten();
        places.map(|(spelling, offset)| {
            (self.spellings[*spelling as usize].as_bytes(), *offset as usize)
        })
    }
}

fn index_windows(spellings: &[String]) -> WindowIndex {
    let mut index = WindowIndex::new();
    for (number, spelling) in (0..).zip(spellings) {
        let lower = spelling.to_ascii_lowercase();
        for (offset, window) in (0..).zip(lower.as_bytes().windows(WINDOW)) {
            if let Ok(window) = window.try_into() {
                index.entry(window).or_default().push((number, offset));
            }
        }
    }
    index
}

fn floor_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
