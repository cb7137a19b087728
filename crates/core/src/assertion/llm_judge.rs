//! `llm-judge`: a judge grades the answer by a prompt, by rubric items, or by both.

use camino::Utf8PathBuf;

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::{
    Check, CommonOptions, Fault, FaultKind, Grade, GradingContext, JudgePrompt, JudgeTemplate,
    Judging, Map, RubricItem, Stage, Step, Test, TestView, Value, Votes,
};
use crate::reader::{Options, ReadResult, Reported};
use crate::source::Span;
use crate::syntax::fields::{
    CONFLICTING_FIELDS, Entry, Field, MISSING_OPTION, Shape, unknown_field,
};

use super::judge_request::{JudgeRequest, ungraded};
use super::kind::{AssertionKind, EntryContext, UnknownKeys};
use super::read::{AMOUNT, COMMON, unsupported_in_run};
use super::rubric_items::ItemList;
use super::rubrics::{ITEMS, TARGET, criteria_item, read_judge, read_some_items};
use super::subject::FILE;
use super::vote_option::{JUDGE, VOTES, read_votes};

declare_codes! {
    MISSING_PROMPT = "missing-prompt", Error, Assertion, r#"An `llm-judge` has neither a prompt nor rubrics. It judges the test's `criteria`.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Greets the user by name
    input: Hi, I am Alice
    assert:
      - type: llm-judge
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Greets the user by name
    input: Hi, I am Alice
    assert:
      - {type: llm-judge, prompt: Does the answer greet the user by name?}
```

## Why
A forgotten prompt looks the same. A test without assertions is judged by its criteria anyway.
"#;
}

pub(super) static KIND: AssertionKind = AssertionKind {
    name: "llm-judge",
    aliases: &["llm-grader", "llm-rubric", "agent-judge"],
    fields: FIELDS,
    needs_one_of: &[],
    unknown_keys: UnknownKeys::Warn,
    takes_config: true,
    doc: "A model reads the answer and gives a score. `prompt` is the question, or the path of a file that
contains it; variables such as `{{ answer }}` and `{{ criteria }}` are replaced. With `rubrics` the
judge answers every item, and `prompt` is an additional instruction. `config` is added to the request.
With `votes`, the judge reads the answer several times, and the median of the scores counts; of items, the
majority.

```yaml
assert:
  - type: llm-judge
    prompt: \"Is this a polite answer to {{ question }}? {{ answer }}\"
  - type: llm-judge
    name: months
    prompt: Look at the numbers only.
    rubrics: [Names November first, Gives a figure for each month]
    config: {temperature: 0.2}
```
",
    read,
};

static FIELDS: &[Field] = &[
    Field::new(
        "prompt",
        Shape::NonEmptyText,
        "the question to the judge, or the path of a file that contains it",
    ),
    Field::new("rubrics", ITEMS, "items that the judge answers one by one"),
    Field::new("value", ITEMS, "for `llm-rubric` only: the same as `rubrics`"),
    TARGET,
    VOTES,
    JUDGE,
    Field::new("temperature", AMOUNT, "the same as `config.temperature`; default 0"),
    FILE,
];

fn read(
    options: &mut Options<'_, '_, '_>,
    context: &mut EntryContext<'_>,
) -> ReadResult<Box<dyn Check>> {
    let prompt = options.optional("prompt", read_prompt);
    let items = items_entry(options)
        .and_then(|entry| entry.map(|entry| read_some_items(options, &entry)).transpose());
    let target = read_judge(options);
    let votes = read_votes(options);
    let temperature = move_into_config(options, context);
    temperature?;
    Ok(Box::new(JudgeCheck {
        prompt: prompt?.unwrap_or(PromptChoice::Nothing),
        items: items?.unwrap_or_default(),
        target: target?,
        votes: votes?,
        sends_config: true,
        head: options.head(),
    }))
}

/// `rubrics`, or the `value` of an `llm-rubric`.
fn items_entry<'t>(options: &mut Options<'_, '_, 't>) -> ReadResult<Option<Entry<'t>>> {
    let rubrics = options.get("rubrics");
    let Some(value) = options.get("value") else {
        return Ok(rubrics);
    };
    if options.owner != "llm-rubric" {
        let fault = unknown_field(value.key, &[FIELDS, COMMON]);
        // The table has `value`, so the nearest name would be `value` itself.
        options.report(fault.help("write `rubrics`"));
        return Ok(rubrics);
    }
    match rubrics {
        Some(rubrics) => Err(options.spelled_twice(&rubrics, &value)),
        None => Ok(Some(value)),
    }
}

fn read_prompt(options: &mut Options<'_, '_, '_>, entry: &Entry<'_>) -> ReadResult<PromptChoice> {
    let node = entry.value;
    if node.is_mapping() {
        let is_command = ["command", "script"].iter().any(|key| node.get(key).is_some());
        if !is_command {
            return Err(options.wrong_type("prompt", node, "a string"));
        }
        // Other tools support it, so the suite is valid; it just cannot run here.
        let message = "a prompt from a command is not supported";
        options.report(
            unsupported_in_run(entry.key.span(), message)
                .help("write the prompt itself, or the path of a file that contains it"),
        );
        return Ok(PromptChoice::Unsupported);
    }
    let prompt = options.reader.prompt(entry).ok_or(Reported)?;
    if prompt.written().trim().is_empty() {
        let help = "write what the judge must decide, or remove the key";
        return Err(options.missing(node.span(), "`prompt` is blank", help));
    }
    Ok(PromptChoice::Prompt(prompt))
}

fn move_into_config(
    options: &mut Options<'_, '_, '_>,
    context: &mut EntryContext<'_>,
) -> ReadResult<()> {
    let (Some(temperature), Some(entry)) =
        (options.amount("temperature")?, options.get("temperature"))
    else {
        return Ok(());
    };
    if context.common.config.get("temperature").is_some() {
        let message = "`temperature` and `config.temperature` are two spellings of one field";
        return Err(options.report(
            Diagnostic::new(&CONFLICTING_FIELDS, entry.key.span(), message)
                .help("keep the one in `config`"),
        ));
    }
    context.common.config.insert("temperature", temperature);
    Ok(())
}

/// The prompt of a judge.
#[derive(Debug)]
enum PromptChoice {
    Nothing,
    Prompt(JudgePrompt),
    /// A prompt in a form that cannot be run, which has been reported.
    Unsupported,
}

/// A check of `llm-judge` or `rubrics`. Without prompt and items, it judges the criteria of the test.
#[derive(Debug)]
pub(super) struct JudgeCheck {
    prompt: PromptChoice,
    items: ItemList,
    target: Option<String>,
    /// As written.
    votes: Option<Votes>,
    /// Whether the assertion's `config` is added to the request.
    sends_config: bool,
    head: Span,
}

impl JudgeCheck {
    /// For `rubrics`, which has no prompt and at least one item.
    pub(super) fn of_items(items: ItemList, head: Span) -> Self {
        let (target, votes) = (None, None);
        Self { prompt: PromptChoice::Nothing, items, target, votes, sends_config: false, head }
    }

    pub(super) fn judged_by(self, target: Option<String>, votes: Option<Votes>) -> Self {
        Self { target, votes, ..self }
    }

    /// `None` if the judge has no prompt of its own.
    fn template(&self, test: &Test) -> Result<Option<&JudgeTemplate>, Fault> {
        let fault = |message: String| Fault::new(Stage::Judge, FaultKind::Io, message);
        match &self.prompt {
            PromptChoice::Nothing if self.items.list.is_empty() && test.criteria.is_none() => {
                Err(fault("the judge has no `prompt`, and the test has no `criteria`".to_owned()))
            }
            PromptChoice::Nothing => Ok(None),
            PromptChoice::Prompt(prompt) => prompt.template().map(Some).ok_or_else(|| {
                let path = prompt.written();
                fault(format!("the prompt file `{path}` could not be read"))
            }),
            PromptChoice::Unsupported => {
                Err(fault("a prompt from a command is not supported".to_owned()))
            }
        }
    }
}

impl Check for JudgeCheck {
    fn options(&self) -> Map {
        let mut map = Map::new();
        map.insert_some("prompt", self.prompt().map(JudgePrompt::written));
        if !self.items.list.is_empty() {
            let items: Vec<Value> = self.items.list.iter().map(RubricItem::to_value).collect();
            map.insert("rubrics", items);
        }
        map.insert_some("target", self.target.as_deref());
        map.insert_some("votes", self.votes.map(|votes| votes.count() as u64));
        map
    }

    fn sentences(&self, common: &CommonOptions) -> Vec<String> {
        let prompt = self.prompt().map(JudgePrompt::written);
        let items = self.items.list.iter().map(RubricItem::sentence);
        prompt.into_iter().chain(items).map(|sentence| common.about(sentence)).collect()
    }

    fn losses(&self, type_name: &str) -> Vec<(&'static str, String)> {
        let votes = self.votes.filter(|votes| *votes != Votes::ONE);
        let loss = |votes: Votes| {
            let count = votes.count();
            ("votes", format!("that `{type_name}` counts {count} votes is left out"))
        };
        votes.map(loss).into_iter().collect()
    }

    fn hidden_files(&self) -> Vec<Utf8PathBuf> {
        let file = self.prompt().and_then(JudgePrompt::file);
        file.map(|file| file.path.clone()).into_iter().collect()
    }

    fn grade(&self, context: &GradingContext<'_>) -> Step {
        // A skipped judge needs no prompt.
        let prompt = match context.options.judging {
            Judging::Skip => Ok(None),
            Judging::Ask => self.template(context.evidence.test),
        };
        let prompt = match prompt {
            Ok(prompt) => prompt,
            Err(fault) => return ungraded(&self.items.list, Grade::Errored(fault)),
        };
        let criteria: Vec<RubricItem> = match (&self.prompt, &self.items.list[..]) {
            (PromptChoice::Nothing, []) => {
                let criteria = context.evidence.test.criteria.clone();
                criteria.into_iter().map(criteria_item).collect()
            }
            _ => Vec::new(),
        };
        let items = if criteria.is_empty() { &self.items.list } else { &criteria };
        let request = JudgeRequest {
            prompt,
            items,
            target: self.target.as_deref(),
            config: if self.sends_config { context.common.config.clone() } else { Map::new() },
            votes: context.options.votes(self.target.as_deref(), self.votes),
        };
        request.grade(context)
    }

    fn prompt(&self) -> Option<&JudgePrompt> {
        match &self.prompt {
            PromptChoice::Prompt(prompt) => Some(prompt),
            PromptChoice::Nothing | PromptChoice::Unsupported => None,
        }
    }

    fn diagnostics_in(&self, test: &TestView<'_>, _: Span) -> Vec<Diagnostic> {
        if !matches!(self.prompt, PromptChoice::Nothing) || !self.items.list.is_empty() {
            return Vec::new();
        }
        let help = "add `prompt` or `rubrics`";
        vec![match test.criteria {
            Some(_) => Diagnostic::new(
                &MISSING_PROMPT,
                self.head,
                "this judge has no `prompt`, so it judges `criteria`",
            )
            .help(help),
            None => Diagnostic::new(
                &MISSING_OPTION,
                self.head,
                "this judge has no `prompt`, and the test has no `criteria`",
            )
            .related(test.span, "the test")
            .help(help),
        }]
    }

    fn gates(&self) -> Vec<Span> {
        self.items.gates.clone()
    }

    fn items(&self) -> &[RubricItem] {
        &self.items.list
    }

    fn judge(&self) -> Option<&str> {
        self.target.as_deref()
    }

    fn needs_judge(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Trial, read, read_with};
    use super::*;
    use crate::model::{Answer, JsonStyle, Question, Transcript, Value};
    use crate::source::MemoryFiles;

    fn options(yaml: &str) -> String {
        let (assertions, faults) = read(yaml).parts();
        assert_eq!(faults, [""; 0]);
        Value::from(assertions[0].check.options()).to_json(JsonStyle::Compact)
    }

    #[test]
    fn a_prompt_and_items_are_read() {
        let yaml = "- {type: llm-judge, prompt: 'Polite? {{ answer }}', rubrics: [Is brief]}";
        let (assertions, faults) = read(yaml).parts();
        assert_eq!(faults, [""; 0]);
        assert!(assertions[0].check.needs_judge());
        assert_eq!(assertions[0].sentences(), ["Polite? {{ answer }}", "Is brief"]);
    }

    #[test]
    fn the_value_of_an_llm_rubric_is_a_list_of_items() {
        assert_eq!(
            options("- {type: llm-rubric, value: Is brief}"),
            r#"{"rubrics":[{"id":"rubric-1","outcome":"Is brief","weight":1,"required":false}]}"#
        );
        let (_, faults) = read("- {type: llm-judge, prompt: Polite?, value: Is brief}").parts();
        assert_eq!(faults, ["unknown-field"]);
        let (_, faults) = read("- {type: llm_rubric, value: Is brief, rubrics: [Is kind]}").parts();
        assert_eq!(faults, ["conflicting-fields"]);
    }

    #[test]
    fn temperature_moves_into_config() {
        let (assertions, faults) =
            read("- {type: llm-judge, prompt: Polite?, temperature: 0.5}").parts();
        assert_eq!(faults, [""; 0]);
        let config = Value::from(assertions[0].common.config.clone());
        assert_eq!(config.to_json(JsonStyle::Compact), r#"{"temperature":0.5}"#);
        let yaml = "- {type: llm-judge, prompt: x y, temperature: 1, config: {temperature: 0}}";
        assert_eq!(read(yaml).names(), ["conflicting-fields"]);
    }

    #[test]
    fn unknown_variables_are_marked_exactly() {
        let yaml =
            "- {type: llm-judge, prompt: \"Ok? {{ anwser }} {{{{x}}}} {{ expected_outcome }}\"}";
        let found = read(yaml);
        let faults = &found.diagnostics;
        assert_eq!(faults.len(), 1);
        assert_eq!(faults[0].code.name, "unknown-template-variable");
        assert_eq!(found.marked()[0], "{{ anwser }}");
        assert_eq!(faults[0].help.as_deref(), Some("did you mean `answer`?"));
    }

    #[test]
    fn a_prompt_file_is_read_once_and_complained_about_at_every_judge() {
        let files = MemoryFiles::new().with("/p/judge.md", "Rate {{ answr }}");
        let yaml = "- {type: llm-judge, prompt: ./judge.md}\n- {type: llm-judge, prompt: judge.md}";
        let found = read_with(files, yaml);
        let (assertions, faults) = (&found.assertions, &found.diagnostics);
        assert_eq!(faults.len(), 2);
        assert_ne!(faults[0].span.source, faults[1].span.source);
        assert_eq!((faults[0].span.start, faults[0].span.end), (5, 16));
        assert_eq!(found.marked()[1], "judge.md");
        assert_eq!(assertions[0].sentences(), ["./judge.md"]);
    }

    #[test]
    fn one_word_is_a_path_only_if_the_file_is_there() {
        let files = MemoryFiles::new().with("/p/judge", "{{ nope }}");
        let yaml = "- {type: llm-judge, prompt: judge}";
        assert_eq!(read_with(files, yaml).names(), ["unknown-template-variable"]);
        assert_eq!(read(yaml).names(), [""; 0]);
        assert_eq!(read("- {type: llm-judge, prompt: ./none.md}").names(), ["file-not-found"]);
    }

    #[test]
    fn a_prompt_that_cannot_be_used_is_reported() {
        for (prompt, fault) in [
            ("{command: [a]}", "unsupported-feature"),
            ("{script: [a]}", "unsupported-feature"),
            ("{text: a}", "wrong-type"),
            ("''", "missing-option"),
            ("3", "wrong-type"),
        ] {
            let yaml = format!("- {{type: llm-judge, prompt: {prompt}}}");
            assert_eq!(read(&yaml).names(), [fault], "{prompt}");
        }
        assert_eq!(read("- {type: llm-judge, rubrics: []}").names(), ["missing-option"]);
        assert_eq!(
            read("- {type: llm-grader, prompt: a b, max_steps: 3}").names(),
            ["unknown-field"]
        );
    }

    #[test]
    fn without_prompt_the_criteria_is_judged() {
        let (assertions, faults) = read("- {type: llm-judge}").parts();
        assert_eq!(faults, [""; 0]);
        let assertion = &assertions[0];
        let mut test = TestView {
            id: None,
            criteria: Some("Greets"),
            expected_output: None,
            workspace: None,
            given_skills: None,
            span: assertion.common.span,
        };
        let names = |test: &TestView<'_>| -> Vec<_> {
            let faults = assertion.check.diagnostics_in(test, assertion.common.span);
            faults.into_iter().map(|fault| fault.code.name).collect()
        };
        assert_eq!(names(&test), ["missing-prompt"]);
        test.criteria = None;
        assert_eq!(names(&test), ["missing-option"]);
    }

    #[test]
    fn inserted_variables_are_not_searched() {
        let files = MemoryFiles::new().with("/p/.env", "A='{{ x }}'\n");
        let (_, faults) =
            read_with(files, "- {type: llm-judge, prompt: '${{ A }} $${{ b }}'}").parts();
        assert_eq!(faults, [""; 0]);
    }
    fn user_message(trial: &Trial, reply: &str) -> String {
        let mut shown = None;
        trial.grades(|ask| {
            let Question::Judge(question) = &ask.question else {
                panic!("{ask:?}");
            };
            shown = question.messages[1].text();
            Answer::Judge(reply.to_owned())
        });
        shown.expect("a text")
    }

    const SATISFIED: &str = r#"{"checks": [{"id": "rubric-1", "satisfied": true}, {"id": "criteria", "satisfied": true}]}"#;

    #[test]
    fn a_prompt_with_the_answer_is_the_whole_message() {
        let prompt = "Is {{ answer }} right for {{ question }}?";
        let yaml = format!("- {{type: llm-judge, prompt: '{prompt}'}}");
        let mut trial = Trial::new(&yaml, Transcript::of_text("4"));
        trial.test.criteria = Some("Adds".to_owned());
        let shown = user_message(&trial, "{\"score\": 1}");
        assert_eq!(shown, "Is 4 right for Hi?");
        let yaml = format!("- {{type: llm-judge, prompt: '{prompt}', rubrics: [Is brief]}}");
        let trial = Trial::new(&yaml, Transcript::of_text("4"));
        assert_eq!(
            user_message(&trial, SATISFIED),
            "Is 4 right for Hi?\n\n## Checks\n- [rubric-1] Is brief"
        );
    }

    #[test]
    fn another_prompt_is_the_task() {
        let yaml = "- {type: llm-judge, prompt: 'Be strict about {{ criteria }}.'}";
        let mut trial = Trial::new(yaml, Transcript::of_text("4"));
        trial.test.criteria = Some("sums".to_owned());
        assert_eq!(
            user_message(&trial, "{\"score\": 1}"),
            "## Task\nBe strict about sums.\n\n## Criteria\nsums\n\n\
             ## Input\n```\nHi\n```\n\n## Answer\n```\n4\n```"
        );
        let yaml = "- {type: llm-judge, prompt: Be strict., rubrics: [Is brief]}";
        let trial = Trial::new(yaml, Transcript::of_text("4"));
        let shown = user_message(&trial, SATISFIED);
        assert!(shown.starts_with("## Task\nBe strict.\n\n## Input"));
        assert!(shown.ends_with("## Checks\n- [rubric-1] Is brief"));
    }

    #[test]
    fn every_variable_is_filled_in() {
        let prompt = "{{question}}|{{input}}|{{criteria}}|{{note}}|{{output}}|{{expected_output}}|\
             {{input_messages}}|{{expected_messages}}|{{rubrics}}|{{metadata}}|{{tool_calls}}|{{{{x}}}}";
        let yaml = format!("- {{type: llm-judge, prompt: '{prompt}'}}");
        let mut trial = Trial::new(&yaml, Transcript::of_text("{{ note }}"));
        trial.test.metadata.insert("a", true);
        assert_eq!(
            user_message(&trial, "{\"score\": 1}"),
            "Hi|Hi|||{{ note }}||[\n  {\n    \"role\": \"user\",\n    \"content\": \"Hi\"\n  }\n]|[]|[]|\
             {\n  \"a\": true\n}|null|{{x}}"
        );
    }

    #[test]
    fn criteria_is_judged_as_one_item() {
        let mut trial = Trial::new("- {type: llm-judge}", Transcript::of_text("Hello"));
        trial.test.criteria = Some("Greets".to_owned());
        let shown = user_message(&trial, SATISFIED);
        assert!(shown.contains("## Criteria\nGreets\n"));
        assert!(shown.ends_with("## Checks\n- [criteria] Greets"));
        let grades = trial.grades(|_| Answer::Judge(SATISFIED.to_owned()));
        assert!(matches!(&grades[0].grade, Grade::Graded(marks) if marks.hits == ["Greets"]));
        trial.test.criteria = None;
        assert_eq!(trial.fault().stage, Stage::Judge);
    }

    #[test]
    fn the_value_of_an_llm_rubric_is_checked() {
        let trial = Trial::new("- {type: llm-rubric, value: Is brief}", Transcript::of_text("4"));
        assert!(user_message(&trial, SATISFIED).ends_with("- [rubric-1] Is brief"));
    }

    #[test]
    fn a_prompt_that_cannot_be_read_is_a_fault() {
        let yaml =
            "- {type: llm-judge, prompt: ./none.md, rubrics: [{outcome: a, required: true}]}";
        let trial = Trial::new(yaml, Transcript::of_text("4"));
        let grade = trial.only();
        assert_eq!(grade.gate, Some(crate::model::Gate::Unchecked));
        let fault = trial.fault();
        assert_eq!((fault.stage, fault.kind), (Stage::Judge, FaultKind::Io));
        assert_eq!(fault.message, "the prompt file `./none.md` could not be read");
        let yaml = "- {type: llm-judge, prompt: {command: [a]}}";
        let fault = Trial::new(yaml, Transcript::of_text("4")).fault();
        assert!(fault.message.contains("not supported"));
        let mut trial = Trial::new(yaml, Transcript::of_text("4"));
        trial.options.judging = Judging::Skip;
        assert!(matches!(trial.only().grade, Grade::Skipped(_)));
    }

    #[test]
    fn a_prompt_file_is_filled_in() {
        let files = MemoryFiles::new().with("/p/judge.md", "Rate {{ answer }}\n");
        let yaml = "- {type: llm-judge, prompt: ./judge.md}";
        let trial = Trial::with_files(files, yaml, Transcript::of_text("4"));
        assert_eq!(user_message(&trial, "{\"score\": 1}"), "Rate 4\n");
    }
}
