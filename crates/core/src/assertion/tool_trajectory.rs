//! `tool-trajectory`: which tools were called, in which order and how often.

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::{
    Check, CommonOptions, EvidencePart, GradingContext, Map, Measurement, Step, Value,
};
use crate::reader::{Options, ReadResult, Reported, all_read};
use crate::syntax::fields::{Entry, Field, Shape};

use super::kind::{AssertionKind, EntryContext};
use super::read::AMOUNT;
use super::tool_call::{ARGS_MATCH, ArgsMatch, CALL_SHAPE, ExpectedCall};
use super::tool_names::CalledTools;

declare_codes! {
    EMPTY_TRAJECTORY = "empty-trajectory", Blocking, Assertion, r#"A tool-trajectory does not name any tool in `expected` or `minimums`.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Answers without looking anything up
    input: What is 40 + 2?
    assert:
      - {type: tool-trajectory, expected: []}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Answers without looking anything up
    input: What is 40 + 2?
    assert:
      - {type: tool-trajectory, mode: exact, expected: []}
```

## Why
Every list of calls contains the empty list, so the check could not fail. With `exact` or `subset` an
empty list means that no tool may be called.
"#;
    MINIMUMS_NEEDS_ANY_ORDER = "minimums-needs-any-order", Blocking, Assertion, r#"`minimums` is given with a mode other than `any_order`.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Searches twice
    input: Find it
    assert:
      - type: tool-trajectory
        mode: in_order
        expected: [search, summarize]
        minimums: {search: 2}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Searches twice
    input: Find it
    assert:
      - type: tool-trajectory
        mode: in_order
        expected: [search, summarize]
      - type: tool-trajectory
        minimums: {search: 2}
```

## Why
The number of calls is independent of their order. As a separate check it has a score of its own.
"#;
}

/// Options that describe one call without `expected`.
const SINGLE_CALL: [&str; 3] = ["tool", "args", "max_duration_ms"];

const MINIMUM: Shape = Shape::Integer { min: 1, max: u64::MAX };

static FIELDS: &[Field] = &[
    Field::new(
        "mode",
        Shape::Choice(TrajectoryMode::WORDS),
        "how the calls are compared with `expected`; default `any_order`",
    ),
    Field::new(
        "expected",
        Shape::List(&CALL_SHAPE),
        "the expected calls, each the name of a tool or a mapping",
    ),
    Field::new(
        "minimums",
        Shape::MapOf(&MINIMUM),
        "how often each tool must be called; only with `any_order`",
    ),
    Field::new(
        "args_match",
        ARGS_MATCH,
        "how `args` are compared: `partial` (the default; also `superset`), `exact`, `subset`, \
         `ignore`, or a list of the arguments to compare",
    ),
    Field::new("tool", Shape::NonEmptyText, "short for `expected` with one call"),
    Field::new("args", Shape::Map, "arguments of the call that `tool` names"),
    Field::new("max_duration_ms", AMOUNT, "longest duration of the call that `tool` names"),
];

pub(super) static KIND: AssertionKind = AssertionKind::new(
    "tool-trajectory",
    FIELDS,
    read,
    "The agent called the expected tools. `mode` says how strict the comparison is: `any_order` and
`superset` require every expected call, `in_order` requires them in this order, `exact` requires
exactly these calls, and `subset` allows no others.

```yaml
assert:
  - type: tool-trajectory
    mode: in_order
    expected:
      - search
      - {tool: read_document, args: {id: 7}}
  - type: tool-trajectory
    minimums: {search: 2}
```

A tool may be named as the agent names it, or by a canonical name that fits every agent: `read`, `write`,
`edit`, `run`, `search`, `fetch`, `skill`, `agent` (`evalrig explain tools`). A name for which an agent has
no tool is not measured once that agent has run a command, which may have done the same.

For a single call there is a short form:

```yaml
assert:
  - type: tool-called
    tool: search
    args: {query: rust}
  - type: not-tool-called
    tool: delete_file
```
",
)
.also(&["tool-called"])
.needs_one_of(&["expected", "minimums", "tool"]);

crate::words! {
    /// How calls are compared with the expected ones.
    #[derive(Default)]
    pub(super) enum TrajectoryMode {
        #[default]
        AnyOrder = "any_order",
        InOrder = "in_order",
        Exact = "exact",
        Superset = "superset",
        Subset = "subset",
    }
}

impl TrajectoryMode {
    /// Whether an empty list has a meaning: no tool may be called.
    fn can_forbid_all(self) -> bool {
        matches!(self, Self::Exact | Self::Subset)
    }
}

/// A tool and how often it must be called, at least once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Minimum {
    pub(super) tool: String,
    pub(super) calls: u64,
}

fn read_minimums(options: &mut Options<'_, '_, '_>, entry: &Entry<'_>) -> ReadResult<Vec<Minimum>> {
    if !entry.value.is_mapping() {
        let expected = "a mapping from tools to numbers";
        return Err(options.wrong_type("minimums", entry.value, expected));
    }
    all_read(entry.value.entries().into_iter().map(|(key, value)| {
        let tool = key.scalar_text().ok_or(Reported)?.to_owned();
        let name = format!("minimums.{tool}");
        let calls = options.reader.integer_of(&name, value, 1, u64::MAX);
        let calls = calls.ok_or(Reported)?;
        Ok(Minimum { tool, calls })
    }))
}

fn read(options: &mut Options<'_, '_, '_>, _: &mut EntryContext<'_>) -> ReadResult<Box<dyn Check>> {
    if let (Some(list), Some(single)) =
        (options.get("expected"), SINGLE_CALL.iter().find_map(|name| options.get(name)))
    {
        return Err(options.conflict(&list, &single, "write every call in `expected`"));
    }
    let mode = options.choice("mode");
    let args_match = options.optional("args_match", ArgsMatch::read);
    let default = args_match.clone().ok().flatten().unwrap_or_default();
    let expected = options.list("expected", "a list of tools", |options, item| {
        ExpectedCall::read(options, item, &default)
    });
    let expected = expected.and_then(|expected| match expected {
        None if SINGLE_CALL.iter().any(|name| options.has(name)) => {
            Ok(Some(vec![ExpectedCall::read_mapping(options, &default)?]))
        }
        _ => Ok(expected),
    });
    let minimums = options.optional("minimums", read_minimums);
    let mode: TrajectoryMode = mode?.unwrap_or_default();
    if let Some(entry) = options.get("minimums")
        && mode != TrajectoryMode::AnyOrder
    {
        let message = format!("`minimums` has no effect with `mode: {}`", mode.word());
        return Err(options.report(
            Diagnostic::new(&MINIMUMS_NEEDS_ANY_ORDER, entry.key.span(), message)
                .help("move it to a separate tool-trajectory with `mode: any_order`"),
        ));
    }
    args_match?;
    let (expected, minimums) = (expected?, minimums?.unwrap_or_default());
    let forbids_all = mode.can_forbid_all() && expected.is_some();
    let expected = expected.unwrap_or_default();
    if expected.is_empty() && minimums.is_empty() && !forbids_all {
        return Err(report_empty(options));
    }
    Ok(Box::new(ToolTrajectory { mode, expected, minimums }))
}

fn report_empty(options: &mut Options<'_, '_, '_>) -> Reported {
    let written = options.get("expected").or_else(|| options.get("minimums"));
    let (span, help) = match written {
        Some(entry) => (
            entry.value.span(),
            "name a tool; with `mode: exact` an empty `expected` forbids all calls",
        ),
        None => (options.head(), "add `tool`, `expected` or `minimums`"),
    };
    let message = "this tool-trajectory does not name any tool";
    options.report(Diagnostic::new(&EMPTY_TRAJECTORY, span, message).help(help))
}

/// Without expected calls and minimums, no call is allowed; then the mode is `exact` or `subset`.
#[derive(Debug)]
pub(super) struct ToolTrajectory {
    pub(super) mode: TrajectoryMode,
    pub(super) expected: Vec<ExpectedCall>,
    pub(super) minimums: Vec<Minimum>,
}

impl Check for ToolTrajectory {
    /// The default of `args_match` is part of the calls.
    fn options(&self) -> Map {
        let mut map = Map::new();
        map.insert("mode", self.mode.word());
        if !self.expected.is_empty() || self.minimums.is_empty() {
            let calls: Vec<Value> = self.expected.iter().map(ExpectedCall::to_value).collect();
            map.insert("expected", calls);
        }
        if !self.minimums.is_empty() {
            let minimums: Map = self
                .minimums
                .iter()
                .map(|minimum| (minimum.tool.clone(), minimum.calls.into()))
                .collect();
            map.insert("minimums", minimums);
        }
        map
    }

    fn losses(&self, _: &str) -> Vec<(&'static str, String)> {
        let mut losses = Vec::new();
        if self.mode != TrajectoryMode::InOrder {
            let mode = self.mode.word();
            let message = format!("mode `{mode}` is written as if it were `in_order`");
            losses.push(("trajectory-order", message));
        }
        if self.expected.iter().any(|call| call.args.is_some() || call.max_duration_ms.is_some()) {
            let message = "only the tools of the expected calls are written";
            losses.push(("trajectory-args", message.to_owned()));
        }
        losses
    }

    fn sentences(&self, _: &CommonOptions) -> Vec<String> {
        if self.expected.is_empty() && self.minimums.is_empty() {
            return vec!["Agent called no tools".to_owned()];
        }
        let mut sentences = Vec::new();
        if !self.expected.is_empty() {
            let tools: Vec<&str> = self.expected.iter().map(|call| &*call.tool).collect();
            sentences.push(format!("Agent called tools in order: {}", tools.join(", ")));
        }
        if !self.minimums.is_empty() {
            let minimums: Vec<String> = self
                .minimums
                .iter()
                .map(|minimum| format!("{} ({})", minimum.tool, minimum.calls))
                .collect();
            sentences.push(format!("Agent called tools at least: {}", minimums.join(", ")));
        }
        sentences
    }

    fn parts(&self) -> Vec<EvidencePart> {
        // A subset, and a list without calls, only say which calls are allowed.
        let is_empty = self.expected.is_empty() && self.minimums.is_empty();
        let forbids = self.mode == TrajectoryMode::Subset || is_empty;
        if forbids { Vec::new() } else { vec![EvidencePart::Calls] }
    }

    fn measures(&self) -> Vec<Measurement> {
        vec![Measurement::ToolCalls]
    }

    fn grade(&self, context: &GradingContext<'_>) -> Step {
        let marks = CalledTools::of(context.evidence.transcript);
        let marks = marks.and_then(|called| self.compare(&called));
        marks.map_or_else(Step::from, Step::from)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::read;

    fn names(options: &str) -> Vec<&'static str> {
        read(&format!("- {{type: tool-trajectory, {options}}}")).names()
    }

    #[test]
    fn one_call_has_a_short_form() {
        let short = read("- {type: tool_called, tool: search, args: {q: 1}}");
        let long = "- {type: tool-trajectory, expected: [{tool: search, args: {q: 1}}]}";
        assert_eq!(short.options(), read(long).options());
        assert_eq!(short.only().type_name, "tool-trajectory");
        assert!(!short.only().common.negate);
        assert!(read("- {type: not-tool-called, tool: search}").only().common.negate);
    }

    #[test]
    fn entries_are_texts_or_mappings() {
        let found = read(
            "- type: tool-trajectory\n  mode: in_order\n  args_match: exact\n  expected:\n  - search\n  \
             - {tool: read, args: any}\n  - {tool: read, args: {id: 1.0}}\n  \
             - {tool: sum, args: {a: x}, args_match: [a], max_duration_ms: 50}\n",
        );
        assert_eq!(
            found.options(),
            concat!(
                r#"{"mode":"in_order","expected":[{"tool":"search"},{"tool":"read"},"#,
                r#"{"tool":"read","args":{"id":1.0},"args_match":"exact"},"#,
                r#"{"tool":"sum","args":{"a":"x"},"args_match":["a"],"max_duration_ms":50}]}"#,
            )
        );
        assert_eq!(found.sentences(), ["Agent called tools in order: search, read, read, sum"]);
    }

    #[test]
    fn minimums_have_their_own_sentence() {
        let found = read("- {type: tool-trajectory, minimums: {search: 2, read_document: 3}}");
        assert_eq!(
            found.sentences(),
            ["Agent called tools at least: search (2), read_document (3)"]
        );
        assert_eq!(
            found.options(),
            r#"{"mode":"any_order","minimums":{"search":2,"read_document":3}}"#
        );
    }

    #[test]
    fn an_empty_list_forbids_all_calls_only_where_it_can() {
        let found = read("- {type: tool-trajectory, mode: subset, expected: []}");
        assert_eq!(found.sentences(), ["Agent called no tools"]);
        for mode in ["any_order", "in_order", "superset"] {
            let options = format!("mode: {mode}, expected: []");
            assert_eq!(names(&options), ["empty-trajectory"], "{mode}");
        }
        for mode in ["any_order", "exact", "subset"] {
            assert_eq!(names(&format!("mode: {mode}")), ["empty-trajectory"], "{mode}");
        }
        assert_eq!(names("minimums: {}"), ["empty-trajectory"]);
    }

    #[test]
    fn minimums_go_with_any_order_only() {
        for mode in ["in_order", "exact", "superset", "subset"] {
            let options = format!("mode: {mode}, expected: [a], minimums: {{a: 2}}");
            assert_eq!(names(&options), ["minimums-needs-any-order"], "{mode}");
        }
    }

    #[test]
    fn faults_have_their_names() {
        for (options, name) in [
            ("expected: search", "wrong-type"),
            ("expected: [[search]]", "wrong-type"),
            ("expected: [7]", "wrong-type"),
            ("expected: ['']", "empty-value"),
            ("expected: [{args: {a: 1}}]", "missing-option"),
            ("expected: [{tool: a, args: all}]", "invalid-option"),
            ("expected: [{tool: a, args: [x]}]", "wrong-type"),
            ("expected: [{tool: a, args_match: some}]", "invalid-option"),
            ("expected: [{tool: a, max_duration_ms: -1}]", "out-of-range"),
            ("expected: [{tool: a, arg: {}}]", "unknown-field"),
            ("expected: [a], args_match: 3", "wrong-type"),
            ("expected: [a], mode: ordered", "invalid-option"),
            ("minimums: {a: 0}", "out-of-range"),
            ("minimums: [a]", "wrong-type"),
        ] {
            assert_eq!(names(options), [name], "{options}");
        }
    }

    #[test]
    fn superset_is_another_word_for_partial() {
        let found = read(
            "- {type: tool-trajectory, expected: [{tool: a, args: {}, args_match: superset}]}",
        );
        assert_eq!(
            found.options(),
            r#"{"mode":"any_order","expected":[{"tool":"a","args":{},"args_match":"partial"}]}"#
        );
    }
}
