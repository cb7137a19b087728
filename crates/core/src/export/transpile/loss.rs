//! What evals.json cannot express (spec 12.7), with locations.

use std::borrow::Cow;
use std::sync::Arc;

use camino::Utf8Path;

use crate::evidence::last_user_message;
use crate::model::{
    Assertion, Block, Expected, Image, JudgePrompt, Loss, Operator, Role, RubricItem, Test, TestId,
};
use crate::source::{Sources, Span, without_dots};

use super::super::fields::lost_fields;
use super::prompt::{is_relative, written_path};
use super::sentence::written_criteria;
use super::{CriteriaMode, PromptMode, TranspileOptions};

/// Collects the losses of one test.
pub(super) struct LossCollector<'b> {
    pub(super) test: &'b Test,
    pub(super) id: &'b Arc<TestId>,
    pub(super) options: &'b TranspileOptions<'b>,
    pub(super) losses: &'b mut Vec<Loss>,
}

impl LossCollector<'_> {
    /// Adds every loss. Criteria copied from the expected output are not lost.
    pub(super) fn collect(&mut self, is_copy: bool, sources: &Sources) {
        self.messages();
        for (kind, message) in lost_fields(self.test) {
            self.of_test(kind, message);
        }
        self.relative_paths(sources);
        if self.options.criteria == CriteriaMode::Omitted
            && written_criteria(self.test).is_some()
            && !is_copy
        {
            self.of_test("criteria-omitted", "`criteria` is left out");
        }
        for placed in &self.test.assertions {
            self.assertion(&placed.assertion);
        }
    }

    fn add(&mut self, kind: &'static str, span: Span, message: impl Into<Cow<'static, str>>) {
        let test = Some(self.id.clone());
        self.losses.push(Loss { kind, test, message: message.into(), span });
    }

    fn of_test(&mut self, kind: &'static str, message: impl Into<Cow<'static, str>>) {
        self.add(kind, self.test.span.at_start(), message);
    }

    fn messages(&mut self) {
        let input = &self.test.input;
        let is_system = |role: Role| role == Role::System;
        if input.iter().any(|message| is_system(message.role)) {
            self.of_test("system-message", "the system message is left out");
        }
        let last = last_user_message(input);
        let mut others = input.iter().enumerate();
        if others.any(|(at, message)| Some(at) != last && !is_system(message.role)) {
            let message = "only the last user message is written, without the other turns";
            self.of_test("earlier-turns", message);
        }
        let mut blocks = input.iter().flat_map(|message| &message.content);
        if blocks.any(|block| matches!(block, Block::Image(Image::Data(_)))) {
            self.of_test("image-data", "an image without a file is left out");
        }
        if let Some(Expected::Messages(messages)) = &self.test.expected_output {
            let is_plain = matches!(
                messages.as_slice(),
                [only] if only.role == Role::Assistant && only.tool_calls.is_empty()
            );
            if !is_plain {
                let message = "only the text of the last expected answer is written";
                self.of_test("expected-messages", message);
            }
        }
    }

    /// Paths are written as they are. Those of a test from another directory are relative to it, which
    /// the file does not say.
    fn relative_paths(&mut self, sources: &Sources) {
        let (directory, root) = (self.options.directory, self.options.root);
        let source = sources.get(self.test.span.source).path();
        if source.parent() == Some(directory) {
            return;
        }
        let files = self.test.input.iter().flat_map(|message| &message.content);
        let lost: Vec<&str> = files
            .filter_map(Block::file)
            .filter(|file| is_relative(&file.value))
            .filter(|file| written_path(file, self.options.skill_root) == file.value)
            .filter(|file| {
                let from_here = without_dots(&directory.join(&file.value));
                file.path.as_ref() != Some(&from_here)
            })
            .map(|file| file.value.as_str())
            .collect();
        for path in lost {
            let from = source.parent().unwrap_or(Utf8Path::new(""));
            let from = from.strip_prefix(root).unwrap_or(from);
            let message = format!("`{path}` is written as it is, but is relative to `{from}`");
            self.of_test("relative-base", message);
        }
    }

    fn assertion(&mut self, assertion: &Assertion) {
        let common = &assertion.common;
        let kind = assertion.type_name.as_ref();
        let members = assertion.check.members();
        if !common.weight.is_one() {
            let message = format!("weight {} of `{kind}` is left out", common.weight.number());
            self.add("weight", common.head, message);
        }
        if common.required.is_gate() {
            let message = format!("that `{kind}` is required is left out");
            self.add("required", common.required_at, message);
        }
        if common.negate && assertion.check.trigger().is_none() {
            let message = format!("the negation of `{kind}` is written in words only");
            self.add("negation", common.head, message);
        }
        if kind == "composite" {
            let message = "the members are written one by one, without their aggregation";
            self.add("composite", common.head, message);
        }
        self.judge(assertion);
        for (loss, message) in assertion.check.losses(kind) {
            self.add(loss, common.head, message);
        }
        for member in members {
            self.assertion(&member.assertion);
        }
    }

    fn judge(&mut self, assertion: &Assertion) {
        let head = assertion.common.head;
        if let Some(target) = assertion.check.judge() {
            self.add("target", head, format!("judge `{target}` is left out"));
        }
        let written = match (assertion.check.prompt(), self.options.prompts) {
            (Some(JudgePrompt::File { file: Some(file), .. }), PromptMode::Inlined) => {
                Some(&**file.text)
            }
            (prompt, _) => prompt.map(JudgePrompt::written),
        };
        if written.is_some_and(|text| text.contains("{{")) {
            let message = "the `{{ }}` placeholders of this prompt are not replaced";
            self.add("template-variables", head, message);
        }
        for item in assertion.check.items() {
            self.item(item, head);
        }
    }

    fn item(&mut self, item: &RubricItem, head: Span) {
        let id = &item.id;
        if !item.weight.is_one() {
            let message = format!("the weight of item `{id}` is left out");
            self.add("weight", head, message);
        }
        if item.required.is_gate() {
            let message = format!("that item `{id}` is required is left out");
            self.add("required", head, message);
        }
        if !item.ranges.is_empty() {
            let message = format!("the score ranges of item `{id}` are left out");
            self.add("score-ranges", head, message);
        }
        if item.operator != Operator::default() {
            let message = format!("that item `{id}` only must not be contradicted is left out");
            self.add("negation", head, message);
        }
    }
}
