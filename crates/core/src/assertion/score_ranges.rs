//! `score_ranges` of a rubric item: what scores from 0 to 10 mean (spec 3.6).

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::ScoreRange;
use crate::reader::{ReadResult, Reader, Reported, all_read, read_mapping, short_span, wrong_type};
use crate::source::Span;
use crate::syntax::fields::{Entry, Field, Shape, shorten};
use crate::syntax::{Node, Scalar};

declare_codes! {
    INVALID_SCORE_RANGES = "invalid-score-ranges", Blocking, Assertion, r#"`score_ranges` does not describe scores from 0 to 10.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    rubrics:
      - id: tone
        score_ranges:
          0: Rude
          5: Neutral
          100: Friendly
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    rubrics:
      - id: tone
        score_ranges:
          0: Rude
          5: Neutral
          10: Friendly
```

## Why
The judge scores such an item with a number from 0 to 10. A range outside that scale, or two ranges
for one number, cannot guide it.
"#;
}

static FIELDS: &[Field] = &[
    Field::new(
        "score_range",
        Shape::List(&Shape::Integer { min: 0, max: 10 }),
        "the lowest and the highest score",
    )
    .required(),
    Field::new("outcome", Shape::NonEmptyText, "what a score in this range means")
        .also(&["expected_outcome", "description"])
        .required(),
];

/// A mapping from scores to texts, or a list of ranges.
pub(super) const SHAPE: Shape = Shape::OneOf(&[
    Shape::MapOf(&Shape::NonEmptyText),
    Shape::NonEmptyList(&Shape::Fields(FIELDS)),
]);

/// Both forms, as ranges in ascending order that do not overlap.
pub(super) fn read_ranges(
    reader: &mut Reader<'_>,
    entry: &Entry<'_>,
) -> ReadResult<Vec<ScoreRange>> {
    let node = entry.value;
    let mut ranges = if node.is_mapping() {
        ranges_by_lowest(reader, node)?
    } else if node.is_sequence() {
        all_read(node.items().map(|item| read_listed_range(reader, item)))?
    } else {
        let expected = "a mapping from scores to texts, or a list of ranges";
        reader.report(wrong_type(entry.field.name, node, expected));
        return Err(Reported);
    };
    ranges.sort_by_key(|range| range.low);
    let overlap = ranges.windows(2).find(|pair| pair[0].high >= pair[1].low);
    match overlap {
        Some(pair) => {
            let message = format!("the score {} is in two ranges", pair[1].low);
            Err(report_ranges(reader, short_span(node), message))
        }
        None if ranges.is_empty() => {
            let message = "`score_ranges` is empty";
            Err(report_ranges(reader, short_span(node), message))
        }
        None => Ok(ranges),
    }
}

fn report_ranges(reader: &mut Reader<'_>, span: Span, message: impl Into<String>) -> Reported {
    reader.report(Diagnostic::new(&INVALID_SCORE_RANGES, span, message).help(
        "write scores from 0 to 10, each with its text: `{0: Rude, 5: Neutral, 10: Friendly}`",
    ));
    Reported
}

/// `{0: …, 3: …, 8: …}`: the text of a score applies up to the next score that has one.
fn ranges_by_lowest(reader: &mut Reader<'_>, node: Node<'_>) -> ReadResult<Vec<ScoreRange>> {
    let mut ranges = all_read(node.entries().into_iter().map(|(key, value)| {
        let Some(low) = key.scalar_text().and_then(score) else {
            let name = shorten(key.scalar_text().unwrap_or(""));
            let message = format!("`{name}` is not a score from 0 to 10");
            return Err(report_ranges(reader, key.span(), message));
        };
        Ok(ScoreRange { low, high: low, outcome: read_range_text(reader, value)? })
    }))?;
    ranges.sort_by_key(|range| range.low);
    let lows: Vec<u8> = ranges.iter().map(|range| range.low).collect();
    for (range, next) in ranges.iter_mut().zip(lows.iter().skip(1).chain([&11])) {
        // `00` and `0` are two keys of one score; the caller reports the overlap.
        range.high = next.saturating_sub(1).max(range.low);
    }
    Ok(ranges)
}

fn read_listed_range(reader: &mut Reader<'_>, node: Node<'_>) -> ReadResult<ScoreRange> {
    const FORM: &str = "a range is `{score_range: [low, high], outcome: text}`";
    if !node.is_mapping() {
        return Err(report_ranges(reader, short_span(node), FORM));
    }
    read_mapping(reader, "an item of score_ranges", node, FIELDS, |options| {
        let (Some(range), Some(outcome)) = (options.get("score_range"), options.get("outcome"))
        else {
            let head = options.head();
            return Err(report_ranges(options.reader, head, FORM));
        };
        let reader = &mut *options.reader;
        let (low, high) = read_ends(reader, range.value)?;
        Ok(ScoreRange { low, high, outcome: read_range_text(reader, outcome.value)? })
    })
}

/// `[low, high]`
fn read_ends(reader: &mut Reader<'_>, node: Node<'_>) -> ReadResult<(u8, u8)> {
    let before = reader.out.len();
    let ends: Vec<Option<u8>> = node.items().map(|end| read_score(reader, end)).collect();
    let [Some(low), Some(high)] = ends[..] else {
        // An unset variable has already been reported.
        if reader.out.len() == before {
            let message = "a range is two scores from 0 to 10: `[low, high]`";
            report_ranges(reader, node.span(), message);
        }
        return Err(Reported);
    };
    if low > high {
        let message = format!("the range starts at {low}, after its end {high}");
        return Err(report_ranges(reader, node.span(), message));
    }
    Ok((low, high))
}

fn read_range_text(reader: &mut Reader<'_>, node: Node<'_>) -> ReadResult<String> {
    let text = reader.text_of("score_ranges", node).ok_or(Reported)?;
    if text.trim().is_empty() {
        let message = "the text of this range is blank";
        return Err(report_ranges(reader, node.span(), message));
    }
    Ok(text.into_owned())
}

/// A score, or a lone `${{ }}` that resolves to one.
fn read_score(reader: &mut Reader<'_>, node: Node<'_>) -> Option<u8> {
    if let Some(score) = node.scalar_text().and_then(score) {
        return Some(score);
    }
    match node.scalar()? {
        Scalar::Str(_) => score(reader.any_number("score_range", node)?.text()),
        _ => None,
    }
}

fn score(text: &str) -> Option<u8> {
    let is_plain = text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|score| is_plain && *score <= 10)
}

#[cfg(test)]
mod tests {
    use super::super::testing::read;
    use crate::model::{JsonStyle, Value};

    fn faults(item: &str) -> Vec<&'static str> {
        read(&format!("- {{type: rubrics, rubrics: [{item}]}}")).names()
    }

    fn shown(item: &str) -> String {
        let (assertions, faults) = read(&format!("- {{type: rubrics, rubrics: [{item}]}}")).parts();
        assert_eq!(faults, [""; 0], "{item}");
        Value::from(assertions[0].check.options()).to_json(JsonStyle::Compact)
    }

    #[test]
    fn a_score_holds_until_the_next_one() {
        let item = "{id: tone, score_ranges: {8: Warm, 0: Cold, 3: Cool}}";
        let ranges = r#""score_ranges":[{"score_range":[0,2],"outcome":"Cold"},{"score_range":[3,7],"outcome":"Cool"},{"score_range":[8,10],"outcome":"Warm"}]"#;
        assert!(shown(item).contains(ranges));
        let item = "{score_ranges: [{score_range: [0, 4], expected_outcome: Cold}, \
                    {score_range: [6, 10], description: Warm}]}";
        let ranges = r#""score_ranges":[{"score_range":[0,4],"outcome":"Cold"},{"score_range":[6,10],"outcome":"Warm"}]"#;
        assert!(shown(item).contains(ranges));
    }

    #[test]
    fn bad_ranges_are_refused() {
        for ranges in [
            "{}",
            "[]",
            "{11: a}",
            "{-1: a}",
            "{x: a}",
            "{1.5: a}",
            "{0: ''}",
            "[5]",
            "[{score_range: [0, 11], outcome: a}]",
            "[{score_range: [5, 1], outcome: a}]",
            "[{score_range: [5], outcome: a}]",
            "[{score_range: 5, outcome: a}]",
            "[{outcome: a}]",
            "[{score_range: [0, 5]}]",
            "[{score_range: [0, 5], outcome: a}, {score_range: [5, 10], outcome: b}]",
        ] {
            let item = format!("{{id: a, score_ranges: {ranges}}}");
            assert_eq!(faults(&item), ["invalid-score-ranges"], "{ranges}");
        }
        assert_eq!(faults("{score_ranges: 5}"), ["wrong-type"]);
    }
}
