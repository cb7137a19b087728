//! `field-accuracy`: fields of a JSON output have the expected values.

use std::borrow::Cow;

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::{
    Check, CommonOptions, Expected, Fault, GradingContext, JsonStyle, Map, Marks, Score,
    SearchTime, Step, TestView, Value,
};
use crate::reader::{Options, PatternBudget, ReadResult};
use crate::source::Span;
use crate::syntax::fields::{Field, Shape, shorten};
use crate::syntax::json_value;

use super::codes::ZERO_WEIGHT;
use super::compared_field::{ComparedField, FIELD_SHAPE};
use super::field_match::ValueMismatch;
use super::finding::FindingList;
use super::kind::{AssertionKind, EntryContext};
use super::output_json::anywhere;
use super::subject::FILE;

/// How much of the patterns in the `expected_output` of a test is compiled while the suite is read.
const COMPILED_FOR_TEST: u64 = 1024 * 1024;

declare_codes! {
    MISSING_EXPECTED = "missing-expected", Blocking, Assertion, r#"A field-accuracy has nothing to compare: no field has an expected value, neither here nor in the
`expected_output` of the test, and none is `required`.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Reads the invoice
    input: What is the total?
    assert:
      - type: field-accuracy
        fields:
          - path: total
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Reads the invoice
    input: What is the total?
    expected_output: {total: 1250.00}
    assert:
      - type: field-accuracy
        fields:
          - path: total
```

## Why
All fields would be skipped, and the check would have no score.
"#;
    INVALID_EXPECTED = "invalid-expected", Blocking, Assertion, r#"An expected value is not of the type that its `match` compares.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Reads the invoice
    input: What is the total?
    assert:
      - type: field-accuracy
        fields:
          - {path: total, match: numeric_tolerance, tolerance: 0.01, expected: "1,250 EUR"}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Reads the invoice
    input: What is the total?
    assert:
      - type: field-accuracy
        fields:
          - {path: total, match: numeric_tolerance, tolerance: 0.01, expected: 1250}
```

## Why
No output could ever match it.
"#;
}

static FIELDS: &[Field] = &[
    Field::new("fields", Shape::NonEmptyList(&FIELD_SHAPE), "the fields to compare").required(),
    Field::new(
        "aggregation",
        Shape::Choice(FieldAggregation::WORDS),
        "how the fields are combined into one score; default `weighted_average`",
    ),
    FILE,
];

pub(super) static KIND: AssertionKind = AssertionKind::new(
    "field-accuracy",
    FIELDS,
    read,
    "Fields of the JSON value in the output have the expected values. Each field is compared by its
`match` with `expected`, or else with the value at the same path in the test's `expected_output`.

```yaml
assert:
  - type: field-accuracy
    fields:
      - {path: vendor, expected: Acme}
      - {path: total, match: numeric_tolerance, tolerance: 0.01, expected: 1250.00, weight: 2}
      - {path: 'lines[0].date', match: date, formats: [DD/MM/YYYY], expected: 2024-03-05}
```
",
);

crate::words! {
    #[derive(Default)]
    enum FieldAggregation {
        #[default]
        WeightedAverage = "weighted_average",
        Minimum = "minimum",
        AllOrNothing = "all_or_nothing",
    }
}

impl FieldAggregation {
    /// `None` if all weights are 0.
    fn score(self, fields: &[(bool, f64)]) -> Option<Score> {
        match self {
            Self::WeightedAverage => {
                let scores = fields.iter();
                Score::weighted_average(
                    scores.map(|(holds, weight)| (Score::when(*holds), *weight)),
                )
            }
            // A field scores 1 or 0, so these two are the same.
            Self::Minimum | Self::AllOrNothing => {
                Some(Score::when(fields.iter().all(|(holds, _)| *holds)))
            }
        }
    }
}

fn read(options: &mut Options<'_, '_, '_>, _: &mut EntryContext<'_>) -> ReadResult<Box<dyn Check>> {
    let aggregation = options.choice("aggregation");
    let entry = options.require("fields")?;
    let fields = options.list("fields", "a list of mappings", ComparedField::read)?;
    let fields = fields.unwrap_or_default();
    if fields.is_empty() {
        let help = "add a mapping with `path` for each field to compare";
        return Err(options.missing(entry.value.span(), "`fields` is empty", help));
    }
    let aggregation = aggregation?.unwrap_or_default();
    // Only an average needs weights.
    let has_no_weight = fields.iter().all(|field| field.weight.is_zero());
    if has_no_weight && aggregation == FieldAggregation::WeightedAverage {
        let message = "every field has weight 0";
        return Err(options.report(
            Diagnostic::new(&ZERO_WEIGHT, entry.key.span(), message)
                .help("give at least one field a weight"),
        ));
    }
    Ok(Box::new(FieldAccuracy { fields, aggregation }))
}

/// The value with which fields are compared that have no `expected`.
fn reference(expected: &Expected) -> Option<Cow<'_, Value>> {
    match expected {
        Expected::Structured(value) => Some(Cow::Borrowed(value)),
        other => json_value(other.text()?.trim()).map(Cow::Owned),
    }
}

#[derive(Debug)]
struct FieldAccuracy {
    /// Never empty.
    fields: Vec<ComparedField>,
    aggregation: FieldAggregation,
}

impl Check for FieldAccuracy {
    fn options(&self) -> Map {
        let fields: Vec<Value> = self.fields.iter().map(ComparedField::to_value).collect();
        Map::new().with("fields", fields).with("aggregation", self.aggregation.word())
    }

    fn sentences(&self, common: &CommonOptions) -> Vec<String> {
        let paths: Vec<&str> = self.fields.iter().map(|field| field.path.text()).collect();
        let file = common.file.as_ref().map(|path| format!(" of file '{path}'"));
        let (paths, file) = (paths.join(", "), file.unwrap_or_default());
        vec![format!("Fields {paths}{file} match expected values")]
    }

    fn grade(&self, context: &GradingContext<'_>) -> Step {
        let Some(output) = anywhere(context.text()) else {
            let misses = vec![format!("{} has no JSON value", context.subject())];
            return Marks::new(Score::ZERO, Vec::new(), misses).into();
        };
        let expected = context.evidence.test.expected_output.as_ref();
        self.compare(&output, expected, context.options.search_time)
            .map_or_else(Step::from, Step::from)
    }

    fn diagnostics_in(&self, test: &TestView<'_>, span: Span) -> Vec<Diagnostic> {
        let mut open = self.fields.iter().filter(|field| field.expected.is_none()).peekable();
        if open.peek().is_none() {
            return Vec::new();
        }
        let reference = test.expected_output.and_then(reference);
        let (mut faults, mut patterns) = (Vec::new(), PatternBudget::default());
        let mut to_compile = COMPILED_FOR_TEST;
        let mut compared =
            self.fields.iter().any(|field| field.expected.is_some() || field.is_required);
        for field in open {
            let value = reference.as_deref().and_then(|value| field.path.look_up(value));
            let Some(value) = value else { continue };
            compared = true;
            let expected = field.matching.parse_expected(value, &mut to_compile);
            if let Err(mismatch) = expected.and_then(|expected| expected.within(&mut patterns)) {
                faults.push(mismatch_in(field, value, &mismatch, test.span));
            }
        }
        if !compared {
            faults.push(nothing_to_compare(test, span));
        }
        faults
    }
}

impl FieldAccuracy {
    fn compare(
        &self,
        output: &Value,
        expected: Option<&Expected>,
        time: &SearchTime,
    ) -> Result<Marks, Fault> {
        let is_open = self.fields.iter().any(|field| field.expected.is_none());
        let reference = expected.filter(|_| is_open).and_then(reference);
        let (mut findings, mut scores) = (FindingList::default(), Vec::new());
        for field in &self.fields {
            let Some(finding) = field.check(output, reference.as_deref(), time)? else {
                continue;
            };
            scores.push((finding.holds, field.weight.value()));
            findings.add(finding);
        }
        let score = self.aggregation.score(&scores);
        let score = score.ok_or_else(|| Fault::not_measured("fields with a weight"))?;
        Ok(findings.marks(score))
    }
}

fn mismatch_in(
    field: &ComparedField,
    value: &Value,
    mismatch: &ValueMismatch,
    test: Span,
) -> Diagnostic {
    let message = format!(
        "{} at `{}` of `expected_output` does not fit `match: {}`: {}",
        shorten(&value.to_json(JsonStyle::Compact)),
        field.path.text(),
        field.matching.word(),
        mismatch.reason()
    );
    Diagnostic::new(&INVALID_EXPECTED, field.span, message)
        .related(test, "the test that it is applied to")
        .help(mismatch.help())
}

fn nothing_to_compare(test: &TestView<'_>, span: Span) -> Diagnostic {
    let message = match test.expected_output {
        None => "no field has an expected value, and the test has no `expected_output`",
        Some(_) => "no field has an expected value, neither here nor in `expected_output`",
    };
    Diagnostic::new(&MISSING_EXPECTED, span, message)
        .related(test.span, "the test that it is applied to")
        .help("give a field `expected`, or the test an `expected_output` with these fields")
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Trial, read};
    use super::*;
    use crate::model::{FaultKind, Transcript};

    const INVOICE: &str = "{path: total, match: numeric_tolerance, tolerance: 0.01, weight: 2}, \
                           {path: vendor}";

    fn trial(options: &str, expected: Option<Expected>, output: &str) -> Trial {
        let yaml = format!("- {{type: field-accuracy, {options}}}");
        let trial = Trial::new(&yaml, Transcript::of_text(output));
        match expected {
            Some(expected) => trial.expecting(expected),
            None => trial,
        }
    }

    fn marks(fields: &str, expected: Option<Expected>, output: &str) -> Marks {
        trial(&format!("fields: [{fields}]"), expected, output).marks()
    }

    #[test]
    fn the_invoice_of_the_format() {
        let output = r#"{"total": 1250.005, "vendor": "ACME"}"#;
        for (aggregation, score) in
            [("weighted_average", 2.0 / 3.0), ("minimum", 0.0), ("all_or_nothing", 0.0)]
        {
            let options = format!("aggregation: {aggregation}, fields: [{INVOICE}]");
            let expected = json(r#"{"total": 1250.00, "vendor": "Acme"}"#);
            let found = trial(&options, expected, output).marks();
            assert_eq!(found.score.value(), score, "{aggregation}");
            assert_eq!(found.hits, ["total: 1250.005"]);
            assert_eq!(found.misses, ["vendor: expected Acme, got ACME"]);
        }
    }

    /// The same limits as for `regex`: only parsing is done before the limit is known.
    #[test]
    fn patterns_of_one_test_are_limited_together() {
        let field =
            |at| format!("{{path: f{at}, match: regex, expected: '[\\p{{L}}\\p{{N}}]{{100}}'}}");
        let fields: Vec<String> = (0..60).map(field).collect();
        let found = read(&format!("- {{type: field-accuracy, fields: [{}]}}", fields.join(", ")));
        let too_large = "`expected` does not fit `match: regex`: the patterns of this test take more \
                         than 256 MiB of memory together";
        assert_eq!(found.messages().last().copied(), Some(too_large));
        assert!(found.messages().len() < 60, "the first ones fit");
    }

    #[test]
    fn the_date_of_the_format() {
        let output = r#"{"d": "05/03/2024"}"#;
        for (formats, score) in [(", formats: [DD/MM/YYYY]", 1.0), ("", 0.0)] {
            let field = format!("{{path: d, match: date, expected: 2024-03-05{formats}}}");
            assert_eq!(marks(&field, None, output).score.value(), score, "{formats}");
        }
    }

    #[test]
    fn the_table_of_presence() {
        let here = r#"{"a": 1, "n": null}"#;
        for (fields, score, hits, misses) in [
            ("{path: a, expected: 1}", 1.0, &["a: 1"][..], &[][..]),
            ("{path: a, expected: 2}", 0.0, &[], &["a: expected 2, got 1"]),
            ("{path: b, expected: 1}", 0.0, &[], &["b: missing"]),
            ("{path: a, required: true}", 1.0, &["a: 1"], &[]),
            ("{path: b, required: true}", 0.0, &[], &["b: missing"]),
            // A null value is there.
            ("{path: n, required: true}", 1.0, &["n: null"], &[]),
            ("{path: n, expected: null}", 1.0, &["n: null"], &[]),
            // Left out.
            ("{path: a, expected: 1}, {path: b}", 1.0, &["a: 1"], &[]),
            ("{path: a, expected: '1'}", 0.0, &[], &["a: expected \"1\", got 1"]),
        ] {
            let found = marks(fields, None, here);
            assert_eq!(found.score.value(), score, "{fields}");
            assert_eq!((found.hits, found.misses), (own(hits), own(misses)));
        }
    }

    fn own(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn the_value_is_found_anywhere_in_the_output() {
        for (output, score) in [
            ("{\"a\": 1}", 1.0),
            ("So:\n```json\n{\"a\": 1}\n```\nDone.", 1.0),
            ("The result is {\"a\": 1}, as expected.", 1.0),
            ("{\"a\": 2, \"a\": 1}", 1.0),
        ] {
            let found = marks("{path: a, expected: 1}", None, output);
            assert_eq!(found.score.value(), score, "{output}");
        }
        for output in ["", "none", &"[".repeat(1_000_000), "{\"a\": "] {
            let found = marks("{path: a, expected: 1}", None, output);
            assert_eq!(found.score.value(), 0.0);
            assert_eq!(found.misses, ["Output has no JSON value"]);
        }
    }

    #[test]
    fn the_expected_output_may_be_text_or_data() {
        let text = Expected::Text(" {\"a\": {\"b\": [1, 2]}}\n".to_owned());
        for expected in [Some(text), json(r#"{"a": {"b": [1, 2]}}"#)] {
            let found = marks("{path: 'a.b[1]'}", expected, r#"{"a":{"b":[0,2.0]}}"#);
            assert_eq!(found.hits, ["a.b[1]: 2.0"]);
        }
    }

    #[test]
    fn what_cannot_be_measured_is_no_bad_score() {
        let output = format!(r#"{{"a": "{}b"}}"#, "a".repeat(60));
        let pattern = r"fields: [{path: a, match: regex, expected: '^(a|aa)+\1$'}]";
        assert_eq!(trial(pattern, None, &output).fault().kind, FaultKind::Limit);
        let weightless = "fields: [{path: a, expected: 1, weight: 0}, {path: b}]";
        let fault = trial(weightless, None, &output).fault();
        assert_eq!(fault.message, "not measured: fields with a weight");
    }

    #[test]
    fn long_values_are_cut_where_they_are_quoted() {
        let output = format!(r#"{{"a": "{}"}}"#, "x".repeat(300));
        let found = marks("{path: a, expected: y}", None, &output);
        let cut = "x".repeat(200);
        assert_eq!(found.misses, [format!("a: expected y, got {cut}…")]);
    }

    fn names(field: &str) -> Vec<&'static str> {
        read(&format!("- {{type: field-accuracy, fields: [{{{field}}}]}}")).names()
    }

    fn faults(fields: &str, expected: Option<Expected>) -> Vec<&'static str> {
        let found = read(&format!("- {{type: field-accuracy, fields: [{fields}]}}"));
        assert_eq!(found.names(), [""; 0], "{fields}");
        let faults = found.faults(expected.as_ref());
        faults.into_iter().map(|fault| fault.code.name).collect()
    }

    fn json(text: &str) -> Option<Expected> {
        json_value(text).map(Expected::Structured)
    }

    #[test]
    fn the_canonical_form_has_every_default() {
        let found = read(
            "- type: field_accuracy\n  aggregation: minimum\n  fields:\n  - {path: a.b, expected: null}\n  \
             - {path: t, match: numeric_tolerance, expected: 1250.00, weight: 2}\n  \
             - {path: d, match: date, formats: [DD/MM/YYYY], required: true}\n",
        );
        assert_eq!(
            found.options(),
            concat!(
                r#"{"fields":[{"path":"a.b","match":"exact","expected":null,"required":false,"weight":1},"#,
                r#"{"path":"t","match":"numeric_tolerance","tolerance":0,"relative":false,"expected":1250.00,"required":false,"weight":2},"#,
                r#"{"path":"d","match":"date","formats":["DD/MM/YYYY"],"required":true,"weight":1}],"aggregation":"minimum"}"#
            )
        );
        assert_eq!(found.sentences(), ["Fields a.b, t, d match expected values"]);
    }

    #[test]
    fn a_wrong_path_is_marked_at_its_fault() {
        let found = read("- {type: field-accuracy, fields: [{path: 'a[x].b', expected: 1}]}");
        assert_eq!(found.names(), ["invalid-option"]);
        assert_eq!(found.marked(), ["["]);
    }

    #[test]
    fn a_pattern_is_marked_at_its_fault() {
        let found =
            read("- {type: field-accuracy, fields: [{path: a, match: regex, pattern: 'x(y'}]}");
        assert_eq!(found.names(), ["invalid-expected"]);
        assert_eq!(found.marked(), ["("]);
    }

    #[test]
    fn faults_have_their_names() {
        for (field, name) in [
            ("expected: 1", "missing-option"),
            ("path: '', expected: 1", "invalid-option"),
            ("path: a, match: fuzzy, expected: 1", "invalid-option"),
            ("path: a, match: date, expected: soon", "invalid-expected"),
            ("path: a, match: date, expected: 2025-02-29", "invalid-expected"),
            ("path: a, match: numeric_tolerance, expected: 12 EUR", "invalid-expected"),
            ("path: a, match: regex, expected: 12", "invalid-expected"),
            ("path: a, match: date, formats: [dd/mm/yyyy]", "invalid-option"),
            ("path: a, match: date, formats: DD/MM/YYYY", "wrong-type"),
            ("path: a, match: numeric_tolerance, tolerance: -1", "out-of-range"),
            ("path: a, weight: -1", "invalid-weight"),
            ("path: a, weight: 0", "zero-weight"),
            ("path: a, required: yes", "wrong-type"),
            ("path: a, expects: 1", "unknown-field"),
            ("path: a, expected: 1, pattern: b", "conflicting-fields"),
        ] {
            assert_eq!(names(field), [name], "{field}");
        }
        for (options, name) in [
            ("fields: []", "missing-option"),
            ("fields: {path: a}", "wrong-type"),
            ("fields: [a.b]", "wrong-type"),
            ("aggregation: mean, fields: [{path: a}]", "invalid-option"),
            ("aggregation: minimum", "missing-option"),
        ] {
            let found = read(&format!("- {{type: field-accuracy, {options}}}"));
            assert_eq!(found.names(), [name], "{options}");
        }
    }

    #[test]
    fn weights_do_not_matter_to_a_minimum() {
        let found =
            read("- {type: field-accuracy, aggregation: minimum, fields: [{path: a, weight: 0}]}");
        assert_eq!(found.names(), [""; 0]);
    }

    #[test]
    fn something_must_be_left_to_compare() {
        let missing = ["missing-expected"];
        assert_eq!(faults("{path: a}", None), missing);
        assert_eq!(faults("{path: a}", json(r#"{"b": 1}"#)), missing);
        let text = |text: &str| Some(Expected::Text(text.to_owned()));
        assert_eq!(faults("{path: a}", text("not JSON")), missing);
        assert_eq!(faults("{path: a}", text(" {\"a\": 1}\n")), [""; 0]);
        assert_eq!(faults("{path: a}", json(r#"{"a": null}"#)), [""; 0]);
        assert_eq!(faults("{path: a}, {path: b}", json(r#"{"b": 1}"#)), [""; 0]);
        assert_eq!(faults("{path: a, required: true}", None), [""; 0]);
        assert_eq!(faults("{path: a, expected: null}", None), [""; 0]);
    }

    #[test]
    fn values_of_the_test_must_fit_too() {
        let field = "{path: a, match: date}";
        assert_eq!(faults(field, json(r#"{"a": "15-JAN-2025"}"#)), [""; 0]);
        assert_eq!(faults(field, json(r#"{"a": "soon"}"#)), ["invalid-expected"]);
        assert_eq!(faults(field, json(r#"{"a": null}"#)), ["invalid-expected"]);
        // A value of the field's own hides the one of the test.
        let own = "{path: a, match: date, expected: 2025-01-15}";
        assert_eq!(faults(own, json(r#"{"a": "soon"}"#)), [""; 0]);
    }
}
