//! Reads assert lists and names the assertions of a test.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::diagnostic::{Code, Diagnostic, Level};
use crate::model::{Assertion, CommonOptions, NamedAssertion, Number, Required, Weight};
use crate::reader::{Options, ReadResult, Reader, Reported, out_of_range, wrong_type};
use crate::source::Span;
use crate::syntax::fields::{
    Bound, CONFLICTING_FIELDS, DEPRECATED_FIELD, Entry as FieldEntry, Field, Shape,
    UNSUPPORTED_FEATURE,
};
use crate::syntax::{Node, Scalar};

use super::codes::{
    DUPLICATE_ASSERTION_NAME, GATE_UNDER_NEGATE, INVALID_REQUIRED, INVALID_WEIGHT,
    MIN_SCORE_WITHOUT_REQUIRED, MISSING_TYPE, UNUSED_CONFIG,
};
use super::kind::{AssertionKind, EntryContext, ReadCheck, UnknownKeys};
use super::rubric_items::read_outcome;
use super::subject::read_file_option;
use super::{custom, kind_named, rubrics};

/// Any number that is not negative.
pub(super) const AMOUNT: Shape = Shape::Number { min: 0.0, max: f64::MAX };

/// Any integer that is not negative.
pub(super) const COUNT: Shape = Shape::Integer { min: 0, max: u64::MAX };

/// Options of every type.
pub static COMMON: &[Field] = &[
    Field::new("type", Shape::NonEmptyText, "the assertion type").required(),
    Field::new("name", Shape::Text, "key in the results; default: the type"),
    Field::new("weight", AMOUNT, "weight in the score; default 1"),
    Field::new(
        "required",
        Shape::OneOf(&[Shape::Boolean, Shape::PositiveFraction]),
        "a gate: missing it fails the test; a number is the score to reach",
    ),
    Field::new("min_score", Shape::PositiveFraction, "old form of a number in `required`"),
    Field::new("negate", Shape::Boolean, "inverts the check; default false"),
    Field::new("config", Shape::Map, "settings passed to scripts and judges"),
    Field::new("description", Shape::Text, "for readers, and for the exported sentence"),
];

/// The assertions of a list.
#[derive(Debug, Default)]
pub(crate) struct ReadList {
    /// In written order, without the invalid entries, which have been reported.
    pub(crate) valid: Vec<Arc<Assertion>>,
    pub(crate) is_complete: bool,
}

/// Every entry of a list, if all are valid.
pub(crate) fn read_list(
    reader: &mut Reader<'_>,
    name: &str,
    list: Node<'_>,
    depth: usize,
) -> ReadResult<Vec<Arc<Assertion>>> {
    let found = read_entries(reader, name, list, depth);
    if found.is_complete { Ok(found.valid) } else { Err(Reported) }
}

/// Every valid entry of a list, so that faults that only show in a test are found in these too.
pub(crate) fn read_entries(
    reader: &mut Reader<'_>,
    name: &str,
    list: Node<'_>,
    depth: usize,
) -> ReadList {
    if !list.is_sequence() {
        report_no_list(reader, name, list);
        return ReadList::default();
    }
    let mut found = ReadList { valid: Vec::with_capacity(list.items().len()), is_complete: true };
    for item in list.items() {
        match read_entry(reader, item, depth) {
            Ok(entry) => found.valid.push(Arc::new(entry)),
            Err(Reported) => found.is_complete = false,
        }
    }
    found
}

fn read_entry(reader: &mut Reader<'_>, node: Node<'_>, depth: usize) -> ReadResult<Assertion> {
    if let Some(Scalar::Str(_)) = node.scalar() {
        let text = read_outcome(reader, "assert", node)?;
        return Ok(rubrics::from_text(text, node.span()));
    }
    if !node.is_mapping() {
        let expected = "assertions: mappings with `type`, or strings";
        reader.report(wrong_type("assert", node, expected));
        return Err(Reported);
    }
    let written = match node.get("type") {
        Some(written) if !written.is_null() => reader.text_of("type", written).ok_or(Reported)?,
        _ => return Err(report_missing_type(reader, node)),
    };
    let written =
        if written.contains('_') { Cow::Owned(written.replace('_', "-")) } else { written };
    let (written, is_negated) = match negated_type(&written) {
        Some(name) => (Cow::Borrowed(name), true),
        None => (Cow::Borrowed(&*written), false),
    };
    let kind = kind_named(&written);
    let tables = [kind.map_or(custom::FIELDS, |kind| kind.fields), COMMON];
    let bound = Bound::new(node, &tables, reader.out);
    let mut options = Options { reader, fields: &bound, owner: &written };
    let common = read_common(&mut options);
    let is_valid = common.is_ok();
    let mut common =
        common.unwrap_or_else(|Reported| CommonOptions::defaults(bound.span(), bound.head()));
    if is_negated {
        if let Some(negate) = options.get("negate") {
            return Err(options.report(negated_twice(&written, negate.key.span())));
        }
        common.negate = true;
    }
    if let Some(kind) = kind {
        if let Some(config) = bound.get("config").filter(|_| !kind.takes_config) {
            options.report(unused_config(config, kind.name));
        }
        if kind.unknown_keys == UnknownKeys::Warn {
            bound.report_unknown(&tables, options.reader.out);
        }
    }
    let read = kind.map_or(custom::read as ReadCheck, |kind| kind.read);
    let mut context = EntryContext { common: &mut common, depth };
    let check = read(&mut options, &mut context)?;
    if common.negate {
        for gate in check.gates() {
            options.report(gate_under_negate(gate, common.head));
        }
    }
    if !is_valid {
        return Err(Reported);
    }
    Ok(Assertion {
        type_name: match kind {
            Some(kind) => Cow::Borrowed(kind.name),
            None => Cow::Owned(written.into_owned()),
        },
        check,
        common,
    })
}

/// `contains` for `not-contains`. A custom type may begin with `not-` as well.
fn negated_type(written: &str) -> Option<&str> {
    written.strip_prefix("not-").filter(|name| kind_named(name).is_some())
}

fn negated_twice(name: &str, place: Span) -> Diagnostic {
    let message = format!("`type: not-{name}` negates the check already");
    Diagnostic::new(&CONFLICTING_FIELDS, place, message)
        .help(format!("remove `negate`, or write `type: {name}`"))
}

fn gate_under_negate(gate: Span, negated: Span) -> Diagnostic {
    Diagnostic::new(&GATE_UNDER_NEGATE, gate, "a gate inside a negated check is ambiguous")
        .related(negated, "this check is negated")
        .help("put `required` on the negated check itself")
}

fn report_missing_type(reader: &mut Reader<'_>, node: Node<'_>) -> Reported {
    let head = node.written_entries().next().map_or(node.span(), |(key, _)| key.span());
    if node.get("include").is_some() {
        reader.report(
            Diagnostic::new(
                &UNSUPPORTED_FEATURE,
                head,
                "`include` in an assert list is not supported",
            )
            .help("write the assertions here, or at the root of the suite for every test"),
        );
        return Reported;
    }
    let help = match type_used_as_key(node) {
        Some(kind) => format!("write {}", entry_form(kind)),
        None => "add `type`; `evalrig explain` lists all types".to_owned(),
    };
    reader.report(Diagnostic::new(&MISSING_TYPE, head, "this assertion has no `type`").help(help));
    Reported
}

/// Many tools write `contains: text` for what is `type: contains` here.
fn type_used_as_key(node: Node<'_>) -> Option<&'static AssertionKind> {
    let mut keys = node.written_entries().map(|(key, _)| key);
    keys.find_map(|key| kind_named(key.scalar_text()?))
}

/// The shortest entry of a type, with the option that it needs.
fn entry_form(kind: &AssertionKind) -> String {
    let required = kind.fields.iter().find(|field| field.required).map(|field| field.name);
    match required.or_else(|| kind.needs_one_of.first().copied()) {
        Some(option) => format!("`- {{type: {}, {option}: …}}`", kind.name),
        None => format!("`- type: {}`", kind.name),
    }
}

fn report_no_list(reader: &mut Reader<'_>, name: &str, found: Node<'_>) {
    let help = match type_used_as_key(found) {
        _ if found.get("type").is_some() => "begin each assertion with `- `".to_owned(),
        Some(kind) => format!("write a list: {}", entry_form(kind)),
        None => format!("write a list: {}", entry_form(&super::contains::CONTAINS)),
    };
    reader.report(wrong_type(name, found, "a list of assertions").help(help));
}

fn read_common(options: &mut Options<'_, '_, '_>) -> ReadResult<CommonOptions> {
    let name = options.text("name");
    let weight = options.optional("weight", read_weight);
    let required = read_required(options);
    let negate = options.boolean("negate");
    let config = options.map("config");
    let description = options.text("description");
    let file = read_file_option(options);
    let span_of = |name: &str| options.get(name).map(|entry| entry.value.span());
    let head = span_of("name").unwrap_or(options.head());
    Ok(CommonOptions {
        name: name?.map(|name| name.value),
        weight: weight?.unwrap_or_default(),
        required: required?,
        required_at: span_of("required").unwrap_or(head),
        negate: negate?.unwrap_or(false),
        config: config?.unwrap_or_default(),
        file: file?,
        description: description?.map(|description| description.value),
        span: options.fields.span(),
        head,
    })
}

/// A finite number that is not negative.
pub(super) fn read_weight(
    options: &mut Options<'_, '_, '_>,
    entry: &FieldEntry<'_>,
) -> ReadResult<Weight> {
    let (name, node) = (entry.field.name, entry.value);
    let reader = &mut *options.reader;
    let before = reader.out.len();
    if let Some(weight) = reader.any_number(name, node).and_then(Weight::new) {
        return Ok(weight);
    }
    // An unset variable has already been reported.
    if reader.out.len() == before {
        let expected = "a number of at least 0";
        reader.report(match node.scalar() {
            Some(Scalar::Int(_) | Scalar::Float(_)) => {
                let found = node.source_text();
                let message = format!("`{name}` takes {expected}, found {found}");
                Diagnostic::new(&INVALID_WEIGHT, node.span(), message).help(
                    "use `negate: true` to invert a check, `weight: 0` to show it without counting it",
                )
            }
            _ => wrong_type(name, node, expected),
        });
    }
    Err(Reported)
}

/// `required` together with the older `min_score`.
pub(super) fn read_required(options: &mut Options<'_, '_, '_>) -> ReadResult<Required> {
    let required = options.optional("required", read_gate)?.unwrap_or_default();
    let Some(min_score) = options.get("min_score") else {
        return Ok(required);
    };
    let least = read_fraction(options, &min_score)?;
    Ok(merge_min_score(options, required, &min_score, least))
}

/// A number greater than 0 and at most 1.
pub(super) fn read_fraction(
    options: &mut Options<'_, '_, '_>,
    entry: &FieldEntry<'_>,
) -> ReadResult<Number> {
    let (name, node) = (entry.field.name, entry.value);
    let (least, most) = (f64::NEG_INFINITY, f64::INFINITY);
    let number = options.reader.number_of(name, node, least, most);
    let number = number.ok_or(Reported)?;
    if is_fraction(&number) {
        return Ok(number);
    }
    let expected = "a number greater than 0 and at most 1";
    Err(options.report(out_of_range(name, node, expected)))
}

fn is_fraction(number: &Number) -> bool {
    number.value() > 0.0 && number.value() <= 1.0
}

/// `required` beside `old`, a key whose number is the score to reach.
pub(super) fn merge_min_score(
    options: &mut Options<'_, '_, '_>,
    required: Required,
    old: &FieldEntry<'_>,
    least: Number,
) -> Required {
    let (name, place) = (old.field.name, old.key.span());
    match required {
        Required::No => {
            let message = format!("`{name}` has no effect without `required`");
            options.report(
                Diagnostic::new(&MIN_SCORE_WITHOUT_REQUIRED, place, message)
                    .help(format!("write `required: {least}`")),
            );
            Required::No
        }
        Required::Pass => {
            let message = format!("`{name}` beside `required` is an old spelling");
            let fields = options.fields;
            let fix = crate::syntax::edit::merge_into(fields, name, "required", least.text());
            options.report(
                Diagnostic::new(&DEPRECATED_FIELD, place, message)
                    .help(format!("write `required: {least}`"))
                    .fix_if(fix),
            );
            Required::AtLeast(least)
        }
        written @ Required::AtLeast(_) => {
            let message = format!("`{name}` has no effect beside a number in `required`");
            options.report(
                Diagnostic::new(&MIN_SCORE_WITHOUT_REQUIRED, place, message).help("remove it"),
            );
            written
        }
    }
}

/// A boolean, or a number in (0, 1].
fn read_gate(options: &mut Options<'_, '_, '_>, entry: &FieldEntry<'_>) -> ReadResult<Required> {
    let (name, node) = (entry.field.name, entry.value);
    let reader = &mut *options.reader;
    let before = reader.out.len();
    match reader.any_boolean(name, node) {
        Some(true) => return Ok(Required::Pass),
        Some(false) => return Ok(Required::No),
        None => {}
    }
    if let Some(number) = reader.any_number(name, node).filter(is_fraction) {
        return Ok(Required::AtLeast(number));
    }
    // An unset variable has already been reported.
    if reader.out.len() == before {
        let message = "`required` takes true, false, or a number greater than 0 and at most 1";
        reader.report(Diagnostic::new(&INVALID_REQUIRED, node.span(), message));
    }
    Err(Reported)
}

fn unused_config(config: FieldEntry<'_>, kind: &str) -> Diagnostic {
    let message = format!("`config` has no effect on `{kind}`");
    Diagnostic::new(&UNUSED_CONFIG, config.key.span(), message).help("remove it")
}

/// Names each assertion of a test: the written name, or the type with `-2`, `-3`, … for repeats.
/// Reports duplicate written names.
pub(crate) fn name_in_test(
    reader: &mut Reader<'_>,
    list: Vec<Arc<Assertion>>,
) -> Vec<NamedAssertion> {
    name_all(list, |first, second| {
        let headline = "two checks of this test are named";
        reader.report(same_name(&DUPLICATE_ASSERTION_NAME, headline, first, second));
    })
}

/// Two assertions of a list have the same written name, which completes the headline.
pub(super) fn same_name(
    code: &'static Code,
    headline: &str,
    first: &Assertion,
    second: &Assertion,
) -> Diagnostic {
    let name = second.common.name.as_deref().unwrap_or("");
    Diagnostic::new(code, second.common.head, format!("{headline} `{name}`"))
        .related(first.common.head, "the other one")
        .help("rename one of them")
}

/// As [`name_in_test`]; calls `clash` for duplicate written names.
pub(super) fn name_all(
    list: Vec<Arc<Assertion>>,
    mut clash: impl FnMut(&Assertion, &Assertion),
) -> Vec<NamedAssertion> {
    // Most lists have one entry, which cannot clash.
    if list.len() == 1 {
        return list
            .into_iter()
            .map(|only| NamedAssertion { name: own_name(&only), assertion: only })
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

/// `unsupported-feature` that only blocks running.
pub(super) fn unsupported_in_run(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(&UNSUPPORTED_FEATURE, span, message).level(Level::BlocksRun)
}

#[cfg(test)]
mod tests {
    use super::super::testing::read;

    fn help(yaml: &str) -> String {
        let found = read(yaml);
        assert_eq!(found.diagnostics.len(), 1, "{yaml}");
        found.diagnostics[0].help.clone().unwrap_or_default()
    }

    #[test]
    fn a_type_used_as_a_key_is_shown_as_an_entry() {
        assert_eq!(help("- contains: yes"), "write `- {type: contains, value: …}`");
        assert_eq!(help("{contains: \"2\"}"), "write a list: `- {type: contains, value: …}`");
        assert_eq!(help("- is-json: true"), "write `- type: is-json`");
        assert_eq!(help("- tool_called: search"), "write `- {type: tool-trajectory, expected: …}`");
        assert_eq!(help("- nothing: 1"), "add `type`; `evalrig explain` lists all types");
        assert_eq!(help("{type: contains, value: x}"), "begin each assertion with `- `");
        assert_eq!(help("3"), "write a list: `- {type: contains, value: …}`");
    }
}
