//! Finds the test that a place in a suite belongs to, among any number of tests.

use evalrig_core::source::Span;

/// The places of the tests of a suite. Tests are side by side, or have the very same place.
#[derive(Debug)]
pub(super) struct TestSpans {
    /// Sorted, each place once, with the first test that has it.
    spans: Vec<(Span, usize)>,
}

impl TestSpans {
    pub(super) fn new(tests: impl Iterator<Item = Span>) -> Self {
        let mut spans: Vec<(Span, usize)> = tests.zip(0..).collect();
        spans.sort_unstable();
        spans.dedup_by_key(|(span, _)| *span);
        Self { spans }
    }

    /// The index of the test around a place.
    pub(super) fn test_at(&self, place: Span) -> Option<usize> {
        let begins_before =
            |(span, _): &(Span, usize)| (span.source, span.start) <= (place.source, place.start);
        let after = self.spans.partition_point(begins_before);
        let (span, test) = self.spans[..after].last()?;
        (span.source == place.source && place.end <= span.end).then_some(*test)
    }
}

#[cfg(test)]
mod tests {
    use evalrig_core::source::Sources;

    use super::*;

    #[test]
    fn a_place_belongs_to_the_test_around_it() {
        let mut sources = Sources::new();
        let text = " ".repeat(100);
        let one = sources.add_file("a.yaml".into(), text.clone(), 0);
        let other = sources.add_file("b.yaml".into(), text, 0);
        let span = |source, start, end| Span::new(source, start, end);
        // In another order than in the files; the last two are made from one place.
        let tests = [
            span(other, 10, 20),
            span(one, 30, 40),
            span(one, 10, 20),
            span(one, 50, 60),
            span(one, 50, 60),
        ];
        let spans = TestSpans::new(tests.into_iter());
        for (at, test) in tests.iter().enumerate().take(4) {
            assert_eq!(spans.test_at(*test), Some(at));
            assert_eq!(spans.test_at(span(test.source, test.start + 1, test.end - 1)), Some(at));
        }
        for outside in [span(one, 0, 5), span(one, 15, 35), span(one, 60, 61), span(other, 30, 40)]
        {
            assert_eq!(spans.test_at(outside), None, "{outside:?}");
        }
        assert_eq!(TestSpans::new([].into_iter()).test_at(span(one, 0, 5)), None);
    }
}
