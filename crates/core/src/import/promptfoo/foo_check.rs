//! Which part of a suite an assertion becomes: the list of types, and what all of them share.

use camino::Utf8Path;

use crate::model::{Map, Number, Value};
use crate::source::Span;

use super::super::assertion_draft::{any_answer, has_no_weight, name_members, negated_if};
use super::super::importer::Importer;
use super::super::located::Located;
use super::super::suite_draft::SuiteDraft;
use super::super::template::render;
use super::file_value::{FileKind, FileReference};
use super::foo_test::FooTest;
use super::{graded, provider, tool_check};

/// Checks on the text, which the script beside the suite knows too.
const TEXT_TYPES: &[&str] = &[
    "equals",
    "contains",
    "icontains",
    "contains-any",
    "contains-all",
    "icontains-any",
    "icontains-all",
    "starts-with",
    "regex",
    "is-json",
    "contains-json",
    "levenshtein",
    "word-count",
    "is-xml",
    "contains-xml",
    "rouge-n",
    "bleu",
];

/// Whether promptfoo has an assertion of this type.
pub(super) fn is_known_type(base: &str) -> bool {
    TEXT_TYPES.contains(&base)
        || matches!(base, "javascript" | "python" | "latency" | "cost" | "assert-set")
        || graded::is_graded_type(base)
        || tool_check::is_tool_type(base)
        || NOT_CONVERTED.iter().any(|(name, _)| *name == base)
}

/// Types that a suite has nothing for, and why.
const NOT_CONVERTED: &[(&str, &str)] = &[
    ("ruby", "Ruby code is not run"),
    ("webhook", "a web service cannot judge"),
    ("perplexity", "targets report no token probabilities"),
    ("perplexity-score", "targets report no token probabilities"),
    ("classifier", "there is no classifier"),
    ("moderation", "there is no moderation service"),
    ("guardrails", "targets report no guardrails"),
    ("pi", "there is no scoring service"),
    ("select-best", "every answer is graded by itself"),
    ("max-score", "every answer is graded by itself"),
    ("finish-reason", "targets report no finish reason"),
    ("is-valid-function-call", "the functions are not known"),
    ("is-valid-openai-function-call", "the functions are not known"),
    ("is-valid-openai-tools-call", "the tools are not known"),
    ("trace-span-count", "there are no traces"),
    ("trace-span-duration", "there are no traces"),
    ("trace-error-spans", "there are no traces"),
    ("context-recall", "it is about the context, not the answer"),
    ("context-relevance", "it is about the context, not the answer"),
];

/// How a check counts: by whether it passes, or with its score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScoreUse {
    Pass,
    Value,
}

/// What a list of assertions became.
#[derive(Debug, Default)]
pub(super) struct WrittenChecks {
    pub(super) checks: Vec<Map>,
    /// How many have no counterpart.
    pub(super) lost: usize,
    /// Some script may look at the variables.
    pub(super) needs_vars: bool,
}

/// Writes the assertions of one test.
pub(super) struct CheckWriter<'w, 'r> {
    pub(super) importer: &'w mut Importer<'r>,
    pub(super) draft: &'w mut SuiteDraft,
    pub(super) test: &'w FooTest,
    pub(super) vars: &'w Map,
    pub(super) directory: &'w Utf8Path,
    pub(super) score: ScoreUse,
    pub(super) needs_vars: bool,
}

/// One assertion while it is written.
pub(super) struct FooAssertion<'a> {
    pub(super) data: &'a Located,
    /// Without `not-`.
    pub(super) base: &'a str,
    pub(super) is_negated: bool,
}

impl<'a> FooAssertion<'a> {
    fn of(data: &'a Located) -> Option<Self> {
        let kind = data.get("type")?.as_str()?;
        let base = kind.strip_prefix("not-");
        Some(Self { data, base: base.unwrap_or(kind), is_negated: base.is_some() })
    }

    pub(super) fn threshold(&self) -> Option<Number> {
        self.data.get("threshold").and_then(Located::number)
    }

    /// Where losses of it are reported.
    pub(super) fn span(&self) -> Span {
        self.data.get("type").map_or(self.data.span, |kind| kind.span)
    }
}

impl<'w, 'r> CheckWriter<'w, 'r> {
    pub(super) fn new(
        importer: &'w mut Importer<'r>,
        draft: &'w mut SuiteDraft,
        test: &'w FooTest,
        vars: &'w Map,
        directory: &'w Utf8Path,
    ) -> Self {
        let score = if test.threshold.is_some() { ScoreUse::Value } else { ScoreUse::Pass };
        Self { importer, draft, test, vars, directory, score, needs_vars: false }
    }

    pub(super) fn write_all(&mut self, assertions: &[Located]) -> WrittenChecks {
        let mut written = WrittenChecks::default();
        self.needs_vars = false;
        for data in assertions {
            let made = self.write(data);
            written.lost += usize::from(made.is_empty());
            written.checks.extend(made);
        }
        written.needs_vars = self.needs_vars;
        written
    }

    fn write(&mut self, data: &Located) -> Vec<Map> {
        let Some(assertion) = FooAssertion::of(data) else {
            self.importer.loss("assertion", data.span, "an assertion without a type is left out");
            return Vec::new();
        };
        let made = if assertion.base == "assert-set" {
            self.assert_set(data).into_iter().collect()
        } else {
            self.checks_of(&assertion)
        };
        let weight =
            data.get("weight").and_then(Located::number).filter(|weight| weight.value() != 1.0);
        let metric = data.get("metric").and_then(Located::text);
        let metric =
            metric.map(|name| self.filled(&name, data.span)).filter(|name| !name.trim().is_empty());
        made.into_iter()
            .map(|mut map| {
                if map.get("weight").is_none() {
                    map.insert_some("weight", weight.clone().filter(|weight| weight.value() > 0.0));
                    if weight.as_ref().is_some_and(|weight| weight.value() <= 0.0) {
                        map.insert("weight", 0_u64);
                    }
                }
                if let Some(metric) = &metric {
                    map.insert("name", metric.as_str());
                }
                map
            })
            .collect()
    }

    /// Members with a threshold of their own; where it counts, the caller makes it a gate.
    fn assert_set(&mut self, data: &Located) -> Option<Map> {
        let threshold = data.get("threshold").and_then(Located::number);
        let outer = self.score;
        if threshold.is_some() {
            self.score = ScoreUse::Value;
        }
        let mut members: Vec<Map> = Vec::new();
        for member in data.get("assert").map(Located::items).unwrap_or_default() {
            let made = self.write(member);
            members.extend(made);
        }
        self.score = outer;
        if members.is_empty() {
            self.importer.loss("assertion", data.span, "nothing of this set can be converted");
            return None;
        }
        if members.iter().all(has_no_weight) {
            members.push(any_answer());
        }
        name_members(&mut members);
        let members: Vec<Value> = members.into_iter().map(Value::from).collect();
        let map = Map::new().with("type", "composite").with("assert", members);
        Some(map.with_some(super::threshold::SET_THRESHOLD, threshold))
    }

    fn checks_of(&mut self, assertion: &FooAssertion<'_>) -> Vec<Map> {
        let base = assertion.base;
        let has_transform = assertion.data.has("transform") || self.test.transform.is_some();
        if TEXT_TYPES.contains(&base) {
            return self.text_check(assertion, has_transform).into_iter().collect();
        }
        if matches!(base, "javascript" | "python") {
            return self.script(assertion).into_iter().collect();
        }
        if has_transform && !matches!(base, "latency" | "cost") {
            let message =
                format!("`{base}` looks at the answer itself, not at what `transform` makes of it");
            self.importer.loss("transform", assertion.span(), message);
        }
        match base {
            "latency" | "cost" => {
                let option = if base == "cost" { "budget" } else { "threshold" };
                let Some(most) = assertion.threshold() else {
                    return self.lost(assertion, "it has no threshold");
                };
                let map = Map::new().with("type", base).with(option, most);
                vec![negated_if(assertion.is_negated, map)]
            }
            _ if graded::is_graded_type(base) => graded::checks(self, assertion),
            _ if tool_check::is_tool_type(base) => tool_check::checks(self, assertion),
            _ => {
                let reason = NOT_CONVERTED.iter().find(|(name, _)| *name == base);
                let reason = reason.map_or("its type is not known", |(_, reason)| reason);
                self.lost(assertion, reason)
            }
        }
    }

    pub(super) fn lost(&mut self, assertion: &FooAssertion<'_>, reason: &str) -> Vec<Map> {
        let message = format!("`{}` is left out: {reason}", assertion.base);
        self.importer.loss("assertion", assertion.span(), message);
        Vec::new()
    }

    /// The judge that an assertion names.
    pub(super) fn note_grader(&mut self, assertion: &FooAssertion<'_>) {
        let grader = assertion.data.get("provider").or(self.test.grader.as_ref());
        if let Some(grader) = grader.cloned() {
            provider::use_grader(self.importer, self.draft, &grader);
        }
    }

    /// A template with the variables of the test; as it is if it cannot be filled in.
    pub(super) fn filled(&mut self, text: &str, span: Span) -> String {
        render(text, self.vars).unwrap_or_else(|reason| {
            self.importer.loss("template", span, format!("a text is not filled in: {reason}"));
            text.to_owned()
        })
    }

    /// `value` with its templates filled in and its file read. `None` if code makes it.
    pub(super) fn value(&mut self, assertion: &FooAssertion<'_>) -> Option<Value> {
        let Some(value) = assertion.data.get("value") else { return Some(Value::Null) };
        match value.as_str() {
            Some(text) => self.text_value(assertion, text, value.span),
            None => {
                let items = value.items().iter();
                let filled: Option<Vec<Value>> = items
                    .map(|item| match item.as_str() {
                        Some(text) => self.text_value(assertion, text, item.span),
                        None => Some(item.value()),
                    })
                    .collect();
                if value.is_list() { filled.map(Value::List) } else { Some(value.value()) }
            }
        }
    }

    fn text_value(
        &mut self,
        assertion: &FooAssertion<'_>,
        text: &str,
        span: Span,
    ) -> Option<Value> {
        let Some(reference) = FileReference::of(text, self.directory) else {
            return Some(self.filled(text, span).into());
        };
        let read = match reference.kind() {
            FileKind::Data => {
                self.importer.open(&reference.path, span).map(|file| file.root.value())
            }
            FileKind::Text => {
                let text = self.importer.read_text(&reference.path);
                text.map(|text| Value::from(text.trim()))
            }
            _ => {
                self.lost(assertion, "its value is made by code");
                return None;
            }
        };
        if read.is_none() {
            self.lost(assertion, &format!("`{text}` cannot be read"));
        }
        read
    }
}
