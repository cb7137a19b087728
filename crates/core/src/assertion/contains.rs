//! `contains` and its five variants: texts are found in the output. They differ in how many texts
//! there are, how many of them must be found, and whether case matters.

use std::borrow::Cow;

use crate::model::{Check, CommonOptions, GradingContext, Map, Marks, Score, Step, SubjectName};
use crate::reader::{Options, ReadResult};

use super::excerpt::excerpt;
use super::finding::FindingList;
use super::kind::AssertionKind;
use super::text_value::{ONE_TEXT, TEXTS, quoted, read_text_value, read_text_values};

pub(super) static CONTAINS: AssertionKind = AssertionKind::new(
    "contains",
    ONE_TEXT,
    |options, _| read_single(options, CaseSensitivity::Sensitive),
    "The output contains `value`. Case matters, and nothing is trimmed.

```yaml
assert:
  - type: contains
    value: \"$22,500\"
```

With `file`, a file that the agent left in its workspace is checked instead. If it does not exist, the check fails,
also with `negate`.

```yaml
workspace: {}
assert:
  - type: contains
    value: Summary
    file: report.md
```
",
);

pub(super) static ICONTAINS: AssertionKind = AssertionKind::new(
    "icontains",
    ONE_TEXT,
    |options, _| read_single(options, CaseSensitivity::Insensitive),
    "The output contains `value`, ignoring case.

```yaml
assert:
  - type: icontains
    value: Refund
```
",
);

pub(super) static CONTAINS_ANY: AssertionKind = AssertionKind::new(
    "contains-any",
    TEXTS,
    |options, _| read_multiple(options, Quantifier::Any, CaseSensitivity::Sensitive),
    "The output contains at least one of the texts. Case matters.

```yaml
assert:
  - type: contains-any
    value: [cat, dog]
```
",
);

pub(super) static CONTAINS_ALL: AssertionKind = AssertionKind::new(
    "contains-all",
    TEXTS,
    |options, _| read_multiple(options, Quantifier::All, CaseSensitivity::Sensitive),
    "The output contains every one of the texts. Case matters. One missing text makes the score 0.

```yaml
assert:
  - type: contains-all
    value: [cat, dog]
```
",
);

pub(super) static ICONTAINS_ANY: AssertionKind = AssertionKind::new(
    "icontains-any",
    TEXTS,
    |options, _| read_multiple(options, Quantifier::Any, CaseSensitivity::Insensitive),
    "The output contains at least one of the texts, ignoring case.

```yaml
assert:
  - type: icontains-any
    value: [refund, money back]
```
",
);

pub(super) static ICONTAINS_ALL: AssertionKind = AssertionKind::new(
    "icontains-all",
    TEXTS,
    |options, _| read_multiple(options, Quantifier::All, CaseSensitivity::Insensitive),
    "The output contains every one of the texts, ignoring case.

```yaml
assert:
  - type: icontains-all
    value: [refund, money back]
```
",
);

fn read_single(
    options: &mut Options<'_, '_, '_>,
    case: CaseSensitivity,
) -> ReadResult<Box<dyn Check>> {
    let value = read_text_value(options)?;
    Ok(Box::new(Contains { value, case }))
}

fn read_multiple(
    options: &mut Options<'_, '_, '_>,
    quantifier: Quantifier,
    case: CaseSensitivity,
) -> ReadResult<Box<dyn Check>> {
    Ok(Box::new(ContainsSeveral { values: read_text_values(options)?, quantifier, case }))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CaseSensitivity {
    Sensitive,
    Insensitive,
}

impl CaseSensitivity {
    /// The end of every sentence about it.
    fn suffix(self) -> &'static str {
        match self {
            Self::Sensitive => "",
            Self::Insensitive => " (ignoring case)",
        }
    }

    /// Lower-cases rather than folds (spec 7.3).
    fn normalize(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Sensitive => Cow::Borrowed(text),
            Self::Insensitive => Cow::Owned(text.to_lowercase()),
        }
    }

    fn hit(self, subject: SubjectName<'_>, value: &str) -> String {
        format!("{subject} contains '{}'{}", excerpt(value), self.suffix())
    }

    fn miss(self, subject: SubjectName<'_>, value: &str) -> String {
        let suffix = self.suffix();
        format!("{subject} does not contain '{}'{suffix}", excerpt(value))
    }
}

/// Looks for one text.
#[derive(Debug)]
struct Contains {
    value: String,
    case: CaseSensitivity,
}

impl Check for Contains {
    fn options(&self) -> Map {
        Map::new().with("value", self.value.as_str())
    }

    fn sentences(&self, common: &CommonOptions) -> Vec<String> {
        let (subject, suffix) = (common.subject(), self.case.suffix());
        vec![format!("{subject} contains '{}'{suffix}", self.value)]
    }

    fn grade(&self, context: &GradingContext<'_>) -> Step {
        let subject = context.subject();
        let text = self.case.normalize(context.text());
        Marks::when(
            text.contains(&*self.case.normalize(&self.value)),
            || self.case.hit(subject, &self.value),
            || self.case.miss(subject, &self.value),
        )
        .into()
    }
}

/// How many of several texts must be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quantifier {
    Any,
    All,
}

impl Quantifier {
    fn word(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::All => "all",
        }
    }
}

/// Looks for several texts.
#[derive(Debug)]
struct ContainsSeveral {
    /// Never empty.
    values: Vec<String>,
    quantifier: Quantifier,
    case: CaseSensitivity,
}

impl Check for ContainsSeveral {
    fn options(&self) -> Map {
        Map::new().with("value", self.values.clone())
    }

    fn sentences(&self, common: &CommonOptions) -> Vec<String> {
        let (values, suffix) = (quoted(&self.values), self.case.suffix());
        let (subject, quantifier) = (common.subject(), self.quantifier.word());
        vec![format!("{subject} contains {quantifier} of: {values}{suffix}")]
    }

    fn grade(&self, context: &GradingContext<'_>) -> Step {
        let subject = context.subject();
        let text = self.case.normalize(context.text());
        let (found, absent): (Vec<&String>, Vec<&String>) =
            self.values.iter().partition(|value| text.contains(&*self.case.normalize(value)));
        let holds = match self.quantifier {
            Quantifier::Any => !found.is_empty(),
            Quantifier::All => absent.is_empty(),
        };
        let mut findings = FindingList::default();
        for value in found {
            findings.hit(self.case.hit(subject, value));
        }
        match self.quantifier {
            Quantifier::Any if holds => {}
            Quantifier::Any => {
                let values = self.values.iter().map(|value| excerpt(value).into());
                let (values, suffix) = (quoted(&values.collect::<Vec<_>>()), self.case.suffix());
                findings.miss(format!("{subject} contains none of: {values}{suffix}"));
            }
            Quantifier::All => {
                for value in absent {
                    findings.miss(self.case.miss(subject, value));
                }
            }
        }
        findings.marks(Score::when(holds)).into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::marks;

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
            ("contains, value: Alice", "alice", 0.0, &[], &["Output does not contain 'Alice'"]),
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
            ("contains-any, value: [cat, dog]", "a dog", 1.0, &["Output contains 'dog'"], &[]),
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
                &["Output contains 'CAT' (ignoring case)", "Output contains 'DOG' (ignoring case)"],
                &[],
            ),
            (
                "icontains-all, value: [CAT, dog]",
                "Cat, DOG",
                1.0,
                &["Output contains 'CAT' (ignoring case)", "Output contains 'dog' (ignoring case)"],
                &[],
            ),
        ]);
    }

    #[test]
    fn none_of_several_texts_is_one_miss() {
        check(&[
            ("contains-any, value: [a, b]", "x", 0.0, &[], &["Output contains none of: 'a', 'b'"]),
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
            ("contains, value: 'a '", "a", 0.0, &[], &["Output does not contain 'a '"]),
            ("contains, value: a", "", 0.0, &[], &["Output does not contain 'a'"]),
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
