//! How a composite joins its members' scores (spec 8.3).

use crate::diagnostic::{Diagnostic, declare_codes, did_you_mean};
use crate::model::{AssertionGrade, Grade, Map, NamedAssertion, Number, Value, Weight};
use crate::reader::{list_words, wrong_type};
use crate::source::Span;
use crate::syntax::Node;
use crate::syntax::fields::{Bound, Entry, Field, MISSING_OPTION, Shape, shorten, unknown_field};

use super::options::Options;
use super::read::{read_fraction, read_weight};

declare_codes! {
    UNSUPPORTED_AGGREGATOR = "unsupported-aggregator", Blocking, Assertion, r#"The aggregator of a composite is none that evalrig has.

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
An average in its place would be another score than the one that was asked for.
"#;
    UNKNOWN_MEMBER = "unknown-member", Blocking, Assertion, r#"`weights` or `required` of an aggregator names a check that is no member of the composite.

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
A gate that guards nothing would let everything through. A member without a name is called by its
type; repeats get `-2`, `-3` and so on.
"#;
    UNLISTED_MEMBER_WEIGHT = "unlisted-member-weight", Warning, Assertion, r#"The `weights` of an aggregator leave a member out. It keeps its own weight, which is 1 if none is written.

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
Beside fractions that were meant to add up to 1, a weight of 1 outweighs everything.
"#;
}

const NAMES: &[&str] = &[
    "weighted_average",
    "minimum",
    "maximum",
    "safety_gate",
    "all_or_nothing",
    "threshold",
];

static FIELDS: &[Field] = &[
    Field::new("type", Shape::Choice(NAMES), "how scores are joined").required(),
    Field::new(
        "weights",
        Shape::MapOf(&Shape::Number {
            min: 0.0,
            max: f64::MAX,
        }),
        "weights by member name, in place of the members' own",
    ),
    Field::new(
        "required",
        Shape::NonEmptyList(&Shape::Text),
        "`safety_gate`: the members that must reach the threshold",
    ),
    Field::new(
        "threshold",
        Shape::PositiveFraction,
        "what members, or for `threshold` the share of them, must reach",
    ),
];

/// A name, or a mapping with the options of that aggregator.
pub(super) const SHAPE: Shape = Shape::OneOf(&[Shape::Choice(NAMES), Shape::Fields(FIELDS)]);

/// How the members' scores become one.
#[derive(Debug)]
pub(super) enum Aggregator {
    WeightedAverage,
    Minimum,
    Maximum,
    /// `required` are places in the list of members, in the author's order. Not empty.
    SafetyGate {
        required: Vec<usize>,
        threshold: Number,
        /// Where the gate is written.
        at: Span,
    },
    AllOrNothing {
        threshold: Number,
    },
    Threshold {
        threshold: Number,
    },
}

impl Aggregator {
    fn word(&self) -> &'static str {
        match self {
            Self::WeightedAverage => "weighted_average",
            Self::Minimum => "minimum",
            Self::Maximum => "maximum",
            Self::SafetyGate { .. } => "safety_gate",
            Self::AllOrNothing { .. } => "all_or_nothing",
            Self::Threshold { .. } => "threshold",
        }
    }

    fn threshold(&self) -> Option<&Number> {
        match self {
            Self::SafetyGate { threshold, .. }
            | Self::AllOrNothing { threshold }
            | Self::Threshold { threshold } => Some(threshold),
            Self::WeightedAverage | Self::Minimum | Self::Maximum => None,
        }
    }
}

/// The required members of a safety gate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Guards<'a> {
    /// Places in the list of members.
    pub(super) required: &'a [usize],
    pub(super) threshold: f64,
    written: &'a Number,
}

impl Guards<'_> {
    /// The sentence for a member that is too low.
    pub(super) fn miss(&self, member: &AssertionGrade) -> String {
        let score = match &member.grade {
            Grade::Graded(marks) => marks.score.rounded(),
            _ => 0.0,
        };
        let (name, least) = (&member.name, self.written);
        format!("Safety gate: '{name}' scored {score}, below {least}")
    }
}

/// An aggregator and the weights that it gives its members.
#[derive(Debug)]
pub(super) struct Aggregation {
    pub(super) aggregator: Aggregator,
    /// One per member, or none at all; `None` where the member keeps its own.
    weights: Vec<Option<Weight>>,
    /// Where the weights are written.
    weights_at: Option<Span>,
}

impl Aggregation {
    pub(super) fn word(&self) -> &'static str {
        self.aggregator.word()
    }

    /// The members that must reach a threshold before the others are graded.
    pub(super) fn guards(&self) -> Option<Guards<'_>> {
        match &self.aggregator {
            Aggregator::SafetyGate {
                required,
                threshold,
                ..
            } => Some(Guards {
                required,
                threshold: threshold.value(),
                written: threshold,
            }),
            _ => None,
        }
    }

    fn plain(aggregator: Aggregator) -> Self {
        Self {
            aggregator,
            weights: Vec::new(),
            weights_at: None,
        }
    }

    /// Where the weights are written.
    pub(super) fn weights_at(&self) -> Option<Span> {
        self.weights_at
    }

    /// Where a gate is written that can fail the test.
    pub(super) fn gate(&self) -> Option<Span> {
        match self.aggregator {
            Aggregator::SafetyGate { at, .. } => Some(at),
            _ => None,
        }
    }

    /// Whether weights that are all 0 leave no score.
    pub(super) fn averages(&self) -> bool {
        matches!(
            self.aggregator,
            Aggregator::WeightedAverage
                | Aggregator::SafetyGate { .. }
                | Aggregator::AllOrNothing { .. }
        )
    }

    /// What the aggregator says about a member, else what the member says.
    pub(super) fn weight<'m>(&'m self, members: &'m [NamedAssertion], at: usize) -> &'m Weight {
        let listed = self.weights.get(at).and_then(Option::as_ref);
        listed.unwrap_or(&members[at].assertion.common.weight)
    }

    /// The shape of `show --format json`.
    pub(super) fn to_value(&self, members: &[NamedAssertion]) -> Value {
        let aggregator = &self.aggregator;
        let mut map = Map::new();
        map.insert("type", aggregator.word());
        if let Aggregator::SafetyGate { required, .. } = aggregator {
            let names: Vec<&str> = required
                .iter()
                .map(|at| members[*at].name.as_ref())
                .collect();
            map.insert("required", names);
        }
        map.insert_some("threshold", aggregator.threshold().cloned());
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
) -> Option<Aggregation> {
    let Some(entry) = options.get("aggregator") else {
        return Some(Aggregation::plain(Aggregator::WeightedAverage));
    };
    let node = entry.value;
    if !node.is_mapping() {
        let word = read_aggregator_word(options, "aggregator", node)?;
        let aggregator = read_aggregator(options, word, node, None, members)?;
        return Some(Aggregation::plain(aggregator));
    }
    let bound = Bound::new(node, &[FIELDS], options.reader.out);
    let Some(type_entry) = bound.get("type") else {
        let message = "this aggregator has no `type`";
        options.report(
            Diagnostic::new(&MISSING_OPTION, bound.head(), message)
                .help(format!("it is {}", list_words(NAMES))),
        );
        return None;
    };
    let word = read_aggregator_word(options, "type", type_entry.value)?;
    bound.report_unknown(&[FIELDS], options.reader.out);
    report_unused(options, &bound, word);
    let aggregator = read_aggregator(options, word, type_entry.value, Some(&bound), members);
    let weights = bound
        .get("weights")
        .filter(|_| takes(word, "weights"))
        .map(|entry| (entry.key.span(), read_weights(options, &entry, members)));
    Some(Aggregation {
        aggregator: aggregator?,
        weights_at: weights.as_ref().map(|(span, _)| *span),
        weights: weights.map_or(Some(Vec::new()), |(_, weights)| weights)?,
    })
}

/// Which options an aggregator takes besides `type`.
fn takes(word: &str, option: &str) -> bool {
    let options: &[&str] = match word {
        "weighted_average" => &["weights"],
        "safety_gate" => &["required", "threshold", "weights"],
        "all_or_nothing" => &["threshold", "weights"],
        "threshold" => &["threshold"],
        _ => &[],
    };
    options.contains(&option)
}

fn report_unused(options: &mut Options<'_, '_, '_>, bound: &Bound<'_>, word: &str) {
    for field in FIELDS.iter().filter(|field| field.name != "type") {
        if let Some(entry) = bound.get(field.name).filter(|_| !takes(word, field.name)) {
            let fault = unknown_field(entry.key, &[FIELDS]);
            options.report(fault.help(format!("`{word}` does not take it; remove it")));
        }
    }
}

fn read_aggregator_word(
    options: &mut Options<'_, '_, '_>,
    name: &str,
    node: Node<'_>,
) -> Option<&'static str> {
    if node.scalar().is_none() {
        options.report(wrong_type(name, node, "a string or a mapping"));
        return None;
    }
    let text = options.reader.text_of(name, node)?;
    let found = NAMES.iter().find(|word| **word == text);
    if found.is_none() {
        let help = match did_you_mean(&text, NAMES.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("it is {}", list_words(NAMES)),
        };
        let message = format!("there is no aggregator `{}`", shorten(&text));
        options.report(Diagnostic::new(&UNSUPPORTED_AGGREGATOR, node.span(), message).help(help));
    }
    found.copied()
}

fn read_aggregator(
    options: &mut Options<'_, '_, '_>,
    word: &str,
    place: Node<'_>,
    bound: Option<&Bound<'_>>,
    members: &[NamedAssertion],
) -> Option<Aggregator> {
    let threshold = bound
        .and_then(|bound| bound.get("threshold"))
        .filter(|_| takes(word, "threshold"))
        .map(|entry| read_fraction(options.reader, &entry));
    let or_default = |default: &str| threshold.clone().unwrap_or_else(|| Number::parse(default));
    Some(match word {
        "minimum" => Aggregator::Minimum,
        "maximum" => Aggregator::Maximum,
        "safety_gate" => {
            let entry = bound.and_then(|bound| bound.get("required"));
            let required = match entry {
                Some(entry) => read_required_members(options, &entry, members),
                None => missing(options, place, "safety_gate", "required"),
            };
            Aggregator::SafetyGate {
                required: required?,
                threshold: or_default("0.6")?,
                at: place.span(),
            }
        }
        "all_or_nothing" => Aggregator::AllOrNothing {
            threshold: or_default("0.7")?,
        },
        "threshold" => Aggregator::Threshold {
            threshold: match threshold {
                Some(threshold) => threshold?,
                None => missing(options, place, "threshold", "threshold")?,
            },
        },
        _ => Aggregator::WeightedAverage,
    })
}

fn missing<T>(
    options: &mut Options<'_, '_, '_>,
    place: Node<'_>,
    word: &str,
    option: &str,
) -> Option<T> {
    let message = format!("the aggregator `{word}` needs `{option}`");
    options.report(
        Diagnostic::new(&MISSING_OPTION, place.span(), message)
            .help(format!("write `aggregator: {{type: {word}, {option}: …}}`")),
    );
    None
}

fn read_required_members(
    options: &mut Options<'_, '_, '_>,
    entry: &Entry<'_>,
    members: &[NamedAssertion],
) -> Option<Vec<usize>> {
    let names = options.reader.text_list(entry)?;
    if names.is_empty() {
        options.report(
            Diagnostic::new(
                &MISSING_OPTION,
                entry.value.span(),
                "`required` names no member",
            )
            .help("name the members that must reach the threshold"),
        );
        return None;
    }
    let mut required = Vec::with_capacity(names.len());
    let mut is_complete = true;
    for name in names {
        match members.iter().position(|member| member.name == name.value) {
            Some(at) if required.contains(&at) => {}
            Some(at) => required.push(at),
            None => {
                options.report(unknown_member(&name.value, name.span, members));
                is_complete = false;
            }
        }
    }
    is_complete.then_some(required)
}

fn read_weights(
    options: &mut Options<'_, '_, '_>,
    entry: &Entry<'_>,
    members: &[NamedAssertion],
) -> Option<Vec<Option<Weight>>> {
    if !entry.value.is_mapping() {
        let wants = "a mapping from member names to numbers";
        options.report(wrong_type("weights", entry.value, wants));
        return None;
    }
    let mut weights = vec![None; members.len()];
    let mut is_complete = true;
    for (key, value) in entry.value.entries() {
        let name = key.scalar_text().unwrap_or("");
        let weight = read_weight(
            options.reader,
            &Entry {
                field: entry.field,
                key,
                value,
            },
        );
        is_complete &= weight.is_some();
        match members.iter().position(|member| member.name == name) {
            Some(at) => weights[at] = weight,
            None => {
                options.report(unknown_member(name, key.span(), members));
                is_complete = false;
            }
        }
    }
    if !is_complete {
        return None;
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
    Some(weights)
}

fn unknown_member(name: &str, span: Span, members: &[NamedAssertion]) -> Diagnostic {
    /// A long list helps nobody.
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
    use super::super::snippet::read;
    use crate::model::JsonStyle;

    const MEMBERS: &str = "{type: script, name: safety, script: a}, {type: script, script: b}";

    fn with(options: &str) -> String {
        format!("- {{type: composite, {options}, assert: [{MEMBERS}]}}")
    }

    fn aggregator_of(options: &str) -> String {
        let (assertions, faults) = read(&with(options));
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
            (
                "aggregator: all_or_nothing",
                r#"{"type":"all_or_nothing","threshold":0.7}"#,
            ),
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
            (
                "aggregator: {type: code_judge, path: x}",
                &["unsupported-aggregator"][..],
            ),
            ("aggregator: weighted-average", &["unsupported-aggregator"]),
            ("aggregator: {weights: {safety: 1}}", &["missing-option"]),
            ("aggregator: safety_gate", &["missing-option"]),
            (
                "aggregator: {type: safety_gate, required: []}",
                &["missing-option"],
            ),
            (
                "aggregator: {type: safety_gate, required: [safty]}",
                &["unknown-member"],
            ),
            ("aggregator: threshold", &["missing-option"]),
            (
                "aggregator: {type: threshold, threshold: 2}",
                &["out-of-range"],
            ),
            (
                "aggregator: {type: minimum, threshold: 0.5}",
                &["unknown-field"],
            ),
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
            assert_eq!(read(&with(written)).1, faults, "{written}");
        }
    }
}
