//! Rubric items (spec 3.6): what a judge is asked to check or to score.

use std::collections::HashMap;

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::{Number, Operator, Required, RubricItem, Weight};
use crate::reader::{Reader, short_span, wrong_type};
use crate::source::Span;
use crate::syntax::fields::{
    Bound, CONFLICTING_FIELDS, Entry, Field, INVALID_OPTION, Shape, shorten,
};
use crate::syntax::{Node, Scalar};

use super::codes::ZERO_WEIGHT;
use super::read::{merge_least, read_required, read_weight};
use super::score_ranges::{self, read_ranges};

declare_codes! {
    DUPLICATE_RUBRIC_ID = "duplicate-rubric-id", Blocking, Assertion, r#"Two items of one rubric have the same id.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    rubrics:
      - {id: tone, outcome: Is friendly}
      - {id: tone, outcome: Is brief}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    rubrics:
      - {id: tone, outcome: Is friendly}
      - {id: length, outcome: Is brief}
```

## Why
The judge answers by id, so one answer would count for both. An item without an id is called
`rubric-N` after its place in the list.
"#;
    MISSING_OUTCOME = "missing-outcome", Blocking, Assertion, r#"A rubric item does not say what to look for.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    rubrics:
      - {id: tone, weight: 2}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    rubrics:
      - {id: tone, weight: 2, outcome: Is friendly}
```

## Why
The judge would have to guess from the id. Only an item with `score_ranges` may leave the outcome out:
its ranges say what is meant.
"#;
}

/// The keys of an item that is a mapping.
pub static ITEM_FIELDS: &[Field] = &[
    Field::new(
        "id",
        Shape::NonEmptyText,
        "default: `rubric-N`, after its place",
    ),
    Field::new("outcome", Shape::NonEmptyText, "what the answer must do")
        .also(&["criteria", "expected_outcome"]),
    Field::new(
        "description",
        Shape::Text,
        "for people; the outcome where none is given",
    ),
    Field::new(
        "weight",
        Shape::Number {
            min: 0.0,
            max: f64::MAX,
        },
        "share in the score; default 1",
    ),
    Field::new(
        "required",
        Shape::OneOf(&[Shape::Boolean, Shape::PositiveFraction]),
        "a gate: missing it fails the test; a number is the score that must be reached",
    ),
    Field::new(
        "score_ranges",
        score_ranges::SHAPE,
        "what scores stand for; makes the item scored from 0 to 10",
    ),
    Field::new(
        "operator",
        Shape::Choice(Operator::NAMES),
        "`contradiction`: satisfied when the answer does not contradict the outcome",
    ),
    Field::new(
        "min_score",
        Shape::PositiveFraction,
        "old form of a number in `required`",
    ),
    Field::new(
        "required_min_score",
        Shape::Number {
            min: 0.0,
            max: 10.0,
        },
        "old form of a number in `required`, from 0 to 10",
    ),
];

/// Items, and where the required ones say so.
#[derive(Debug, Default)]
pub(super) struct Items {
    pub(super) list: Vec<RubricItem>,
    pub(super) gates: Vec<Span>,
}

/// A list of items. An empty list has no items; what that means is the caller's to say.
pub(crate) fn read_items(
    reader: &mut Reader<'_>,
    name: &str,
    node: Node<'_>,
) -> Option<Vec<RubricItem>> {
    read_with_gates(reader, name, node).map(|items| items.list)
}

/// As [`read_items`]; a text is a list of one, and nothing at all when it is blank.
pub(super) fn read_text_or_items(
    reader: &mut Reader<'_>,
    name: &str,
    node: Node<'_>,
) -> Option<Items> {
    match node.scalar() {
        Some(Scalar::Str(_)) => {
            let text = reader.text_of(name, node)?;
            let list = if text.trim().is_empty() {
                Vec::new()
            } else {
                vec![RubricItem::from_text(text, 1)]
            };
            Some(Items {
                list,
                gates: Vec::new(),
            })
        }
        Some(_) => {
            reader.report(wrong_type(name, node, "a string or a list of rubric items"));
            None
        }
        None => read_with_gates(reader, name, node),
    }
}

fn read_with_gates(reader: &mut Reader<'_>, name: &str, node: Node<'_>) -> Option<Items> {
    if !node.is_sequence() {
        reader.report(wrong_type(name, node, "a list of rubric items"));
        return None;
    }
    let mut items = Items::default();
    items.list.reserve_exact(node.items().len());
    let (mut is_complete, mut has_ids) = (true, false);
    for (at, item) in node.items().enumerate() {
        match read_item(reader, name, item, at + 1, &mut items.gates) {
            Some(item) => {
                has_ids |= item.id_written;
                items.list.push(item);
            }
            None => is_complete = false,
        }
    }
    // Places in the list and items agree only when none was left out.
    if !is_complete {
        return None;
    }
    if has_ids {
        is_complete = report_duplicates(reader, node, &items.list);
    }
    if !items.list.is_empty() && items.list.iter().all(|item| item.weight.is_zero()) {
        let message = format!("every item of `{name}` has weight 0");
        reader.report(
            Diagnostic::new(&ZERO_WEIGHT, short_span(node), message)
                .help("give at least one item a weight"),
        );
        return None;
    }
    is_complete.then_some(items)
}

fn read_item(
    reader: &mut Reader<'_>,
    name: &str,
    node: Node<'_>,
    position: usize,
    gates: &mut Vec<Span>,
) -> Option<RubricItem> {
    match node.scalar() {
        Some(Scalar::Str(_)) => {
            let text = read_outcome(reader, name, node)?;
            Some(RubricItem::from_text(text, position))
        }
        None if node.is_mapping() => read_mapping(reader, node, position, gates),
        _ => {
            let name = format!("an item of {name}");
            reader.report(wrong_type(
                &name,
                node,
                "a string or a mapping with `outcome`",
            ));
            None
        }
    }
}

/// A text that says something.
pub(super) fn read_outcome(reader: &mut Reader<'_>, name: &str, node: Node<'_>) -> Option<String> {
    let text = reader.text_of(name, node)?;
    if text.trim().is_empty() {
        reader.report(missing_outcome(node.span(), "this outcome is blank"));
        return None;
    }
    Some(text.into_owned())
}

fn missing_outcome(span: Span, message: &str) -> Diagnostic {
    Diagnostic::new(&MISSING_OUTCOME, span, message)
        .help("say what the answer must do: `outcome: Names the author`")
}

fn read_mapping(
    reader: &mut Reader<'_>,
    node: Node<'_>,
    position: usize,
    gates: &mut Vec<Span>,
) -> Option<RubricItem> {
    let bound = Bound::new(node, &[ITEM_FIELDS], reader.out);
    bound.report_unknown(&[ITEM_FIELDS], reader.out);
    // Every field is read before any fault ends the item, so that all faults are shown at once.
    let id = bound.get("id").map(|entry| read_id(reader, &entry));
    let ranges = bound
        .get("score_ranges")
        .map(|entry| read_ranges(reader, &entry));
    let outcome = bound
        .get("outcome")
        .or_else(|| bound.get("description"))
        .map(|entry| read_outcome(reader, entry.field.name, entry.value));
    let weight = bound.get("weight").map(|entry| read_weight(reader, &entry));
    let required = read_item_gate(reader, &bound);
    let operator = bound
        .get("operator")
        .map(|entry| read_operator(reader, &entry));
    if outcome.is_none() && ranges.is_none() {
        reader.report(missing_outcome(
            bound.head(),
            "this rubric item has no `outcome`",
        ));
        return None;
    }
    let item = RubricItem {
        id_written: id.is_some(),
        id: id.unwrap_or_else(|| Some(format!("rubric-{position}")))?,
        outcome: outcome.map_or(Some(None), |text| text.map(Some))?,
        weight: weight.unwrap_or_else(|| Some(Weight::default()))?,
        required: required?,
        ranges: ranges.unwrap_or_else(|| Some(Vec::new()))?,
        operator: operator.unwrap_or_else(|| Some(Operator::default()))?,
    };
    if item.required.is_gate() {
        gates.extend(bound.get("required").map(|entry| entry.value.span()));
    }
    Some(item)
}

fn read_id(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<String> {
    let id = reader.owned_text(entry)?;
    if id.trim().is_empty() {
        let message = "the `id` of this rubric item is blank";
        reader.report(
            Diagnostic::new(&INVALID_OPTION, entry.value.span(), message)
                .help("write a short name, or remove the key"),
        );
        return None;
    }
    Some(id)
}

fn read_operator(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<Operator> {
    let word = reader.choice(entry, Operator::NAMES)?;
    Some(match word {
        "contradiction" => Operator::Contradiction,
        _ => Operator::Correctness,
    })
}

/// `required` with either of its old companions.
fn read_item_gate(reader: &mut Reader<'_>, bound: &Bound<'_>) -> Option<Required> {
    let Some(of_ten) = bound.get("required_min_score") else {
        return read_required(reader, bound);
    };
    if let Some(min_score) = bound.get("min_score") {
        let message = "`min_score` and `required_min_score` are two spellings of one field";
        reader.report(
            Diagnostic::new(&CONFLICTING_FIELDS, of_ten.key.span(), message)
                .related(min_score.key.span(), "the other one")
                .help("keep one of them"),
        );
        return None;
    }
    let required = read_required(reader, bound)?;
    let number = reader.number(&of_ten, 0.0, 10.0)?;
    if number.value() == 0.0 {
        reader.report(crate::reader::out_of_range(
            "required_min_score",
            of_ten.value,
            "a number greater than 0 and at most 10",
        ));
        return None;
    }
    let least = Number::parse(&(number.value() / 10.0).to_string())?;
    Some(merge_least(reader, bound, required, &of_ten, least))
}

/// `true` when every id is there once.
fn report_duplicates(reader: &mut Reader<'_>, list: Node<'_>, items: &[RubricItem]) -> bool {
    let place = |at: usize| {
        list.items().nth(at).map(|item| {
            item.get("id")
                .map_or_else(|| short_span(item), |id| id.span())
        })
    };
    let mut seen: HashMap<&str, usize> = HashMap::with_capacity(items.len());
    let mut is_unique = true;
    for (at, item) in items.iter().enumerate() {
        let Some(first) = seen.insert(&item.id, at) else {
            continue;
        };
        is_unique = false;
        if let (Some(here), Some(there)) = (place(at), place(first)) {
            let message = format!("two rubric items are called `{}`", shorten(&item.id));
            reader.report(
                Diagnostic::new(&DUPLICATE_RUBRIC_ID, here, message)
                    .related(there, "the other one")
                    .help("give one of them another id"),
            );
        }
    }
    is_unique
}

#[cfg(test)]
mod tests {
    use super::super::snippet::{diagnose, marked, read};
    use crate::model::{JsonStyle, Value};
    use crate::reader::Limits;
    use crate::source::MemoryFiles;

    fn faults(items: &str) -> Vec<&'static str> {
        read(&format!("- {{type: rubrics, rubrics: [{items}]}}")).1
    }

    fn shown(items: &str, expected_faults: &[&str]) -> String {
        let (assertions, faults) = read(&format!("- {{type: rubrics, rubrics: [{items}]}}"));
        assert_eq!(faults, expected_faults, "{items}");
        let options = assertions[0].check.options();
        let list = options.get("rubrics").and_then(Value::as_list);
        let items: Vec<_> = list
            .expect("a list")
            .iter()
            .map(|item| item.to_json(JsonStyle::Compact))
            .collect();
        items.join("\n")
    }

    #[test]
    fn the_outcome_has_other_names() {
        for key in ["outcome", "criteria", "expected_outcome", "description"] {
            assert_eq!(
                shown(&format!("{{{key}: Is kind}}"), &[]),
                r#"{"id":"rubric-1","outcome":"Is kind","weight":1,"required":false}"#
            );
        }
        let both = shown("{criteria: Is kind, description: For people}", &[]);
        assert!(both.contains(r#""outcome":"Is kind""#));
        assert_eq!(faults("{criteria: a, outcome: b}"), ["conflicting-fields"]);
    }

    #[test]
    fn old_gates_become_numbers() {
        for (item, required, expected) in [
            (
                "{outcome: a, required: true, min_score: 0.7}",
                "0.7",
                "deprecated-field",
            ),
            (
                "{outcome: a, required: true, required_min_score: 7}",
                "0.7",
                "deprecated-field",
            ),
            (
                "{outcome: a, required_min_score: 7}",
                "false",
                "min-score-without-required",
            ),
        ] {
            let item = shown(item, &[expected]);
            assert!(
                item.contains(&format!(r#""required":{required}"#)),
                "{item}"
            );
        }
        for (item, expected) in [
            (
                "{outcome: a, required: true, required_min_score: 70}",
                "out-of-range",
            ),
            (
                "{outcome: a, required: true, required_min_score: 0}",
                "out-of-range",
            ),
            ("{outcome: a, required: true, min_score: 7}", "out-of-range"),
            (
                "{outcome: a, required: true, min_score: 1, required_min_score: 7}",
                "conflicting-fields",
            ),
        ] {
            assert_eq!(faults(item), [expected], "{item}");
        }
    }

    #[test]
    fn faulty_items_are_reported() {
        for (items, expected) in [
            ("{id: a}", "missing-outcome"),
            ("''", "missing-outcome"),
            ("{outcome: ' '}", "missing-outcome"),
            ("3", "wrong-type"),
            ("[a]", "wrong-type"),
            ("{id: 3, outcome: a}", "wrong-type"),
            ("{id: ' ', outcome: a}", "invalid-option"),
            ("{outcome: a, weight: -1}", "invalid-weight"),
            ("{outcome: a, weight: 0}", "zero-weight"),
            ("{outcome: a, required: 2}", "invalid-required"),
            ("{outcome: a, operator: contradicts}", "invalid-option"),
            ("{outcome: a, weigth: 2}", "unknown-field"),
        ] {
            assert_eq!(faults(items), [expected], "{items}");
        }
        assert_eq!(read("- ''").1, ["missing-outcome"]);
    }

    #[test]
    fn an_id_that_is_taken_is_marked_at_its_second_place() {
        let yaml =
            "- {type: rubrics, rubrics: [{id: rubric-2, outcome: a}, b, {id: c, outcome: c}]}";
        let (_, faults) = diagnose(MemoryFiles::new(), &Limits::default(), yaml);
        assert_eq!(faults[0].code.name, "duplicate-rubric-id");
        assert_eq!(marked(yaml, &faults[0]), "b");
        assert_eq!(faults.len(), 1);
    }

    #[test]
    fn operators_are_read() {
        let item = shown("{outcome: a, operator: contradiction}", &[]);
        assert!(item.ends_with(r#""operator":"contradiction"}"#));
    }
}
