//! The six checks that look for texts in the output. They differ in how many texts there are, how
//! many of them must be found, and whether case counts.

use std::borrow::Cow;

use crate::model::{Check, CommonOptions, GradingContext, Map, Marks, Score, Step};

use super::excerpt::excerpt;
use super::needle;

/// Whether upper and lower case differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Counts,
    Ignored,
}

impl Case {
    /// The end of every sentence about it.
    fn suffix(self) -> &'static str {
        match self {
            Self::Counts => "",
            Self::Ignored => " (ignoring case)",
        }
    }

    /// Lower-casing and not case folding (spec 7.3).
    fn fold(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Counts => Cow::Borrowed(text),
            Self::Ignored => Cow::Owned(text.to_lowercase()),
        }
    }

    fn hit(self, value: &str) -> String {
        format!("Output contains '{}'{}", excerpt(value), self.suffix())
    }

    fn miss(self, value: &str) -> String {
        let suffix = self.suffix();
        format!("Output does not contain '{}'{suffix}", excerpt(value))
    }
}

/// Looks for one text.
#[derive(Debug)]
pub(super) struct Substring {
    pub(super) value: String,
    pub(super) case: Case,
}

impl Check for Substring {
    fn options(&self) -> Map {
        let mut map = Map::new();
        map.insert("value", self.value.as_str());
        map
    }

    fn sentences(&self, _: &CommonOptions) -> Vec<String> {
        let suffix = self.case.suffix();
        vec![format!("Output contains '{}'{suffix}", self.value)]
    }

    fn grade(&self, context: &GradingContext<'_>) -> Step {
        let output = self.case.fold(&context.evidence.transcript.answer);
        let is_found = output.contains(&*self.case.fold(&self.value));
        Marks::when(
            is_found,
            || self.case.hit(&self.value),
            || self.case.miss(&self.value),
        )
        .into()
    }
}

/// How many of several texts must be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Share {
    Any,
    All,
}

/// Looks for several texts.
#[derive(Debug)]
pub(super) struct Substrings {
    /// Never empty.
    pub(super) values: Vec<String>,
    pub(super) share: Share,
    pub(super) case: Case,
}

impl Check for Substrings {
    fn options(&self) -> Map {
        let mut map = Map::new();
        map.insert("value", self.values.clone());
        map
    }

    fn sentences(&self, _: &CommonOptions) -> Vec<String> {
        let share = match self.share {
            Share::Any => "any",
            Share::All => "all",
        };
        let (values, suffix) = (needle::quoted(&self.values), self.case.suffix());
        vec![format!("Output contains {share} of: {values}{suffix}")]
    }

    fn grade(&self, context: &GradingContext<'_>) -> Step {
        let output = self.case.fold(&context.evidence.transcript.answer);
        let (found, absent): (Vec<&String>, Vec<&String>) = self
            .values
            .iter()
            .partition(|value| output.contains(&*self.case.fold(value)));
        let holds = match self.share {
            Share::Any => !found.is_empty(),
            Share::All => absent.is_empty(),
        };
        let misses = match self.share {
            Share::Any if holds => Vec::new(),
            Share::Any => {
                let values: Vec<String> = self
                    .values
                    .iter()
                    .map(|value| excerpt(value).into())
                    .collect();
                let (values, suffix) = (needle::quoted(&values), self.case.suffix());
                vec![format!("Output contains none of: {values}{suffix}")]
            }
            Share::All => absent.iter().map(|value| self.case.miss(value)).collect(),
        };
        let hits = found.iter().map(|value| self.case.hit(value)).collect();
        Marks::new(Score::when(holds), hits, misses).into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::marks;

    /// Type and value, output, score, hits, misses.
    type Row<'a> = (&'a str, &'a str, f64, &'a [&'a str], &'a [&'a str]);

    fn check(rows: &[Row<'_>]) {
        for (assertion, output, score, hits, misses) in rows {
            let found = marks(&format!("{{type: {assertion}}}"), output);
            assert_eq!(found.score.value(), *score, "{assertion} on {output}");
            assert_eq!(found.hits, *hits, "{assertion} on {output}");
            assert_eq!(found.misses, *misses, "{assertion} on {output}");
        }
    }

    #[test]
    fn the_examples_of_the_format_for_one_text() {
        check(&[
            (
                "contains, value: '$22,500'",
                "Nov: $22,500",
                1.0,
                &["Output contains '$22,500'"],
                &[],
            ),
            (
                "contains, value: Alice",
                "alice",
                0.0,
                &[],
                &["Output does not contain 'Alice'"],
            ),
            (
                "icontains, value: Alice",
                "alice",
                1.0,
                &["Output contains 'Alice' (ignoring case)"],
                &[],
            ),
            (
                "icontains, value: straße",
                "STRASSE",
                0.0,
                &[],
                &["Output does not contain 'straße' (ignoring case)"],
            ),
            (
                "contains, value: DENIED, negate: true",
                "ok",
                1.0,
                &["Output does not contain 'DENIED'"],
                &[],
            ),
        ]);
    }

    #[test]
    fn the_examples_of_the_format_for_several_texts() {
        check(&[
            (
                "contains-any, value: [cat, dog]",
                "a dog",
                1.0,
                &["Output contains 'dog'"],
                &[],
            ),
            (
                "contains-all, value: [cat, dog]",
                "a dog",
                0.0,
                &["Output contains 'dog'"],
                &["Output does not contain 'cat'"],
            ),
            (
                "icontains-any, value: [CAT, DOG]",
                "Cat, DOG",
                1.0,
                &[
                    "Output contains 'CAT' (ignoring case)",
                    "Output contains 'DOG' (ignoring case)",
                ],
                &[],
            ),
            (
                "icontains-all, value: [CAT, dog]",
                "Cat, DOG",
                1.0,
                &[
                    "Output contains 'CAT' (ignoring case)",
                    "Output contains 'dog' (ignoring case)",
                ],
                &[],
            ),
        ]);
    }

    #[test]
    fn none_of_several_texts_is_one_miss() {
        check(&[
            (
                "contains-any, value: [a, b]",
                "x",
                0.0,
                &[],
                &["Output contains none of: 'a', 'b'"],
            ),
            (
                "icontains-any, value: [a, b]",
                "x",
                0.0,
                &[],
                &["Output contains none of: 'a', 'b' (ignoring case)"],
            ),
            (
                "icontains-all, value: [a, b]",
                "A",
                0.0,
                &["Output contains 'a' (ignoring case)"],
                &["Output does not contain 'b' (ignoring case)"],
            ),
        ]);
    }

    #[test]
    fn nothing_is_trimmed_and_an_empty_output_contains_nothing() {
        check(&[
            (
                "contains, value: 'a '",
                "a",
                0.0,
                &[],
                &["Output does not contain 'a '"],
            ),
            (
                "contains, value: a",
                "",
                0.0,
                &[],
                &["Output does not contain 'a'"],
            ),
            (
                "icontains, value: ÉCOLE",
                "l’école",
                1.0,
                &["Output contains 'ÉCOLE' (ignoring case)"],
                &[],
            ),
        ]);
    }

    #[test]
    fn long_values_are_cut_where_they_are_quoted() {
        let long = "ü".repeat(201);
        let cut = "ü".repeat(200);
        let miss = |assertion: String| marks(&assertion, "").misses.remove(0);
        assert_eq!(
            miss(format!("{{type: contains, value: {long}}}")),
            format!("Output does not contain '{cut}…'")
        );
        assert_eq!(
            miss(format!("{{type: contains-any, value: [{long}, b]}}")),
            format!("Output contains none of: '{cut}…', 'b'")
        );
    }
}
