//! How a composite combines the scores of its members (spec 8.3).

use crate::diagnostic::{Diagnostic, declare_codes, did_you_mean};
use crate::model::{AssertionGrade, Grade, Map, NamedAssertion, Number, Value, Weight};
use crate::reader::{Options, ReadResult, Reported, all_read, list_words};
use crate::source::Span;
use crate::syntax::Node;
use crate::syntax::fields::{Bound, Entry, Field, Shape, shorten, unknown_field};

use super::read::{AMOUNT, read_fraction, read_weight};

declare_codes! {
    UNSUPPORTED_AGGREGATOR = "unsupported-aggregator", Blocking, Assertion, r#"The aggregator of a composite is not supported.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - type: composite
        aggregator: {type: code-grader, script: [node, combine.js]}
        assert:
          - {type: contains, value: Hello}
          - {type: contains, value: Alice}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - type: composite
        aggregator: minimum
        assert:
          - {type: contains, value: Hello}
          - {type: contains, value: Alice}
```

## Why
Falling back to an average would give a different score.
"#;
    UNKNOWN_MEMBER = "unknown-member", Blocking, Assertion, r#"`weights` or `required` of an aggregator names a check that is not a member of the composite.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - type: composite
        aggregator: {type: safety_gate, required: [safty]}
        assert:
          - {type: contains, name: safety, value: Hello}
          - {type: contains, name: quality, value: Alice}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - type: composite
        aggregator: {type: safety_gate, required: [safety]}
        assert:
          - {type: contains, name: safety, value: Hello}
          - {type: contains, name: quality, value: Alice}
```

## Why
A gate without a member would let everything through. A member without a `name` is named after its
type; repeats get `-2`, `-3` and so on.
"#;
    UNLISTED_MEMBER_WEIGHT = "unlisted-member-weight", Warning, Assertion, r#"The `weights` of an aggregator omit a member. It keeps its own weight, which is 1 by default.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - type: composite
        aggregator: {type: weighted_average, weights: {greeting: 0.3}}
        assert:
          - {type: contains, name: greeting, value: Hello}
          - {type: contains, name: user-name, value: Alice}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - type: composite
        aggregator: {type: weighted_average, weights: {greeting: 0.3, user-name: 0.7}}
        assert:
          - {type: contains, name: greeting, value: Hello}
          - {type: contains, name: user-name, value: Alice}
```

## Why
Among fractions that are meant to add up to 1, a weight of 1 outweighs all others.
"#;
}

crate::words! {
    /// How the scores of the members are combined.
    pub(super) enum AggregatorKind {
        WeightedAverage = "weighted_average",
        Minimum = "minimum",
        Maximum = "maximum",
        SafetyGate = "safety_gate",
        AllOrNothing = "all_or_nothing",
        Threshold = "threshold",
    }
}

impl AggregatorKind {
    /// Whether it takes an option besides `type`.
    fn takes(self, option: &str) -> bool {
        let options: &[&str] = match self {
            Self::WeightedAverage => &["weights"],
            Self::Minimum | Self::Maximum => &[],
            Self::SafetyGate => &["required", "threshold", "weights"],
            Self::AllOrNothing => &["threshold", "weights"],
            Self::Threshold => &["threshold"],
        };
        options.contains(&option)
    }

    /// The option that it cannot do without.
    fn needs(self) -> Option<&'static str> {
        match self {
            Self::SafetyGate => Some("required"),
            Self::Threshold => Some("threshold"),
            _ => None,
        }
    }

    /// The default of `threshold` (spec 8.3).
    fn default_threshold(self) -> Option<Number> {
        match self {
            Self::SafetyGate => Number::parse("0.6"),
            Self::AllOrNothing => Number::parse("0.7"),
            _ => None,
        }
    }
}

static FIELDS: &[Field] = &[
    Field::new("type", Shape::Choice(AggregatorKind::WORDS), "how scores are combined").required(),
    Field::new(
        "weights",
        Shape::MapOf(&AMOUNT),
        "weights by member name, which replace those of the members",
    ),
    Field::new(
        "required",
        Shape::NonEmptyList(&Shape::Text),
        "`safety_gate`: the members that must reach the threshold",
    ),
    Field::new(
        "threshold",
        Shape::PositiveFraction,
        "the score that members must reach; for `threshold`, the share of members that must pass",
    ),
];

/// A name, or a mapping with the options of that aggregator.
pub(super) const SHAPE: Shape =
    Shape::OneOf(&[Shape::Choice(AggregatorKind::WORDS), Shape::Fields(FIELDS)]);

/// An aggregator with its options.
#[derive(Debug)]
pub(super) struct Aggregation {
    pub(super) kind: AggregatorKind,
    /// Only of the kinds that take one.
    pub(super) threshold: Option<Number>,
    /// The members that must reach the threshold of a safety gate, as indexes in written order.
    /// Empty for every other kind.
    pub(super) required: Vec<usize>,
    /// Where a safety gate is written, which can fail the test.
    pub(super) gate_at: Option<Span>,
    /// One per member, or none at all; `None` where the member keeps its own.
    weights: Vec<Option<Weight>>,
    /// Where the weights are written.
    pub(super) weights_at: Option<Span>,
}

impl Aggregation {
    /// Without options.
    fn bare(kind: AggregatorKind) -> Self {
        Self {
            kind,
            threshold: kind.default_threshold(),
            required: Vec::new(),
            gate_at: None,
            weights: Vec::new(),
            weights_at: None,
        }
    }

    /// The sentence for the first required member of a safety gate that is too low.
    pub(super) fn gate_miss<'g>(
        &self,
        required: impl IntoIterator<Item = &'g AssertionGrade>,
    ) -> Option<String> {
        let least = self.threshold.as_ref()?;
        required.into_iter().find_map(|member| match &member.grade {
            Grade::Graded(marks) if !marks.score.reaches(least.value()) => {
                let (name, score) = (&member.name, marks.score.rounded());
                let text = format!("Safety gate: '{name}' scored {score}, below {least}");
                Some(text)
            }
            _ => None,
        })
    }

    /// Whether the score needs a weight other than 0.
    pub(super) fn is_average(&self) -> bool {
        self.kind.takes("weights")
    }

    /// The weight that the aggregator gives a member, else the member's own.
    pub(super) fn weight<'m>(&'m self, members: &'m [NamedAssertion], at: usize) -> &'m Weight {
        let listed = self.weights.get(at).and_then(Option::as_ref);
        listed.unwrap_or(&members[at].assertion.common.weight)
    }

    /// The shape of `show --format json`.
    pub(super) fn to_value(&self, members: &[NamedAssertion]) -> Value {
        let mut map = Map::new().with("type", self.kind.word());
        if !self.required.is_empty() {
            let names = self.required.iter().map(|at| members[*at].name.as_ref());
            map.insert("required", names.collect::<Vec<&str>>());
        }
        map.insert_some("threshold", self.threshold.clone());
        let listed: Map = members
            .iter()
            .zip(&self.weights)
            .filter_map(|(member, weight)| {
                let weight = weight.as_ref()?.number().clone();
                Some((member.name.to_string(), weight.into()))
            })
            .collect();
        if !listed.is_empty() {
            map.insert("weights", listed);
        }
        map.into()
    }
}

pub(super) fn read_aggregation(
    options: &mut Options<'_, '_, '_>,
    members: &[NamedAssertion],
) -> ReadResult<Aggregation> {
    let Some(entry) = options.get("aggregator") else {
        return Ok(Aggregation::bare(AggregatorKind::WeightedAverage));
    };
    let node = entry.value;
    if !node.is_mapping() {
        let kind = read_kind(options, "aggregator", node)?;
        return match kind.needs() {
            Some(option) => Err(missing(options, node, kind, option)),
            None => Ok(Aggregation::bare(kind)),
        };
    }
    let bound = Bound::new(node, &[FIELDS], options.reader.out());
    let options = &mut Options { reader: options.reader, fields: &bound, owner: "aggregator" };
    let Some(entry) = options.get("type") else {
        let help = format!("it is {}", list_words(AggregatorKind::WORDS));
        return Err(options.missing(options.head(), "this aggregator has no `type`", help));
    };
    let kind = read_kind(options, "type", entry.value)?;
    bound.report_unknown(&[FIELDS], options.reader.out());
    report_unused(options, kind);
    let taken = |name: &str| bound.get(name).filter(|_| kind.takes(name));
    let threshold = taken("threshold").map(|entry| read_fraction(options, &entry));
    let needed = match kind.needs() {
        Some(option) if taken(option).is_none() => Err(missing(options, entry.value, kind, option)),
        _ => Ok(()),
    };
    let required = taken("required").map(|entry| read_required_members(options, &entry, members));
    let weights = taken("weights").map(|entry| read_weights(options, &entry, members));
    needed?;
    let bare = Aggregation::bare(kind);
    Ok(Aggregation {
        threshold: threshold.transpose()?.or(bare.threshold),
        required: required.transpose()?.unwrap_or_default(),
        gate_at: (kind == AggregatorKind::SafetyGate).then(|| entry.value.span()),
        weights: weights.transpose()?.unwrap_or_default(),
        weights_at: taken("weights").map(|entry| entry.key.span()),
        kind,
    })
}

fn report_unused(options: &mut Options<'_, '_, '_>, kind: AggregatorKind) {
    for field in FIELDS.iter().filter(|field| field.name != "type") {
        if let Some(entry) = options.get(field.name).filter(|_| !kind.takes(field.name)) {
            let fault = unknown_field(entry.key, &[FIELDS]);
            options.report(fault.help(format!("`{}` does not take it; remove it", kind.word())));
        }
    }
}

fn read_kind(
    options: &mut Options<'_, '_, '_>,
    name: &str,
    node: Node<'_>,
) -> ReadResult<AggregatorKind> {
    if node.scalar().is_none() {
        return Err(options.wrong_type(name, node, "a string or a mapping"));
    }
    let text = options.reader.text_of(name, node).ok_or(Reported)?;
    if let Some(kind) = AggregatorKind::parse(&text) {
        return Ok(kind);
    }
    let words = AggregatorKind::WORDS;
    let help = match did_you_mean(&text, words.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("it is {}", list_words(words)),
    };
    let message = format!("unknown aggregator `{}`", shorten(&text));
    Err(options.report(Diagnostic::new(&UNSUPPORTED_AGGREGATOR, node.span(), message).help(help)))
}

fn missing(
    options: &mut Options<'_, '_, '_>,
    place: Node<'_>,
    kind: AggregatorKind,
    option: &str,
) -> Reported {
    let word = kind.word();
    let message = format!("the aggregator `{word}` needs `{option}`");
    let help = format!("write `aggregator: {{type: {word}, {option}: …}}`");
    options.missing(place.span(), message, help)
}

fn read_required_members(
    options: &mut Options<'_, '_, '_>,
    entry: &Entry<'_>,
    members: &[NamedAssertion],
) -> ReadResult<Vec<usize>> {
    let names = options.reader.text_list(entry).ok_or(Reported)?;
    if names.is_empty() {
        let help = "name the members that must reach the threshold";
        return Err(options.missing(entry.value.span(), "`required` is empty", help));
    }
    let places = names.into_iter().map(|name| {
        find_member(&name.value, members)
            .ok_or_else(|| options.report(unknown_member(&name.value, name.span, members)))
    });
    let mut required = Vec::new();
    for at in all_read(places)? {
        if !required.contains(&at) {
            required.push(at);
        }
    }
    Ok(required)
}

fn find_member(name: &str, members: &[NamedAssertion]) -> Option<usize> {
    members.iter().position(|member| member.name == name)
}

fn read_weights(
    options: &mut Options<'_, '_, '_>,
    entry: &Entry<'_>,
    members: &[NamedAssertion],
) -> ReadResult<Vec<Option<Weight>>> {
    if !entry.value.is_mapping() {
        let expected = "a mapping from member names to numbers";
        return Err(options.wrong_type("weights", entry.value, expected));
    }
    let listed = entry.value.entries().into_iter().map(|(key, value)| {
        let name = key.scalar_text().unwrap_or("");
        let field = entry.field;
        let weight = read_weight(options, &Entry { field, key, value });
        let at = find_member(name, members)
            .ok_or_else(|| options.report(unknown_member(name, key.span(), members)));
        Ok((at?, weight?))
    });
    let mut weights = vec![None; members.len()];
    for (at, weight) in all_read(listed)? {
        weights[at] = Some(weight);
    }
    let unlisted = members.iter().zip(&weights).filter(|(_, w)| w.is_none());
    for (member, _) in unlisted {
        let message = format!(
            "`{}` is not in `weights` and keeps its weight {}",
            shorten(&member.name),
            member.assertion.common.weight.number()
        );
        options.report(
            Diagnostic::new(&UNLISTED_MEMBER_WEIGHT, entry.key.span(), message)
                .related(member.assertion.common.head, "this member")
                .help("add it to `weights`"),
        );
    }
    Ok(weights)
}

fn unknown_member(name: &str, span: Span, members: &[NamedAssertion]) -> Diagnostic {
    /// Longer lists are not helpful.
    const SHOWN: usize = 10;
    let names: Vec<&str> = members.iter().map(|member| member.name.as_ref()).collect();
    let help = match did_you_mean(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.len() > SHOWN => "write the name of a member".to_owned(),
        None => format!("the members are {}", list_words(&names)),
    };
    let message = format!("no member is named `{}`", shorten(name));
    Diagnostic::new(&UNKNOWN_MEMBER, span, message).help(help)
}

#[cfg(test)]
mod tests {
    use super::super::testing::read;
    use crate::model::JsonStyle;

    const MEMBERS: &str = "{type: script, name: safety, script: a}, {type: script, script: b}";

    fn with(options: &str) -> String {
        format!("- {{type: composite, {options}, assert: [{MEMBERS}]}}")
    }

    fn aggregator_of(options: &str) -> String {
        let (assertions, faults) = read(&with(options)).parts();
        assert_eq!(faults, [""; 0], "{options}");
        let map = assertions[0].check.options();
        let aggregator = map.get("aggregator").expect("always shown");
        aggregator.to_json(JsonStyle::Compact)
    }

    #[test]
    fn aggregators_in_canonical_form() {
        for (written, shown) in [
            ("x-a: 1", r#"{"type":"weighted_average"}"#),
            ("aggregator: minimum", r#"{"type":"minimum"}"#),
            (
                "aggregator: {type: weighted_average, weights: {safety: 0.30, code-judge: 1}}",
                r#"{"type":"weighted_average","weights":{"safety":0.30,"code-judge":1}}"#,
            ),
            (
                "aggregator: {type: safety_gate, required: [safety, safety]}",
                r#"{"type":"safety_gate","required":["safety"],"threshold":0.6}"#,
            ),
            ("aggregator: all_or_nothing", r#"{"type":"all_or_nothing","threshold":0.7}"#),
            (
                "aggregator: {type: threshold, threshold: 0.5}",
                r#"{"type":"threshold","threshold":0.5}"#,
            ),
        ] {
            assert_eq!(aggregator_of(written), shown);
        }
    }

    #[test]
    fn faults_of_aggregators() {
        for (written, faults) in [
            ("aggregator: {type: code_judge, path: x}", &["unsupported-aggregator"][..]),
            ("aggregator: weighted-average", &["unsupported-aggregator"]),
            ("aggregator: {weights: {safety: 1}}", &["missing-option"]),
            ("aggregator: safety_gate", &["missing-option"]),
            ("aggregator: {type: safety_gate, required: []}", &["missing-option"]),
            ("aggregator: {type: safety_gate, required: [safty]}", &["unknown-member"]),
            ("aggregator: threshold", &["missing-option"]),
            ("aggregator: {type: threshold, threshold: 2}", &["out-of-range"]),
            ("aggregator: {type: minimum, threshold: 0.5}", &["unknown-field"]),
            ("aggregator: [minimum]", &["wrong-type"]),
            (
                "aggregator: {type: weighted_average, weights: {safety: 1}}",
                &["unlisted-member-weight"],
            ),
            (
                "aggregator: {type: weighted_average, weights: {safety: -1, code-judge: 1}}",
                &["invalid-weight"],
            ),
            (
                "aggregator: {type: weighted_average, weights: {safety: 1, other: 1}}",
                &["unknown-member"],
            ),
            (
                "aggregator: {type: all_or_nothing, weights: {safety: 0, code-judge: 0}}",
                &["zero-weight"],
            ),
            ("threshold: 0.5", &["unknown-field"]),
        ] {
            assert_eq!(read(&with(written)).names(), faults, "{written}");
        }
    }
}
