//! One test as the data of an entry, made once for all files it goes into.

use std::collections::HashSet;

use crate::model::Expected;
use crate::source::Span;

use super::prompt::{files_of, prompt_of};
use super::sentence::sentences_of;
use super::{Job, loss};

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) id: u64,
    pub(super) prompt: String,
    pub(super) expected_output: Option<String>,
    pub(super) files: Vec<String>,
    pub(super) assertions: Vec<String>,
    /// The whole test.
    pub(super) span: Span,
}

/// One per test, in suite order. What they cannot say is noted on the way.
pub(super) fn build(job: &mut Job<'_>, ids: &[u64]) -> Vec<Entry> {
    let tests = &job.suite.tests;
    let mut entries = Vec::with_capacity(tests.len());
    for (test, id) in tests.iter().zip(ids) {
        let prompt = prompt_of(job, test);
        let expected = test.expected_output.as_ref().and_then(Expected::text);
        let expected = expected.filter(|text| !text.is_empty());
        let assertions = sentences_of(job, test, expected.as_deref());
        loss::note(job, test, expected.as_deref());
        entries.push(Entry {
            id: *id,
            prompt: job.redacted(prompt.unwrap_or_default()),
            expected_output: expected.map(|text| job.redacted(text)),
            files: redacted(job, files_of(test)),
            assertions: redacted(job, assertions),
            span: test.span,
        });
    }
    entries
}

fn redacted(job: &Job<'_>, texts: Vec<String>) -> Vec<String> {
    match job.options.secrets.is_empty() {
        true => texts,
        false => texts.into_iter().map(|text| job.redacted(text)).collect(),
    }
}

/// Without exact repeats of earlier texts.
pub(super) fn distinct(mut texts: Vec<String>) -> Vec<String> {
    // Most lists are so short that looking is cheaper than remembering.
    const SHORT: usize = 12;
    if texts.len() <= 1 {
        return texts;
    }
    if texts.len() <= SHORT {
        let mut at = 1;
        while at < texts.len() {
            match texts[..at].contains(&texts[at]) {
                true => drop(texts.remove(at)),
                false => at += 1,
            }
        }
        return texts;
    }
    let mut seen = HashSet::new();
    let is_new: Vec<bool> = texts
        .iter()
        .map(|text| seen.insert(text.as_str()))
        .collect();
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
