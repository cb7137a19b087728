//! One test (spec 3.2).

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use crate::assertion::{
    ZERO_WEIGHT, assertion_from_criteria, assertion_from_items, faults_in_test, name_in_test,
    read_entries, read_items,
};
use crate::diagnostic::{Diagnostic, Level, declare_codes};
use crate::model::{Assertion, Expected, Map, Message, Skip, Test, TestId, TestView, Value};
use crate::reader::{Reader, Reported, TestVars, short_span, wrong_type};
use crate::source::{Position, Span};
use crate::syntax::fields::{
    Bound, Entry, Field, Shape, UNSUPPORTED_FEATURE, WRONG_TYPE, unknown_field,
};
use crate::syntax::{Node, Scalar, resolve_plain};

use super::execution::{
    ALLOW_EMPTY, ON_TIMEOUT, ReadExecution, STOP_ON_TRIGGER, TRIALS, read_endings, read_execution,
    read_trials,
};
use super::expected::read_expected;
use super::identity::{DUPLICATE_ID, IdPlace, LineId, duplicate_id, read_id};
use super::inherited_defaults::InheritedDefaults;
use super::input::{read_test_input, stand_in};
use super::loader::{IdRegistry, Loader};
use super::metadata::{merge, read_metadata};
use super::workspace::WorkspaceLayer;

declare_codes! {
    MISSING_CRITERIA = "missing-criteria", Error, Conformance, r#"A test does not say in words what counts as success. Its assertions are still graded.

## Example
```yaml
name: demo
tests:
  - id: a
    input: Hi
    assert:
      - {type: contains, value: Hello}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Greets the user
    input: Hi
    assert:
      - {type: contains, value: Hello}
```

## Why
The format requires it: judges use it, and it explains a failed test to its readers.
"#;
    NOTHING_TO_GRADE = "nothing-to-grade", Error, Conformance, r#"A test has neither `criteria` nor `rubrics` nor an assertion, its own or inherited. It is run and
recorded, with the outcome `skipped`.

## Example
```yaml
name: demo
tests:
  - {id: a, input: Hi}
```

## Instead
```yaml
name: demo
tests:
  - {id: a, criteria: Greets the user, input: Hi}
```

## Why
A test that checks nothing must not count as passed.
"#;
}

pub static TEST_FIELDS: &[Field] = &[
    Field::new(
        "id",
        Shape::OneOf(&[Shape::NonEmptyText, Shape::Integer { min: 0, max: u64::MAX }]),
        "name of the test, unique in the suite",
    )
    .required(),
    Field::new("criteria", Shape::Text, "what counts as success, in words")
        .old(&["expected_outcome"])
        .expected_as(&["criterion", "goal", "success"]),
    Field::new("input", Shape::Ref("input"), "what is sent to the agent")
        .old(&["input_messages"])
        .expected_as(&["prompt", "question", "query", "messages"]),
    Field::new("expected_output", Shape::Ref("expected-output"), "reference output")
        .old(&["expected_messages"])
        .expected_as(&["expected", "ideal", "reference", "golden", "answer"]),
    Field::new("assert", Shape::Ref("assertion-list"), "checks of the output")
        .old(&["assertions", "evaluators"])
        .expected_as(&["assertion", "evaluator", "checks", "graders", "expect"]),
    Field::new("rubrics", Shape::Ref("rubric-items"), "checks answered by a judge"),
    Field::new("input_files", Shape::List(&Shape::Text), "files attached to a string `input`"),
    Field::new("execution", Shape::Ref("execution"), "settings that override those of the suite"),
    Field::new("description", Shape::Text, "a description for readers; not graded"),
    Field::new("conversation_id", Shape::Text, "tests with the same id run in file order"),
    Field::new("note", Shape::Text, "shown to judges and scripts, never to the target"),
    Field::new("metadata", Shape::Map, "free-form data, merged over the suite's"),
    Field::new("tags", Shape::List(&Shape::Text), "the same as `metadata.tags`"),
    Field::new("group", Shape::Text, "tests that share a fixture; the same as `metadata.group`"),
    Field::new("vars", Shape::Map, "values for `{{ name }}` in this test"),
    Field::new(
        "skip",
        Shape::OneOf(&[Shape::Boolean, Shape::Text]),
        "do not run the test; a string gives the reason",
    ),
    Field::new("trials", TRIALS, "how many times the test is run"),
    ALLOW_EMPTY,
    ON_TIMEOUT,
    STOP_ON_TRIGGER,
    Field::new("workspace", Shape::Ref("workspace"), "merged over the suite's, key by key"),
];

/// Whether the source of a test stays in memory, or is a line that is dropped after reading.
#[derive(Debug, Clone)]
pub(super) enum LineRetention {
    Kept,
    Dropped(LineLocation),
}

/// A line that will be dropped, so that places on it can still be reported.
#[derive(Debug, Clone)]
pub(super) struct LineLocation {
    pub(super) path: Arc<camino::Utf8Path>,
    pub(super) line: u32,
    /// The byte of the file at which the line begins.
    pub(super) offset: u64,
}

impl Loader<'_, '_> {
    /// Reads one test and emits it; a faulty one is reported instead.
    pub(super) fn read_test(
        &mut self,
        node: Node<'_>,
        level: &InheritedDefaults<'_>,
        retention: &LineRetention,
    ) {
        self.position += 1;
        self.reader.out.enter_test(self.position);
        self.reader.patterns.enter_test();
        if let Some(test) = self.build_test(node, level, retention) {
            self.check_triggers(&test, node, retention);
            self.emit(test);
        }
        self.reader.vars = None;
        self.reader.out.leave_test();
    }

    pub(super) fn build_test(
        &mut self,
        node: Node<'_>,
        level: &InheritedDefaults<'_>,
        retention: &LineRetention,
    ) -> Option<Test> {
        let bound = Bound::new(node, &[TEST_FIELDS], self.reader.out);
        report_unknown(&mut self.reader, &bound);
        let id = read_id(&mut self.reader, &bound);
        if let Some((id, span)) = &id {
            self.register_id(id, *span, node, retention);
        }
        let reader = &mut self.reader;
        reader.vars = bound.get("vars").and_then(|entry| {
            let values = reader.map(&entry)?;
            Some(TestVars::new(values, entry.value))
        });
        let execution = match bound.get("execution") {
            Some(entry) => read_execution(reader, &entry, &bound),
            None => ReadExecution::default(),
        };
        let above = (!execution.skip_defaults).then_some(level);
        let input = read_test_input(reader, &bound, above);
        let criteria = read_criteria(reader, &bound);
        let expected_output = match bound.get("expected_output") {
            Some(entry) => read_expected(reader, &entry).map(Some).ok_or(Reported),
            None => Ok(None),
        };
        let [description, conversation_id, note] = ["description", "conversation_id", "note"]
            .map(|name| bound.get(name).and_then(|entry| reader.owned_text(&entry)));
        let own_metadata = read_own_metadata(reader, &bound);
        let skip = read_skip(reader, &bound);
        let trials = bound.get("trials").and_then(|entry| read_trials(reader, &entry));
        let settings = read_endings(reader, &bound).or(&execution.execution);
        let own_workspace = bound.get("workspace").map(|entry| self.read_workspace(&entry));
        let workspace = WorkspaceLayer::for_test(own_workspace, level);
        let facts = TestFacts {
            id: id.as_ref().map(|(id, _)| id.as_str()),
            criteria: &criteria,
            workspace: workspace.as_ref(),
            has_attachments: input.as_deref().is_some_and(has_attachments),
            expected: expected_output.as_ref().ok().and_then(Option::as_ref),
            faulty: criteria.is_faulty() || expected_output.is_err(),
        };
        let assertions = self.assertions(&bound, above, &execution, &facts)?;
        let (id, _) = id?;
        Some(Test {
            id,
            position: self.position,
            criteria: criteria.text,
            description,
            name: None,
            conversation_id,
            note,
            metadata: match own_metadata {
                Some(own) => merge(&self.defaults.metadata, &own),
                None => self.defaults.metadata.clone(),
            },
            input: input?,
            expected_output: expected_output.ok()?,
            assertions: name_in_test(&mut self.reader, assertions),
            execution: settings.or(&level.execution()),
            trials: trials.or(execution.trials).or(self.defaults.trials).unwrap_or(1),
            skip,
            workspace: workspace.map(WorkspaceLayer::finish),
            span: node.span(),
        })
    }

    /// Registers an id, and reports its second use.
    pub(super) fn register_id(
        &mut self,
        id: &TestId,
        span: Span,
        node: Node<'_>,
        retention: &LineRetention,
    ) {
        let position = |line| {
            let before = &node.tree_text()[..span.start as usize];
            Position { line, column: before.chars().count() as u32 + 1 }
        };
        let place = match (&mut self.ids, retention) {
            (IdRegistry::Part { ids, hasher }, LineRetention::Dropped(location)) => {
                ids.push(LineId {
                    fingerprint: hasher.fingerprint(id),
                    position: position(location.line),
                    line_offset: location.offset,
                    range: (span.start, span.end),
                    test: self.position,
                });
                return;
            }
            (_, LineRetention::Kept) => IdPlace::Span(span),
            (_, LineRetention::Dropped(location)) => {
                IdPlace::Line { path: location.path.clone(), position: position(location.line) }
            }
        };
        self.register_at(id, &place, span);
    }

    pub(super) fn register_at(&mut self, id: &TestId, place: &IdPlace, span: Span) {
        let IdRegistry::Whole(ids) = &mut self.ids else {
            return;
        };
        let fingerprint = ids.hasher().fingerprint(id);
        let Some(first) = ids.register(fingerprint, place, self.reader.sources) else {
            return;
        };
        if self.reader.out.is_full() {
            self.reader.out.count_unkept(DUPLICATE_ID.level);
            return;
        }
        let first = ids.span_of(first, id, self.reader.sources);
        self.reader.report(duplicate_id(id, first, span));
    }

    /// The full ordered list; `None` when one of them is faulty, which has been reported.
    fn assertions(
        &mut self,
        bound: &Bound<'_>,
        above: Option<&InheritedDefaults<'_>>,
        execution: &ReadExecution,
        facts: &TestFacts<'_>,
    ) -> Option<Vec<Arc<Assertion>>> {
        let reader = &mut self.reader;
        let mut list: Vec<Arc<Assertion>> = Vec::new();
        let mut faulty = execution.faulty;
        if let Some(entry) = bound.get("rubrics") {
            match read_items(reader, "rubrics", entry.value) {
                Ok(items) if items.is_empty() => {}
                Ok(items) => list.push(Arc::new(assertion_from_items(items, entry.value.span()))),
                Err(Reported) => faulty = true,
            }
        }
        if let Some(entry) = bound.get("assert") {
            let own = read_entries(reader, "assert", entry.value, 0);
            faulty |= !own.is_complete;
            if list.is_empty() { list = own.valid } else { list.extend(own.valid) }
        }
        list.extend(execution.assertions.iter().cloned());
        inherit(&mut list, above);
        if faulty {
            // The faulty assertion may be the only one, so only criteria are reported as missing.
            self.report_criteria(bound, facts.criteria, false);
            self.report_faults(bound, &list, facts);
            return None;
        }
        let is_empty = list.is_empty();
        let faults_above = above.is_some_and(|above| above.chain().any(|level| level.faulty));
        self.report_criteria(bound, facts.criteria, is_empty && !faults_above);
        if let (true, Some(text)) = (is_empty, &facts.criteria.text) {
            list.push(Arc::new(assertion_from_criteria(
                text.trim().to_owned(),
                facts.criteria.span,
            )));
        }
        self.report_faults(bound, &list, facts);
        if !faults_above {
            self.report_zero_weight(bound, &list);
        }
        Some(list)
    }

    fn report_criteria(&mut self, bound: &Bound<'_>, criteria: &ReadCriteria, no_assertions: bool) {
        let (code, message) = match (criteria.absence, no_assertions) {
            (None, _) => return,
            (_, true) => (&NOTHING_TO_GRADE, "this test has nothing to grade"),
            (Some(absence), false) => (&MISSING_CRITERIA, absence),
        };
        let add = "add `criteria`: what counts as success, in words";
        let help = bound.help_for_missing(TEST_FIELDS, "criteria", add);
        let renamed = bound.rename_for_missing(TEST_FIELDS, "criteria");
        let found = Diagnostic::new(code, criteria.span, message).help(help);
        self.reader.report(found.suggestion_if(renamed));
    }

    /// Faults that assertions have in this test, unless they only follow from another.
    fn report_faults(&mut self, bound: &Bound<'_>, list: &[Arc<Assertion>], facts: &TestFacts<'_>) {
        if facts.faulty {
            return;
        }
        let given_skills = self.defaults.given_skills.clone();
        let view = TestView {
            id: facts.id,
            criteria: facts.criteria.text.as_deref(),
            expected_output: facts.expected,
            workspace: facts.workspace.map(|layer| layer.view(facts.has_attachments)),
            given_skills: given_skills.as_deref(),
            span: bound.head(),
        };
        for assertion in list {
            for fault in faults_in_test(assertion, &view, assertion.common.head) {
                self.reader.report(fault);
            }
        }
        for part in facts.workspace.iter().flat_map(|layer| layer.parts()) {
            self.report_answers(part, view.span, facts.expected, list);
        }
    }

    fn report_zero_weight(&mut self, bound: &Bound<'_>, list: &[Arc<Assertion>]) {
        let is_zero = |one: &Arc<Assertion>| one.common.weight.is_zero();
        if !list.is_empty() && list.iter().all(is_zero) {
            let message = "every assertion of this test has weight 0";
            let diagnostic = Diagnostic::new(&ZERO_WEIGHT, bound.head(), message);
            self.reader.report(diagnostic.help("give at least one of them a weight"));
        }
    }
}

/// What assertions may know of their test.
struct TestFacts<'a> {
    id: Option<&'a str>,
    criteria: &'a ReadCriteria,
    expected: Option<&'a Expected>,
    workspace: Option<&'a WorkspaceLayer>,
    /// Whether the input has files.
    has_attachments: bool,
    /// One of them is wrong, which has been reported.
    faulty: bool,
}

fn has_attachments(input: &[Message]) -> bool {
    let mut blocks = input.iter().flat_map(|message| &message.content);
    blocks.any(|block| block.file().is_some())
}

/// Adds the lists of the files above, nearest first. A trigger for a skill that the test has its
/// own trigger for is left out (spec 7.23).
fn inherit(list: &mut Vec<Arc<Assertion>>, above: Option<&InheritedDefaults<'_>>) {
    let Some(above) = above else { return };
    if above.chain().all(|level| level.assertions.is_empty()) {
        return;
    }
    let triggers = list.iter().filter_map(|one| one.check.trigger());
    let own: HashSet<String> = triggers.map(|trigger| trigger.skill.clone()).collect();
    let inherited = above.chain().flat_map(|level| &level.assertions);
    list.extend(
        inherited
            .filter(|one| {
                let trigger = one.check.trigger();
                trigger.is_none_or(|trigger| !own.contains(&trigger.skill))
            })
            .cloned(),
    );
}

struct ReadCriteria {
    /// Not blank.
    text: Option<String>,
    /// Why the text is missing; `None` for the wrong type, which has been reported.
    absence: Option<&'static str>,
    span: Span,
}

impl ReadCriteria {
    fn is_faulty(&self) -> bool {
        self.text.is_none() && self.absence.is_none()
    }
}

fn read_criteria(reader: &mut Reader<'_>, bound: &Bound<'_>) -> ReadCriteria {
    let (text, absence, span) = match bound.get("criteria") {
        None => (None, Some("this test has no `criteria`"), bound.head()),
        Some(entry) => {
            let written = reader.templated(&entry).map(Cow::into_owned);
            let is_blank = written.as_ref().is_some_and(|text| text.trim().is_empty());
            let text = written.filter(|_| !is_blank);
            let absence = is_blank.then_some("`criteria` is blank");
            (text, absence, short_span(entry.value))
        }
    };
    ReadCriteria { text, absence, span }
}

fn read_skip(reader: &mut Reader<'_>, bound: &Bound<'_>) -> Option<Skip> {
    let entry = bound.get("skip")?;
    match entry.value.scalar() {
        Some(Scalar::Bool(false)) => None,
        Some(Scalar::Bool(true)) => Some(Skip { reason: None }),
        // `skip: no` must not skip the test for the reason "no".
        Some(Scalar::Str(text)) if is_yes_or_no(text) => {
            reader.boolean(&entry);
            None
        }
        Some(Scalar::Str(_)) => {
            let reason = reader.owned_text(&entry)?;
            // The value of a variable may be a boolean (spec 6.1).
            match resolve_plain(reason.trim()) {
                Scalar::Bool(false) => None,
                Scalar::Bool(true) => Some(Skip { reason: None }),
                _ if is_yes_or_no(reason.trim()) => refuse_skip(reader, &entry),
                _ => Some(Skip { reason: Some(reason) }),
            }
        }
        _ => refuse_skip(reader, &entry),
    }
}

/// `metadata` of a test, with its `tags` and its `group`.
fn read_own_metadata(reader: &mut Reader<'_>, bound: &Bound<'_>) -> Option<Map> {
    let metadata = bound.get("metadata").and_then(|entry| read_metadata(reader, &entry));
    let mut own = Map::new();
    if let Some(tags) = bound.get("tags").and_then(|entry| reader.text_list(&entry)) {
        let tags: Vec<Value> = tags.into_iter().map(|tag| tag.value.into()).collect();
        own = own.with("tags", tags);
    }
    if let Some(entry) = bound.get("group")
        && let Some(group) = reader.text_of("group", entry.value)
    {
        own = own.with("group", group.into_owned());
    }
    match metadata {
        Some(metadata) => Some(merge(&metadata, &own)),
        None => (!own.is_empty()).then_some(own),
    }
}

fn refuse_skip(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<Skip> {
    let taken = "a boolean, or a string that is the reason";
    reader.refuse(wrong_type("skip", entry.value, taken))
}

fn is_yes_or_no(text: &str) -> bool {
    ["yes", "no", "on", "off", "true", "false"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

fn report_unknown(reader: &mut Reader<'_>, bound: &Bound<'_>) {
    const CONVERSATION: &str = "write the conversation as messages in `input`, or as tests with one \
                                `conversation_id`";
    bound.explain_unknown_but(stand_in(bound), reader.out, |key, value| {
        let name = key.scalar_text().unwrap_or("");
        let is_conversation = value.scalar_text() == Some("conversation");
        match name {
            "turns" => unsupported(key, Level::Blocking, CONVERSATION),
            "mode" if is_conversation => unsupported(key, Level::Blocking, CONVERSATION),
            "depends_on" | "preprocessors" => unsupported_preparation(key),
            "should_trigger" => unknown_field(key, &[TEST_FIELDS]).help(trigger_help(value)),
            "target" | "timeout_seconds" => unknown_field(key, &[TEST_FIELDS])
                .help(format!("write it under `execution:` as `{name}`")),
            "category" | "requires" | "governance" => unknown_field(key, &[TEST_FIELDS])
                .help("move it to `metadata` to keep it for readers"),
            _ => unknown_field(key, &[TEST_FIELDS]),
        }
    });
}

/// In an evals.json the key belongs to the test; in a suite it is an option of an assertion.
fn trigger_help(value: Node<'_>) -> String {
    let written = value.scalar_text().unwrap_or("").to_ascii_lowercase();
    let should_trigger = !matches!(&written[..], "false" | "no" | "off");
    format!(
        "write `{{type: trigger-judge, skill: NAME, detection: any-call, should_trigger: \
         {should_trigger}}}` under `assert`"
    )
}

fn unsupported(key: Node<'_>, level: Level, help: &str) -> Diagnostic {
    let name = key.scalar_text().unwrap_or("");
    let message = format!("`{name}` is not supported");
    Diagnostic::new(&UNSUPPORTED_FEATURE, key.span(), message).level(level).help(help)
}

/// A key of other tools that sets up files before a run.
pub(super) fn unsupported_preparation(key: Node<'_>) -> Diagnostic {
    let help = "prepare the files before the run, or let the target's command do it";
    unsupported(key, Level::BlocksRun, help)
}

/// An entry of `tests` that is neither a mapping nor a path.
pub(super) fn not_a_test(node: Node<'_>) -> Diagnostic {
    let message =
        format!("an item of `tests` is a test or a path, found {}", crate::reader::type_of(node));
    Diagnostic::new(&WRONG_TYPE, short_span(node), message)
}
