//! `verdicts`: the score thresholds of a suite.

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::{Number, Verdicts};
use crate::reader::{Reader, wrong_type};
use crate::syntax::fields::{Bound, Entry, Field, Shape};

declare_codes! {
    INVALID_THRESHOLDS = "invalid-thresholds", Blocking, Shape, r#"The thresholds of `verdicts` are not 0 < borderline ≤ pass ≤ 1.

## Example
```yaml
name: demo
verdicts: {pass: 0.5, borderline: 0.7}
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Instead
```yaml
name: demo
verdicts: {pass: 0.9, borderline: 0.7}
tests:
  - {id: a, criteria: Greets, input: Hi}
```

## Why
A score cannot be a pass before it is borderline.
"#;
}

pub(super) static VERDICT_FIELDS: &[Field] = &[
    Field::new("pass", Shape::PositiveFraction, "lowest score that passes; default 0.8"),
    Field::new(
        "borderline",
        Shape::PositiveFraction,
        "lowest score that is borderline; default 0.6",
    ),
    Field::new("fail", Shape::Number { min: 0.0, max: 0.0 }, "accepted only as 0"),
];

pub(super) fn read_verdicts(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Verdicts {
    if !entry.value.is_mapping() {
        reader.report(wrong_type("verdicts", entry.value, "a mapping"));
        return Verdicts::default();
    }
    let bound = Bound::new(entry.value, &[VERDICT_FIELDS], reader.out);
    bound.report_unknown(&[VERDICT_FIELDS], reader.out);
    let mut number = |name: &str, default: Number| match bound.get(name) {
        Some(entry) => reader.number(&entry, f64::MIN, f64::MAX),
        None => Some(default),
    };
    let pass = number("pass", Verdicts::default_pass());
    let borderline = number("borderline", Verdicts::default_borderline());
    let fail = number("fail", 0.into());
    let (Some(pass), Some(borderline), Some(fail)) = (pass, borderline, fail) else {
        return Verdicts::default();
    };
    if fail.value() != 0.0
        && let Some(entry) = bound.get("fail")
    {
        let message = "`fail` is accepted only as 0";
        let span = crate::reader::short_span(entry.value);
        let help = "remove it: every score below `borderline` fails";
        reader.report(Diagnostic::new(&INVALID_THRESHOLDS, span, message).help(help));
    }
    let shown = format!("pass {pass}, borderline {borderline}");
    Verdicts::new(pass, borderline).unwrap_or_else(|| {
        let message = format!("the thresholds contradict each other: {shown}");
        let help = "they must be 0 < borderline <= pass <= 1; the defaults are 0.6 and 0.8";
        let span = crate::reader::short_span(entry.value);
        reader.report(Diagnostic::new(&INVALID_THRESHOLDS, span, message).help(help));
        Verdicts::default()
    })
}
