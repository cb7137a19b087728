//! JSON Schemas of `is-json` (spec 7.12). The only file that knows the validator. Nothing is fetched:
//! a reference leads to a place in the schema itself, or the schema is refused.

use std::sync::Arc;

use camino::Utf8PathBuf;
use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::Value as Json;

use crate::diagnostic::{Diagnostic, Level, declare_codes};
use crate::model::{Fault, FaultKind, Map, SearchTime, Stage, Value};
use crate::reader::{FileUse, Options, ReadResult};
use crate::source::Span;
use crate::syntax::fields::{Entry, Field, Shape, shorten};
use crate::syntax::{lenient_json_value, unreadable};

use super::backtracking::{self, Stopped};
use super::excerpt::excerpt;
use super::pattern::{EstimatedSize, Flags, PATTERNS_TOO_LARGE, SHORTER_PATTERNS};
use super::schema_work::{MOST_VISITS, TooMuchWork, check_scalar, has_references, visits};

declare_codes! {
    INVALID_SCHEMA = "invalid-schema", Blocking, Assertion, r#"The `schema` of a check is not a JSON Schema that can be used.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Answers with a total
    input: What is the total? Answer as JSON.
    assert:
      - type: is-json
        schema: {type: object, required: total}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Answers with a total
    input: What is the total? Answer as JSON.
    assert:
      - type: is-json
        schema: {type: object, required: [total]}
```

## Why
A schema that is wrong accepts too much or too little. Drafts 07 and 2020-12 are known; without `$schema` it is
2020-12. References to other files or addresses are not followed: write their definitions under `$defs`.
"#;
}

pub(super) const SCHEMA: Field = Field::new(
    "schema",
    Shape::OneOf(&[Shape::NonEmptyText, Shape::Map]),
    "JSON Schema that the value must match, or the path of a `.json` file that contains it",
);

const LARGEST: u64 = 1024 * 1024;

/// Violations that are listed; a list of a million wrong items has as many.
const MOST_SHOWN: usize = 20;

/// Of a value that takes more visits of subschemas, only the first violation is looked for: the
/// validator makes a list of all.
const MOST_LISTED_VISITS: u64 = 200_000;
/// Up to this many visits, a validation without patterns and references takes no thread.
const FEW_VISITS: u64 = 50_000;

/// A schema may have many patterns, and an answer many strings.
const BACKTRACK_LIMIT: usize = 100_000;

/// A compiled schema takes about this many times the bytes of its text.
const SIZE_FACTOR: u64 = 32;

/// A schema as the author gave it, ready for use.
#[derive(Debug)]
pub(super) struct JsonSchema {
    written: WrittenSchema,
    /// `None` if its file could not be read, which has been reported.
    content: Option<Arc<SchemaContent>>,
}

#[derive(Debug)]
struct SchemaContent {
    json: Json,
    draft: Draft,
    /// Validations may take long.
    is_costly: bool,
    /// `None` if the suite has so many schemas that this one is compiled when it is used.
    validator: Option<Validator>,
}

#[derive(Debug)]
enum WrittenSchema {
    Inline(Map),
    File { written: String, path: Option<Utf8PathBuf> },
}

pub(super) fn read_schema(options: &mut Options<'_, '_, '_>) -> ReadResult<Option<JsonSchema>> {
    options.optional("schema", |options, entry| {
        if entry.value.is_mapping() {
            let Value::Map(map) = options.reader.value("schema", entry.value) else {
                return Err(options.wrong_type("schema", entry.value, "a mapping, or a path"));
            };
            let content = read_content(options, &Value::Map(map.clone()), entry.key.span())?;
            let written = WrittenSchema::Inline(map);
            return Ok(JsonSchema { written, content: Some(content) });
        }
        read_file(options, entry)
    })
}

fn read_file<'t>(options: &mut Options<'_, '_, 't>, entry: &Entry<'t>) -> ReadResult<JsonSchema> {
    let text = options.full_text_of("schema", entry.value)?;
    let (written, span) = (text.value, text.span);
    let path = options.reader.file(&written, span, FileUse::Prompt);
    let content = match &path {
        Some(path) => match parse_file(options, path, span)? {
            Some(value) => Some(read_content(options, &value, span)?),
            None => None,
        },
        None => None,
    };
    Ok(JsonSchema { written: WrittenSchema::File { written, path }, content })
}

/// `None` if the file cannot be read, which is only an obstacle to running.
fn parse_file(
    options: &mut Options<'_, '_, '_>,
    path: &Utf8PathBuf,
    span: Span,
) -> ReadResult<Option<Value>> {
    let reader = &mut *options.reader;
    let bytes = match reader.world.files.read(path, reader.reach(), LARGEST + 1) {
        Ok(bytes) => bytes,
        Err(error) => {
            let fault = unreadable(span, path, &error).level(Level::BlocksRun);
            options.report(fault);
            return Ok(None);
        }
    };
    // A file that is too large has been reported.
    if bytes.len() as u64 > LARGEST {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(&bytes);
    match lenient_json_value(text.trim_start_matches('\u{feff}')) {
        Ok(value) => Ok(Some(value)),
        Err(fault) => {
            let shown = options.reader.shown(path);
            let message = format!("`{shown}` is not JSON: {}", fault.reason);
            Err(options.report(Diagnostic::new(&INVALID_SCHEMA, span, message)))
        }
    }
}

/// Why a schema cannot be used, and what to do.
struct SchemaFault {
    message: String,
    help: &'static str,
}

impl SchemaFault {
    fn new(message: impl Into<String>, help: &'static str) -> Self {
        Self { message: message.into(), help }
    }
}

fn read_content(
    options: &mut Options<'_, '_, '_>,
    schema: &Value,
    span: Span,
) -> ReadResult<Arc<SchemaContent>> {
    let content = check_content(options, to_json(schema));
    content.map(Arc::new).map_err(|fault| {
        let found = Diagnostic::new(&INVALID_SCHEMA, span, fault.message);
        options.report(found.help(fault.help))
    })
}

fn check_content(
    options: &mut Options<'_, '_, '_>,
    json: Json,
) -> Result<SchemaContent, SchemaFault> {
    let draft = known_draft(&json).map_err(|named| {
        let message = format!("`{}` is not a known draft of JSON Schema", shorten(&named));
        SchemaFault::new(message, "use draft 07 or 2020-12, or remove `$schema`")
    })?;
    if let Some(address) = outside_reference(&json) {
        let message = format!("`$ref` leads out of the schema: `{}`", shorten(&address));
        let help = "copy the definition to `$defs` and write `#/$defs/NAME`";
        return Err(SchemaFault::new(message, help));
    }
    let patterns = size_of_patterns(&json)?;
    let budget = &mut options.reader.patterns;
    if !budget.has_room(patterns.bytes) {
        return Err(SchemaFault::new(PATTERNS_TOO_LARGE, SHORTER_PATTERNS));
    }
    let size = patterns.bytes + SIZE_FACTOR * json.to_string().len() as u64;
    let left = budget.compilable();
    let validator = match left.checked_sub(size) {
        Some(rest) => {
            *left = rest;
            Some(compile(&json, draft)?)
        }
        None => None,
    };
    let has_references = has_references(&json);
    if has_references && check_scalar(&json).is_err() {
        let message = "the schema applies too many subschemas to the same value";
        let help = "remove references that lead back to the same schema, or repeat it many times";
        return Err(SchemaFault::new(message, help));
    }
    let is_costly = has_references || patterns.has_backtracking;
    Ok(SchemaContent { json, draft, is_costly, validator })
}

fn compile(schema: &Json, draft: Draft) -> Result<Validator, SchemaFault> {
    let built = jsonschema::options()
        .with_draft(draft)
        .offline()
        .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_LIMIT))
        .build(schema);
    built.map_err(|error| {
        let place = error.instance_path().to_string();
        let place = if place.is_empty() { "the top".to_owned() } else { format!("`{place}`") };
        let message = format!("not a JSON Schema, at {place}: {}", excerpt(&error.to_string()));
        SchemaFault::new(message, "correct the schema")
    })
}

/// What the patterns of a schema take when they are compiled.
#[derive(Debug, Default)]
struct PatternSizes {
    bytes: u64,
    has_backtracking: bool,
}

fn size_of_patterns(schema: &Json) -> Result<PatternSizes, SchemaFault> {
    let mut found = PatternSizes::default();
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        match value {
            Json::Array(items) => open.extend(items),
            Json::Object(entries) => {
                let names = entries.get("patternProperties").and_then(Json::as_object);
                let names = names.into_iter().flat_map(|names| names.keys().map(String::as_str));
                let pattern = entries.get("pattern").and_then(Json::as_str);
                names.chain(pattern).try_for_each(|pattern| found.add(pattern))?;
                open.extend(entries.values());
            }
            _ => {}
        }
    }
    Ok(found)
}

impl PatternSizes {
    fn add(&mut self, pattern: &str) -> Result<(), SchemaFault> {
        let size = EstimatedSize::of(pattern, Flags::default()).map_err(|fault| {
            let message = format!("the pattern `{}`: {}", excerpt(pattern), fault.reason);
            SchemaFault::new(message, "write shorter repetitions")
        })?;
        let (EstimatedSize::Linear(bytes) | EstimatedSize::Backtracking(bytes)) = size;
        self.bytes = self.bytes.saturating_add(bytes);
        self.has_backtracking |= matches!(size, EstimatedSize::Backtracking(_));
        Ok(())
    }
}

/// The draft that the schema names, or the newest.
fn known_draft(schema: &Json) -> Result<Draft, String> {
    let Some(named) = schema.get("$schema") else {
        return Ok(Draft::Draft202012);
    };
    let address = named.as_str().unwrap_or_default();
    match address.trim_end_matches('#') {
        "http://json-schema.org/draft-07/schema" | "https://json-schema.org/draft-07/schema" => {
            Ok(Draft::Draft7)
        }
        "https://json-schema.org/draft/2020-12/schema" => Ok(Draft::Draft202012),
        _ => Err(named.as_str().map_or_else(|| named.to_string(), str::to_owned)),
    }
}

/// A reference to another document. One that has an `$id` in the schema is left to the validator.
fn outside_reference(schema: &Json) -> Option<String> {
    let mut open = vec![schema];
    let (mut ids, mut references) = (Vec::new(), Vec::new());
    while let Some(value) = open.pop() {
        match value {
            Json::Array(items) => open.extend(items),
            Json::Object(entries) => {
                let text = |key: &str| entries.get(key).and_then(Json::as_str);
                ids.extend(text("$id"));
                references.extend(["$ref", "$dynamicRef"].into_iter().filter_map(text));
                open.extend(entries.values());
            }
            _ => {}
        }
    }
    let is_outside = |reference: &&str| {
        let document = reference.split('#').next().unwrap_or_default();
        !document.is_empty() && !ids.iter().any(|id| id.trim_end_matches('#').ends_with(document))
    };
    references.into_iter().find(is_outside).map(str::to_owned)
}

impl JsonSchema {
    pub(super) fn to_value(&self) -> Value {
        match &self.written {
            WrittenSchema::Inline(map) => map.clone().into(),
            WrittenSchema::File { written, .. } => written.as_str().into(),
        }
    }

    /// The file that holds it, which must not change while a suite runs.
    pub(super) fn path(&self) -> Option<Utf8PathBuf> {
        match &self.written {
            WrittenSchema::Inline(_) => None,
            WrittenSchema::File { path, .. } => path.clone(),
        }
    }

    /// The end of sentences.
    pub(super) fn shown(&self) -> String {
        match &self.written {
            WrittenSchema::Inline(_) => "the schema".to_owned(),
            WrittenSchema::File { written, .. } => format!("the schema {written}"),
        }
    }

    /// Pointer and description of the first violations.
    pub(super) fn violations(
        &self,
        value: &Value,
        time: &SearchTime,
    ) -> Result<Vec<String>, Fault> {
        let fault = |kind, message| Fault::new(Stage::Measure, kind, message);
        let Some(content) = &self.content else {
            let message = format!("{} could not be read", self.shown());
            return Err(fault(FaultKind::Io, message));
        };
        content.violations(to_json(value), time).map_err(|stopped| {
            let message = match stopped {
                UncheckedValue::Invalid(reason) => format!("{}: {reason}", self.shown()),
                UncheckedValue::Stopped(Stopped::Steps) => {
                    format!("{} takes more than {MOST_VISITS} steps on this value", self.shown())
                }
                UncheckedValue::Stopped(Stopped::Time) => backtracking::out_of_time(&self.shown()),
            };
            fault(FaultKind::Limit, message)
        })
    }
}

/// Why a value was not validated.
#[derive(Debug)]
enum UncheckedValue {
    Invalid(String),
    Stopped(Stopped),
}

impl From<TooMuchWork> for UncheckedValue {
    fn from(_: TooMuchWork) -> Self {
        Self::Stopped(Stopped::Steps)
    }
}

impl SchemaContent {
    fn violations(
        self: &Arc<Self>,
        value: Json,
        time: &SearchTime,
    ) -> Result<Vec<String>, UncheckedValue> {
        if !self.is_costly {
            let work = visits(&self.json, &value)?;
            if work <= FEW_VISITS {
                return self.validate(&value, work);
            }
        }
        let content = Arc::clone(self);
        let found = backtracking::in_time(time, backtracking::LARGE_STACK, move || {
            Ok(match visits(&content.json, &value) {
                Ok(work) => content.validate(&value, work),
                Err(too_much) => Err(too_much.into()),
            })
        });
        found.map_err(UncheckedValue::Stopped)?
    }

    fn validate(&self, value: &Json, work: u64) -> Result<Vec<String>, UncheckedValue> {
        match &self.validator {
            Some(validator) => Ok(listed_violations(validator, value, work)),
            None => match compile(&self.json, self.draft) {
                Ok(validator) => Ok(listed_violations(&validator, value, work)),
                Err(fault) => Err(UncheckedValue::Invalid(fault.message)),
            },
        }
    }
}

fn listed_violations(validator: &Validator, value: &Json, work: u64) -> Vec<String> {
    // This is much faster than looking for violations.
    if validator.is_valid(value) {
        return Vec::new();
    }
    let shown = |error: &ValidationError<'_>| {
        let place = error.instance_path().to_string();
        let place = if place.is_empty() { "the top".to_owned() } else { place };
        format!("at {}: {}", excerpt(&place), excerpt(&error.to_string()))
    };
    if work > MOST_LISTED_VISITS {
        let first = validator.validate(value).err();
        return first.iter().map(shown).chain(["and maybe more".to_owned()]).collect();
    }
    let mut errors = validator.iter_errors(value);
    let mut found: Vec<String> = errors.by_ref().take(MOST_SHOWN).map(|one| shown(&one)).collect();
    if errors.next().is_some() {
        found.push("and more".to_owned());
    }
    found
}

fn to_json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Number(number) => {
            let exact = serde_json::from_str(number.text()).ok();
            let nearest = || serde_json::Number::from_f64(number.value());
            Json::Number(exact.or_else(nearest).unwrap_or_else(|| 0.into()))
        }
        Value::String(text) => Json::String(text.clone()),
        Value::List(items) => Json::Array(items.iter().map(to_json).collect()),
        Value::Map(map) => {
            Json::Object(map.iter().map(|(key, value)| (key.to_owned(), to_json(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Trial, marks, read, read_with};
    use crate::model::{FaultKind, Transcript};
    use crate::source::MemoryFiles;

    const ORDER: &str = "{type: object, required: [total], properties: {total: {type: number}, \
                         lines: {type: array, items: {type: string, maxLength: 2}}}}";

    fn check(schema: &str) -> String {
        format!("{{type: is-json, schema: {schema}}}")
    }

    #[test]
    fn a_valid_value_is_a_hit() {
        let found = marks(&check(ORDER), r#"{"total": 1.5, "lines": ["ab"]}"#);
        assert_eq!(found.score.value(), 1.0);
        assert_eq!(found.hits, ["Output is valid JSON that matches the schema"]);
    }

    #[test]
    fn every_violation_is_a_miss_with_its_pointer() {
        let found = marks(&check(ORDER), r#"{"total": "x", "lines": ["ab", "abc"]}"#);
        assert_eq!(found.score.value(), 0.0);
        assert_eq!(
            found.misses,
            [
                "Output does not match the schema at /total: \"x\" is not of type \"number\"",
                "Output does not match the schema at /lines/1: \"abc\" is longer than 2 characters",
            ]
        );
        let found = marks(&check(ORDER), "{}");
        assert_eq!(
            found.misses,
            ["Output does not match the schema at the top: \"total\" is a required property"]
        );
        let found = marks(&check(ORDER), "oops");
        assert_eq!(
            found.misses,
            ["Output is not valid JSON: expected a JSON value at line 1, column 1"]
        );
    }

    #[test]
    fn a_million_violations_are_not_listed() {
        let many = format!("[{}]", vec!["1"; 1000].join(","));
        let found = marks(&check("{items: {type: string}}"), &many);
        assert_eq!(found.misses.len(), 21);
        assert_eq!(found.misses[20], "Output does not match the schema and more");
        let long = format!("\"{}\"", "x".repeat(100_000));
        let found = marks(&check("{type: number}"), &long);
        assert!(found.misses[0].len() < 400, "{}", found.misses[0].len());
    }

    #[test]
    fn schemas_that_cannot_be_used_are_marked() {
        for schema in [
            "{type: object, required: total}",
            "{type: thing}",
            "{pattern: '('}",
            "{$schema: 'http://json-schema.org/draft-04/schema#'}",
            "{$ref: 'https://example.org/schema.json'}",
            "{$ref: other.json}",
            "{$ref: '#/$defs/none'}",
            "{properties: {a: {$ref: 'file:///etc/passwd'}}}",
        ] {
            let found = read(&format!("- {}", check(schema)));
            assert_eq!(found.names(), ["invalid-schema"], "{schema}");
        }
        assert_eq!(read("- {type: is-json, schema: 3}").names(), ["wrong-type"]);
    }

    #[test]
    fn both_drafts_and_references_inside_are_known() {
        for schema in [
            "{$schema: 'http://json-schema.org/draft-07/schema#', items: [{type: number}]}",
            "{$schema: 'https://json-schema.org/draft/2020-12/schema', prefixItems: [{type: number}]}",
            "{$defs: {n: {type: number}}, prefixItems: [{$ref: '#/$defs/n'}]}",
            "{$id: 'https://example.org/a', $defs: {n: {$id: n, type: number}}, prefixItems: [{$ref: n}]}",
        ] {
            assert_eq!(marks(&check(schema), "[1]").score.value(), 1.0, "{schema}");
            assert_eq!(marks(&check(schema), "[\"a\"]").score.value(), 0.0, "{schema}");
        }
    }

    #[test]
    fn schemas_that_refer_to_themselves_end() {
        for schema in [
            "{$ref: '#'}",
            "{allOf: [{$ref: '#'}]}",
            "{$defs: {a: {$ref: '#/$defs/b'}, b: {$ref: '#/$defs/a'}}, $ref: '#/$defs/a'}",
            "{$defs: {t: {properties: {next: {$ref: '#/$defs/t'}}, type: object}}, $ref: '#/$defs/t'}",
        ] {
            let snippet = read(&format!("- {}", check(schema)));
            if snippet.names().is_empty() {
                marks(&check(schema), r#"{"next": {"next": {}}}"#);
            }
        }
    }

    #[test]
    fn work_that_grows_without_bounds_is_refused_or_a_fault() {
        let mut definitions = "d0: {type: object}".to_owned();
        for number in 1..40 {
            let below = number - 1;
            let item = format!("{{$ref: '#/$defs/d{below}'}}");
            definitions.push_str(&format!(", d{number}: {{allOf: [{item}, {item}]}}"));
        }
        let doubled = format!("{{$defs: {{{definitions}}}, $ref: '#/$defs/d39'}}");
        assert_eq!(read(&format!("- {}", check(&doubled))).names(), ["invalid-schema"]);

        let items = "{items: {$ref: '#/$defs/n'}}";
        let nested = format!("{{$defs: {{n: {{allOf: [{items}, {items}]}}}}, $ref: '#/$defs/n'}}");
        assert_eq!(marks(&check(&nested), "[[[]]]").score.value(), 1.0);
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        let fault =
            Trial::new(&format!("- {}", check(&nested)), Transcript::of_text(&deep)).fault();
        assert_eq!(
            (fault.kind, fault.message.as_str()),
            (FaultKind::Limit, "the schema takes more than 2000000 steps on this value")
        );
    }

    #[test]
    fn large_patterns_are_refused_and_many_are_not_compiled_at_load() {
        let schema = |pattern: &str| check(&format!("{{pattern: '{pattern}'}}"));
        let large = read(&format!("- {}", schema(r"\w{1000}{1000}")));
        assert_eq!(large.names(), ["invalid-schema"]);
        assert!(large.messages()[0].contains("takes more than 32 MiB"), "{:?}", large.messages());
        // Of the patterns of one test.
        let many = |count: usize| {
            let one =
                |at: usize| format!("- {}\n", schema(&format!(r"[\p{{L}}\p{{N}}]{{100}}{at}")));
            (0..count).map(one).collect::<String>()
        };
        assert_eq!(read(&many(5)).names(), [""; 0]);
        assert!(read(&many(40)).names().contains(&"invalid-schema"));
    }

    #[test]
    fn behind_the_budget_a_schema_is_compiled_when_it_is_used() {
        let late = |json: serde_json::Value| {
            let draft = super::Draft::Draft202012;
            let content = super::SchemaContent { json, draft, is_costly: false, validator: None };
            let time = crate::model::SearchTime::of_one_search();
            std::sync::Arc::new(content).violations(serde_json::json!("b"), &time)
        };
        assert!(late(serde_json::json!({"pattern": "b"})).unwrap().is_empty());
        assert_eq!(late(serde_json::json!({"pattern": "a"})).unwrap().len(), 1);
        let fault = late(serde_json::json!({"pattern": "("})).unwrap_err();
        assert!(matches!(fault, super::UncheckedValue::Invalid(_)), "{fault:?}");
    }

    #[test]
    fn a_schema_file_is_read_and_must_be_json() {
        let yaml = "- {type: is-json, schema: schemas/order.json}";
        let with = |text: &str| MemoryFiles::new().with("/p/schemas/order.json", text);
        let files = with(r#"{"type": "array"}"#);
        let found = read_with(files.clone(), yaml);
        assert_eq!(found.names(), [""; 0]);
        assert_eq!(found.options(), r#"{"allow_fences":false,"schema":"schemas/order.json"}"#);
        assert_eq!(
            found.sentences(),
            ["Output is valid JSON that matches the schema schemas/order.json"]
        );
        assert_eq!(found.only().check.script_files(), ["/p/schemas/order.json"]);
        let trial = Trial::with_files(files, yaml, Transcript::of_text("[]"));
        assert_eq!(trial.marks().score.value(), 1.0);
        assert_eq!(read_with(with("{"), yaml).names(), ["invalid-schema"]);
        assert_eq!(read_with(with("[]"), yaml).names(), ["invalid-schema"]);
    }

    #[test]
    fn a_schema_file_that_does_not_exist_makes_a_fault() {
        let yaml = "- {type: is-json, schema: none.json}";
        assert_eq!(read(yaml).names(), ["file-not-found"]);
        let fault = Trial::new(yaml, Transcript::of_text("[]")).fault();
        assert_eq!(fault.kind, FaultKind::Io);
    }
}
