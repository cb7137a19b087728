//! Rubric items (spec 3.6), which a judge checks or scores.

use std::collections::HashMap;

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::{Number, Operator, Required, RubricItem};
use crate::reader::{
    Options, ReadResult, Reader, Reported, all_read, out_of_range, read_mapping, short_span,
    wrong_type,
};
use crate::source::Span;
use crate::syntax::fields::{Field, INVALID_OPTION, Shape, shorten};
use crate::syntax::{Node, Scalar};

use super::codes::ZERO_WEIGHT;
use super::read::{AMOUNT, merge_min_score, read_required, read_weight};
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
The judge answers by id, so one answer would count for both. An item without an id is named
`rubric-N` after its position in the list.
"#;
    MISSING_OUTCOME = "missing-outcome", Blocking, Assertion, r#"A rubric item has no outcome.

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
The judge would have to guess from the id. Only an item with `score_ranges` may omit the outcome,
because its ranges describe it.
"#;
}

/// The keys of an item that is a mapping.
pub static ITEM_FIELDS: &[Field] = &[
    Field::new("id", Shape::NonEmptyText, "default: `rubric-N`, after its position"),
    Field::new("outcome", Shape::NonEmptyText, "what the answer must do")
        .also(&["criteria", "expected_outcome"]),
    Field::new("description", Shape::Text, "for readers; the outcome if none is given"),
    Field::new("weight", AMOUNT, "share in the score; default 1"),
    Field::new(
        "required",
        Shape::OneOf(&[Shape::Boolean, Shape::PositiveFraction]),
        "a gate: missing it fails the test; a number is the score to reach",
    ),
    Field::new(
        "score_ranges",
        score_ranges::SHAPE,
        "what scores mean; the item is then scored from 0 to 10",
    ),
    Field::new(
        "operator",
        Shape::Choice(Operator::WORDS),
        "`contradiction`: satisfied when the answer does not contradict the outcome",
    ),
    Field::new("min_score", Shape::PositiveFraction, "old form of a number in `required`"),
    Field::new(
        "required_min_score",
        Shape::Number { min: 0.0, max: 10.0 },
        "old form of a number in `required`, from 0 to 10",
    ),
];

/// Items, and where their gates are written.
#[derive(Debug, Default)]
pub(super) struct ItemList {
    pub(super) list: Vec<RubricItem>,
    pub(super) gates: Vec<Span>,
}

/// A list of items, which may be empty.
pub(crate) fn read_items(
    reader: &mut Reader<'_>,
    name: &str,
    node: Node<'_>,
) -> ReadResult<Vec<RubricItem>> {
    read_with_gates(reader, name, node).map(|items| items.list)
}

/// As [`read_items`]; a string is a list of one, or an empty list if it is blank.
pub(super) fn read_text_or_items(
    reader: &mut Reader<'_>,
    name: &str,
    node: Node<'_>,
) -> ReadResult<ItemList> {
    match node.scalar() {
        Some(Scalar::Str(_)) => {
            let text = reader.text_of(name, node).ok_or(Reported)?;
            let mut items = ItemList::default();
            if !text.trim().is_empty() {
                items.list.push(RubricItem::from_text(text, 1));
            }
            Ok(items)
        }
        Some(_) => {
            reader.report(wrong_type(name, node, "a string or a list of rubric items"));
            Err(Reported)
        }
        None => read_with_gates(reader, name, node),
    }
}

fn read_with_gates(reader: &mut Reader<'_>, name: &str, node: Node<'_>) -> ReadResult<ItemList> {
    if !node.is_sequence() {
        reader.report(wrong_type(name, node, "a list of rubric items"));
        return Err(Reported);
    }
    let mut gates = Vec::new();
    let items = node.items().enumerate();
    let list = all_read(items.map(|(at, item)| read_item(reader, name, item, at + 1, &mut gates)))?;
    if list.iter().any(|item| item.id_written) {
        report_duplicates(reader, node, &list)?;
    }
    if !list.is_empty() && list.iter().all(|item| item.weight.is_zero()) {
        let message = format!("every item of `{name}` has weight 0");
        reader.report(
            Diagnostic::new(&ZERO_WEIGHT, short_span(node), message)
                .help("give at least one item a weight"),
        );
        return Err(Reported);
    }
    Ok(ItemList { list, gates })
}

fn read_item(
    reader: &mut Reader<'_>,
    name: &str,
    node: Node<'_>,
    position: usize,
    gates: &mut Vec<Span>,
) -> ReadResult<RubricItem> {
    match node.scalar() {
        Some(Scalar::Str(_)) => {
            let text = read_outcome(reader, name, node)?;
            Ok(RubricItem::from_text(text, position))
        }
        None if node.is_mapping() => {
            read_mapping(reader, "a rubric item", node, ITEM_FIELDS, |options| {
                read_item_mapping(options, position, gates)
            })
        }
        _ => {
            let name = format!("an item of {name}");
            let expected = "a string or a mapping with `outcome`";
            reader.report(wrong_type(&name, node, expected));
            Err(Reported)
        }
    }
}

/// A string that is not blank.
pub(super) fn read_outcome(
    reader: &mut Reader<'_>,
    name: &str,
    node: Node<'_>,
) -> ReadResult<String> {
    let text = reader.text_of(name, node).ok_or(Reported)?;
    if text.trim().is_empty() {
        reader.report(missing_outcome(node.span(), "this outcome is blank"));
        return Err(Reported);
    }
    Ok(text.into_owned())
}

fn missing_outcome(span: Span, message: &str) -> Diagnostic {
    Diagnostic::new(&MISSING_OUTCOME, span, message)
        .help("write what the answer must do: `outcome: Names the author`")
}

fn read_item_mapping(
    options: &mut Options<'_, '_, '_>,
    position: usize,
    gates: &mut Vec<Span>,
) -> ReadResult<RubricItem> {
    let id = read_id(options);
    let ranges =
        options.optional("score_ranges", |options, entry| read_ranges(options.reader, entry));
    let written = if options.has("outcome") { "outcome" } else { "description" };
    let outcome = options
        .optional(written, |options, entry| read_outcome(options.reader, written, entry.value));
    let weight = options.optional("weight", read_weight);
    let required = read_item_gate(options);
    let operator = options.choice("operator");
    if outcome == Ok(None) && ranges == Ok(None) {
        let fault = missing_outcome(options.head(), "this rubric item has no `outcome`");
        return Err(options.report(fault));
    }
    let (id, required) = (id?, required?);
    let item = RubricItem {
        id_written: id.is_some(),
        id: id.unwrap_or_else(|| format!("rubric-{position}")),
        outcome: outcome?,
        weight: weight?.unwrap_or_default(),
        required,
        ranges: ranges?.unwrap_or_default(),
        operator: operator?.unwrap_or_default(),
    };
    if item.required.is_gate() {
        gates.extend(options.get("required").map(|entry| entry.value.span()));
    }
    Ok(item)
}

fn read_id(options: &mut Options<'_, '_, '_>) -> ReadResult<Option<String>> {
    options.optional("id", |options, entry| {
        let id = options.text_of("id", entry.value)?;
        if id.value.trim().is_empty() {
            let message = "the `id` of this rubric item is blank";
            return Err(options.report(
                Diagnostic::new(&INVALID_OPTION, id.span, message)
                    .help("write a short name, or remove the key"),
            ));
        }
        Ok(id.value)
    })
}

/// `required` with either of its old companions.
fn read_item_gate(options: &mut Options<'_, '_, '_>) -> ReadResult<Required> {
    let Some(of_ten) = options.get("required_min_score") else {
        return read_required(options);
    };
    if let Some(min_score) = options.get("min_score") {
        return Err(options.spelled_twice(&min_score, &of_ten));
    }
    let required = read_required(options)?;
    let number = options.reader.number(&of_ten, 0.0, 10.0).ok_or(Reported)?;
    if number.value() == 0.0 {
        let expected = "a number greater than 0 and at most 10";
        return Err(options.report(out_of_range("required_min_score", of_ten.value, expected)));
    }
    let least = Number::parse(&(number.value() / 10.0).to_string()).ok_or(Reported)?;
    Ok(merge_min_score(options, required, &of_ten, least))
}

fn report_duplicates(
    reader: &mut Reader<'_>,
    list: Node<'_>,
    items: &[RubricItem],
) -> ReadResult<()> {
    let place = |at: usize| {
        list.items()
            .nth(at)
            .map(|item| item.get("id").map_or_else(|| short_span(item), |id| id.span()))
    };
    let mut seen: HashMap<&str, usize> = HashMap::with_capacity(items.len());
    let mut is_unique = true;
    for (at, item) in items.iter().enumerate() {
        let Some(first) = seen.insert(&item.id, at) else {
            continue;
        };
        is_unique = false;
        if let (Some(here), Some(there)) = (place(at), place(first)) {
            let message = format!("two rubric items have the id `{}`", shorten(&item.id));
            reader.report(
                Diagnostic::new(&DUPLICATE_RUBRIC_ID, here, message)
                    .related(there, "the other one")
                    .help("change one of them"),
            );
        }
    }
    if is_unique { Ok(()) } else { Err(Reported) }
}

#[cfg(test)]
mod tests {
    use super::super::testing::read;
    use crate::model::{JsonStyle, Value};

    fn faults(items: &str) -> Vec<&'static str> {
        read(&format!("- {{type: rubrics, rubrics: [{items}]}}")).names()
    }

    fn shown(items: &str, expected_faults: &[&str]) -> String {
        let (assertions, faults) =
            read(&format!("- {{type: rubrics, rubrics: [{items}]}}")).parts();
        assert_eq!(faults, expected_faults, "{items}");
        let options = assertions[0].check.options();
        let list = options.get("rubrics").and_then(Value::as_list);
        let items: Vec<_> =
            list.expect("a list").iter().map(|item| item.to_json(JsonStyle::Compact)).collect();
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
            ("{outcome: a, required: true, min_score: 0.7}", "0.7", "deprecated-field"),
            ("{outcome: a, required: true, required_min_score: 7}", "0.7", "deprecated-field"),
            ("{outcome: a, required_min_score: 7}", "false", "min-score-without-required"),
        ] {
            let item = shown(item, &[expected]);
            assert!(item.contains(&format!(r#""required":{required}"#)), "{item}");
        }
        for (item, expected) in [
            ("{outcome: a, required: true, required_min_score: 70}", "out-of-range"),
            ("{outcome: a, required: true, required_min_score: 0}", "out-of-range"),
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
        assert_eq!(read("- ''").names(), ["missing-outcome"]);
    }

    #[test]
    fn an_id_that_is_taken_is_marked_at_its_second_place() {
        let yaml =
            "- {type: rubrics, rubrics: [{id: rubric-2, outcome: a}, b, {id: c, outcome: c}]}";
        let found = read(yaml);
        let faults = &found.diagnostics;
        assert_eq!(faults[0].code.name, "duplicate-rubric-id");
        assert_eq!(found.marked()[0], "b");
        assert_eq!(faults.len(), 1);
    }

    #[test]
    fn operators_are_read() {
        let item = shown("{outcome: a, operator: contradiction}", &[]);
        assert!(item.ends_with(r#""operator":"contradiction"}"#));
    }
}
