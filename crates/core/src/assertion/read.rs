//! Entries of assert lists → assertions, and the names they have in their test.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Level};
use crate::model::{Assertion, Check, CommonOptions, NamedAssertion, Number, Required, Weight};
use crate::reader::{Reader, out_of_range, wrong_type};
use crate::source::Span;
use crate::syntax::fields::{
    Bound, DEPRECATED_FIELD, Entry as FieldEntry, Field, Shape, UNSUPPORTED_FEATURE,
};
use crate::syntax::{Node, Scalar};

use super::codes::{
    DUPLICATE_ASSERTION_NAME, GATE_UNDER_NEGATE, INVALID_REQUIRED, INVALID_WEIGHT,
    MIN_SCORE_WITHOUT_REQUIRED, MISSING_TYPE, UNUSED_CONFIG,
};
use super::kind::UnknownKeys;
use super::options::Options;
use super::rubric_items::read_outcome;
use super::{custom, kind_named, rubrics};

/// Options of every type.
pub static COMMON: &[Field] = &[
    Field::new("type", Shape::NonEmptyText, "which check it is").required(),
    Field::new("name", Shape::Text, "key in the results; default: the type"),
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
        "min_score",
        Shape::PositiveFraction,
        "old form of a number in `required`",
    ),
    Field::new(
        "negate",
        Shape::Boolean,
        "turns the check round; default false",
    ),
    Field::new(
        "config",
        Shape::Map,
        "settings handed to scripts and judges",
    ),
    Field::new(
        "description",
        Shape::Text,
        "for people, and for the exported sentence",
    ),
];

/// What became of a list of assertions.
#[derive(Debug, Default)]
pub(crate) struct ReadList {
    /// In the author's order; faulty entries have been reported and are left out.
    pub(crate) sound: Vec<Arc<Assertion>>,
    pub(crate) is_complete: bool,
}

/// Every entry of a list; `None` when one is faulty.
pub(crate) fn read_list(
    reader: &mut Reader<'_>,
    name: &str,
    list: Node<'_>,
    depth: usize,
) -> Option<Vec<Arc<Assertion>>> {
    let found = read_entries(reader, name, list, depth);
    found.is_complete.then_some(found.sound)
}

/// Every sound entry of a list: faults that show only in a test are looked for in these too.
pub(crate) fn read_entries(
    reader: &mut Reader<'_>,
    name: &str,
    list: Node<'_>,
    depth: usize,
) -> ReadList {
    if !list.is_sequence() {
        reader.report(wrong_type(name, list, "a list of assertions"));
        return ReadList::default();
    }
    let mut found = ReadList {
        sound: Vec::with_capacity(list.items().len()),
        is_complete: true,
    };
    for item in list.items() {
        match read_entry(reader, item, depth) {
            Some(entry) => found.sound.push(entry),
            None => found.is_complete = false,
        }
    }
    found
}

fn read_entry(reader: &mut Reader<'_>, node: Node<'_>, depth: usize) -> Option<Arc<Assertion>> {
    if let Some(Scalar::Str(_)) = node.scalar() {
        let text = read_outcome(reader, "assert", node)?;
        return Some(Arc::new(rubrics::from_text(text, node.span())));
    }
    if !node.is_mapping() {
        reader.report(wrong_type(
            "assert",
            node,
            "assertions: mappings with `type`, or strings",
        ));
        return None;
    }
    let written = match node.get("type") {
        Some(written) if !written.is_null() => reader.text_of("type", written)?,
        _ => {
            report_missing_type(reader, node);
            return None;
        }
    };
    let written = if written.contains('_') {
        Cow::Owned(written.replace('_', "-"))
    } else {
        written
    };
    let kind = kind_named(&written);
    let tables = [kind.map_or(custom::FIELDS, |kind| kind.fields), COMMON];
    let bound = Bound::new(node, &tables, reader.out);
    let sound = read_common(reader, &bound);
    let is_sound = sound.is_some();
    let mut common = sound.unwrap_or_else(|| CommonOptions::defaults(bound.span(), bound.head()));
    if let Some(kind) = kind {
        if let Some(config) = bound.get("config").filter(|_| !kind.takes_config) {
            reader.report(unused_config(config, kind.name));
        }
        if kind.unknown_keys == UnknownKeys::Warn {
            bound.report_unknown(&tables, reader.out);
        }
    }
    let read = kind.map_or(custom::read as ReadCheck, |kind| kind.read);
    let check = read(&mut Options {
        reader,
        fields: &bound,
        written_type: &written,
        negate: common.negate,
        config: &mut common.config,
        required: &mut common.required,
        required_at: &mut common.required_at,
        depth,
    })?;
    if common.negate {
        for gate in check.gates() {
            reader.report(gate_under_negate(gate, common.head));
        }
    }
    is_sound.then(|| {
        Arc::new(Assertion {
            type_name: kind.map_or_else(
                || Cow::Owned(written.into_owned()),
                |kind| Cow::Borrowed(kind.name),
            ),
            check,
            common,
        })
    })
}

type ReadCheck = fn(&mut Options<'_, '_, '_>) -> Option<Box<dyn Check>>;

fn gate_under_negate(gate: Span, negated: Span) -> Diagnostic {
    Diagnostic::new(
        &GATE_UNDER_NEGATE,
        gate,
        "a gate inside a negated check can be read two ways",
    )
    .related(negated, "this check is negated")
    .help("put `required` on the negated check itself")
}

fn report_missing_type(reader: &mut Reader<'_>, node: Node<'_>) {
    let head = node
        .written_entries()
        .next()
        .map_or(node.span(), |(key, _)| key.span());
    if node.get("include").is_some() {
        reader.report(
            Diagnostic::new(
                &UNSUPPORTED_FEATURE,
                head,
                "`include` in an assert list is not supported",
            )
            .help("write the assertions here, or at the root of the suite for every test"),
        );
        return;
    }
    let found = node.written_entries().find_map(|(key, _)| {
        let name = key.scalar_text()?;
        kind_named(name).map(|kind| (name, kind))
    });
    let help = match found {
        Some((_, kind)) => format!(
            "write `type: {}` and give its options as keys beside it",
            kind.name
        ),
        None => "add `type`; `evalrig explain` lists all types".to_owned(),
    };
    reader.report(Diagnostic::new(&MISSING_TYPE, head, "this assertion has no `type`").help(help));
}

fn read_common(reader: &mut Reader<'_>, bound: &Bound<'_>) -> Option<CommonOptions> {
    let name = bound.get("name").map(|entry| reader.owned_text(&entry));
    let weight = bound.get("weight").map(|entry| read_weight(reader, &entry));
    let required = read_required(reader, bound);
    let negate = bound.get("negate").map(|entry| reader.boolean(&entry));
    let config = bound.get("config").map(|entry| reader.map(&entry));
    let description = bound
        .get("description")
        .map(|entry| reader.owned_text(&entry));
    let head = bound
        .get("name")
        .map_or(bound.head(), |entry| entry.value.span());
    Some(CommonOptions {
        name: absent_or(name)?,
        weight: absent_or(weight)?.unwrap_or_default(),
        required: required?,
        required_at: bound
            .get("required")
            .map_or(head, |entry| entry.value.span()),
        negate: absent_or(negate)?.unwrap_or(false),
        config: absent_or(config)?.unwrap_or_default(),
        description: absent_or(description)?,
        span: bound.span(),
        head,
    })
}

/// `None` only when the option was written and is wrong.
fn absent_or<T>(read: Option<Option<T>>) -> Option<Option<T>> {
    match read {
        None => Some(None),
        Some(None) => None,
        Some(value) => Some(value),
    }
}

/// A finite number that is not negative.
pub(super) fn read_weight(reader: &mut Reader<'_>, entry: &FieldEntry<'_>) -> Option<Weight> {
    let name = entry.field.name;
    let is_number = matches!(
        entry.value.scalar(),
        Some(Scalar::Int(_) | Scalar::Float(_))
    );
    let before = reader.out.len();
    let weight = reader.any_number(name, entry.value).and_then(Weight::new);
    // A variable that is not set has been reported already.
    if weight.is_none() && reader.out.len() == before {
        let diagnostic = if is_number {
            Diagnostic::new(
                &INVALID_WEIGHT,
                entry.value.span(),
                format!(
                    "`{name}` takes a number of at least 0, found {}",
                    entry.value.source_text()
                ),
            )
            .help("use `negate: true` to turn a check round, `weight: 0` to show it uncounted")
        } else {
            wrong_type(name, entry.value, "a number of at least 0")
        };
        reader.report(diagnostic);
    }
    weight
}

/// `required` together with the older `min_score`.
pub(super) fn read_required(reader: &mut Reader<'_>, bound: &Bound<'_>) -> Option<Required> {
    let required = match bound.get("required") {
        Some(entry) => read_gate(reader, &entry)?,
        None => Required::No,
    };
    let Some(min_score) = bound.get("min_score") else {
        return Some(required);
    };
    let least = read_fraction(reader, &min_score)?;
    Some(merge_least(reader, bound, required, &min_score, least))
}

/// A number greater than 0 and at most 1.
pub(super) fn read_fraction(reader: &mut Reader<'_>, entry: &FieldEntry<'_>) -> Option<Number> {
    let (name, node) = (entry.field.name, entry.value);
    let number = reader.number_of(name, node, f64::NEG_INFINITY, f64::INFINITY)?;
    if number.value() > 0.0 && number.value() <= 1.0 {
        return Some(number);
    }
    reader.report(out_of_range(
        name,
        node,
        "a number greater than 0 and at most 1",
    ));
    None
}

/// What `required` means beside `old`, a key whose number says what must be reached.
pub(super) fn merge_least(
    reader: &mut Reader<'_>,
    bound: &Bound<'_>,
    required: Required,
    old: &FieldEntry<'_>,
    least: Number,
) -> Required {
    let (name, place) = (old.field.name, old.key.span());
    match required {
        Required::No => {
            let message = format!("`{name}` has no effect without `required`");
            reader.report(
                Diagnostic::new(&MIN_SCORE_WITHOUT_REQUIRED, place, message)
                    .help(format!("write `required: {least}`")),
            );
            Required::No
        }
        Required::Pass => {
            let message = format!("`{name}` beside `required` is an old spelling");
            let fix = crate::syntax::edit::merge_into(bound, name, "required", least.text());
            reader.report(
                Diagnostic::new(&DEPRECATED_FIELD, place, message)
                    .help(format!("write `required: {least}`"))
                    .fix_if(fix),
            );
            Required::AtLeast(least)
        }
        written @ Required::AtLeast(_) => {
            let message = format!("`{name}` has no effect beside a number in `required`");
            reader.report(
                Diagnostic::new(&MIN_SCORE_WITHOUT_REQUIRED, place, message).help("remove it"),
            );
            written
        }
    }
}

/// A boolean, or a number in (0, 1].
pub(super) fn read_gate(reader: &mut Reader<'_>, entry: &FieldEntry<'_>) -> Option<Required> {
    match entry.value.scalar() {
        Some(Scalar::Bool(true)) => return Some(Required::Pass),
        Some(Scalar::Bool(false)) => return Some(Required::No),
        _ => {}
    }
    let before = reader.out.len();
    if let Some(Scalar::Str(text)) = entry.value.scalar()
        && let Some(Scalar::Bool(gate)) =
            reader.only_a_reference(entry.field.name, entry.value, text)
    {
        return Some(if gate { Required::Pass } else { Required::No });
    }
    let number = reader.any_number(entry.field.name, entry.value);
    if let Some(number) = number.filter(|n| n.value() > 0.0 && n.value() <= 1.0) {
        return Some(Required::AtLeast(number));
    }
    // A variable that is not set has been reported already.
    if reader.out.len() > before {
        return None;
    }
    let message = "`required` takes true, false, or a number greater than 0 and at most 1";
    reader.report(Diagnostic::new(
        &INVALID_REQUIRED,
        entry.value.span(),
        message,
    ));
    None
}

fn unused_config(config: FieldEntry<'_>, kind: &str) -> Diagnostic {
    let message = format!("`{kind}` passes `config` to nobody");
    Diagnostic::new(&UNUSED_CONFIG, config.key.span(), message).help("remove it")
}

/// Gives each assertion its name in the test: the written one, or its type with `-2`, `-3`, … for
/// repeats. Equal written names are reported.
pub(crate) fn place_in_test(
    reader: &mut Reader<'_>,
    list: Vec<Arc<Assertion>>,
) -> Vec<NamedAssertion> {
    name_all(list, |first, second| {
        let message = format!(
            "two checks of this test are named `{}`",
            second.common.name.as_deref().unwrap_or("")
        );
        reader.report(
            Diagnostic::new(&DUPLICATE_ASSERTION_NAME, second.common.head, message)
                .related(first.common.head, "the other one")
                .help("give one of them another name"),
        );
    })
}

/// As [`place_in_test`]; `clash` hears of written names that are equal.
pub(super) fn name_all(
    list: Vec<Arc<Assertion>>,
    mut clash: impl FnMut(&Assertion, &Assertion),
) -> Vec<NamedAssertion> {
    // One check is by far the most common list, and cannot clash.
    if list.len() == 1 {
        return list
            .into_iter()
            .map(|only| NamedAssertion {
                name: own_name(&only),
                assertion: only,
            })
            .collect();
    }
    let mut written: HashMap<&str, &Assertion> = HashMap::new();
    for assertion in &list {
        let Some(name) = &assertion.common.name else {
            continue;
        };
        match written.entry(name) {
            Entry::Occupied(first) => clash(first.get(), assertion),
            Entry::Vacant(place) => {
                place.insert(assertion);
            }
        }
    }
    let mut taken: HashSet<String> = written.into_keys().map(str::to_owned).collect();
    let mut repeats: HashMap<String, usize> = HashMap::new();
    list.into_iter()
        .map(|assertion| {
            let name = match &assertion.common.name {
                Some(_) => own_name(&assertion),
                None => free_name(assertion.type_name.clone(), &mut taken, &mut repeats),
            };
            NamedAssertion { name, assertion }
        })
        .collect()
}

fn own_name(assertion: &Assertion) -> Cow<'static, str> {
    match &assertion.common.name {
        Some(name) => Cow::Owned(name.clone()),
        None => assertion.type_name.clone(),
    }
}

fn free_name(
    base: Cow<'static, str>,
    taken: &mut HashSet<String>,
    repeats: &mut HashMap<String, usize>,
) -> Cow<'static, str> {
    if taken.insert(base.to_string()) {
        return base;
    }
    let repeat = repeats.entry(base.to_string()).or_insert(1);
    loop {
        *repeat += 1;
        let name = format!("{base}-{repeat}");
        if taken.insert(name.clone()) {
            return Cow::Owned(name);
        }
    }
}

/// `unsupported-feature` that stops only the run.
pub(super) fn unsupported_in_run(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(&UNSUPPORTED_FEATURE, span, message).level(Level::BlocksRun)
}
