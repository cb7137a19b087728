//! `code-judge`: a script of the author's grades the answer (spec 7.14, 10.1).

use crate::diagnostic::{Diagnostic, declare_codes, did_you_mean};
use crate::model::{Check, CommonOptions, GradingContext, Map, Step};
use crate::source::Span;
use crate::syntax::fields::{Field, shorten};

use super::kind::{AssertionKind, UnknownKeys};
use super::options::Options;
use super::read::{COMMON, unsupported_in_run};
use super::script::{self, CWD, Script, TIMEOUT, read_command, read_place};

declare_codes! {
    STRAY_CONFIG = "stray-config", Warning, Assertion, r#"A code judge has a key that is none of its options. The script gets it as part of `config`.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Is brief
    input: Hi
    assert:
      - {type: code-judge, script: ./judge, max_words: 50}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Is brief
    input: Hi
    assert:
      - {type: code-judge, script: ./judge, config: {max_words: 50}}
```

## Why
A misspelt option looks the same, and would silently become a setting of the script.
"#;
}

pub(super) static KIND: AssertionKind = AssertionKind {
    name: "code-judge",
    aliases: &["code-grader", "script"],
    fields: FIELDS,
    unknown_keys: UnknownKeys::Config,
    takes_config: true,
    doc:
        "A script grades the answer. It gets the test and the transcript as JSON on stdin and prints
`{\"score\": 0.5, \"hits\": [], \"misses\": []}`. A list is run directly, a text through `sh -c`.

```yaml
assert:
  - type: code-judge
    name: arithmetic
    description: The figures add up
    script: [check-sums, --strict]
    timeout_seconds: 10
    config: {columns: [revenue]}
  - type: code-judge
    script: python3 judges/brief.py | tail -n 1
```
",
    read,
};

pub(super) static FIELDS: &[Field] = &[
    Field::new(
        "script",
        script::SHAPE,
        "a list is run directly, a text through `sh -c`",
    )
    .also(&["command"])
    .required(),
    CWD,
    TIMEOUT,
];

fn read(options: &mut Options<'_, '_, '_>) -> Option<Box<dyn Check>> {
    report_limited_target(options);
    take_strays(options, Stray::Reported);
    let place = read_place(options);
    let entry = options.require("script")?;
    let command = read_command(options, &entry)?;
    Some(Box::new(CodeJudge {
        script: place?.with(command),
    }))
}

/// `target: {max_calls: …}` lets the script of another tool call a model.
fn report_limited_target(options: &mut Options<'_, '_, '_>) {
    if let Some(key) = stray_target(options) {
        let message = "a code judge that calls a target is not supported";
        options.report(
            unsupported_in_run(key, message)
                .help("remove `target`; let the script call a model itself, or use `llm-judge`"),
        );
    }
}

fn stray_target(options: &Options<'_, '_, '_>) -> Option<Span> {
    options
        .fields
        .unknown()
        .find(|(key, value)| key.scalar_text() == Some("target") && value.is_mapping())
        .map(|(key, _)| key.span())
}

/// Whether keys that are no options deserve a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stray {
    Reported,
    Welcome,
}

/// Keys that no table knows become configuration; what stands in `config` already stays.
pub(super) fn take_strays(options: &mut Options<'_, '_, '_>, stray: Stray) {
    for (key, value) in options.fields.unknown() {
        let name = key.scalar_text().unwrap_or("");
        if stray == Stray::Reported {
            if name == "target" && value.is_mapping() {
                continue;
            }
            let options_known = FIELDS.iter().chain(COMMON).map(|field| field.name);
            let help = match did_you_mean(name, options_known) {
                Some(near) => format!("did you mean `{near}`? settings go under `config`"),
                None => "write it under `config`".to_owned(),
            };
            let message = format!("`{}` is handed to the script as a setting", shorten(name));
            options
                .reader
                .report(Diagnostic::new(&STRAY_CONFIG, key.span(), message).help(help));
        }
        if options.config.get(name).is_none() {
            let value = options.reader.value(name, value);
            options.config.insert(name, value);
        }
    }
}

#[derive(Debug)]
struct CodeJudge {
    script: Script,
}

impl Check for CodeJudge {
    fn options(&self) -> Map {
        self.script.options()
    }

    fn sentences(&self, common: &CommonOptions) -> Vec<String> {
        let called = common.name.clone().unwrap_or_else(|| self.script.written());
        vec![match &common.description {
            Some(description) => format!("{called}: {description}"),
            None => called,
        }]
    }

    fn grade(&self, context: &GradingContext<'_>) -> Step {
        self.script.grade(context)
    }
}

#[cfg(test)]
mod tests {
    use super::super::snippet::{read, read_with};
    use crate::model::{JsonStyle, Value};
    use crate::source::MemoryFiles;

    #[test]
    fn a_list_and_a_text_are_scripts() {
        for (script, sentence) in [
            (
                "[python3, ./judges/check.py, --fast]",
                "python3 ./judges/check.py --fast",
            ),
            ("'exit 0'", "exit 0"),
        ] {
            let yaml = format!("- {{type: code_judge, script: {script}}}");
            let files = MemoryFiles::new().with("/p/judges/check.py", "");
            let (assertions, faults) = read_with(files, &yaml);
            assert_eq!(faults, [""; 0], "{script}");
            assert_eq!(assertions[0].sentences(), [sentence]);
        }
    }

    #[test]
    fn name_and_description_make_the_sentence() {
        let yaml = "- {type: script, name: sum, description: Adds up, command: [awk, x]}";
        let (assertions, faults) = read(yaml);
        assert_eq!(faults, [""; 0]);
        assert_eq!(assertions[0].sentences(), ["sum: Adds up"]);
        assert_eq!(assertions[0].type_name, "code-judge");
    }

    #[test]
    fn stray_keys_become_config_and_written_ones_win() {
        let yaml =
            "- {type: code-judge, script: run, max: 5, unit: words, config: {max: 7}, x-a: 1}";
        let (assertions, faults) = read(yaml);
        assert_eq!(faults, ["stray-config", "stray-config"]);
        let config = Value::from(assertions[0].common.config.clone());
        assert_eq!(
            config.to_json(JsonStyle::Compact),
            r#"{"max":7,"unit":"words"}"#
        );
    }

    #[test]
    fn a_target_for_the_script_is_not_supported() {
        assert_eq!(
            read("- {type: code-judge, script: run, target: {max_calls: 5}}").1,
            ["unsupported-feature"]
        );
        assert_eq!(
            read("- {type: code-judge, script: run, target: judge}").1,
            ["stray-config"]
        );
    }
}
