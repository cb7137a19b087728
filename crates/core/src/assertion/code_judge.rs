//! `code-judge`: a script grades the answer (spec 7.14, 10.1).

use camino::Utf8PathBuf;

use crate::diagnostic::{Diagnostic, declare_codes, did_you_mean};
use crate::model::{Check, CommonOptions, GradingContext, Map, Step};
use crate::reader::{Options, ReadResult};
use crate::source::Span;
use crate::syntax::fields::{Field, shorten};

use super::kind::{AssertionKind, EntryContext, UnknownKeys};
use super::read::{COMMON, unsupported_in_run};
use super::script::{self, CWD, Script, TIMEOUT, read_command, read_setup};

declare_codes! {
    STRAY_CONFIG = "stray-config", Warning, Assertion, r#"A code judge has a key that is not an option. The script receives it as part of `config`.

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
A misspelled option looks the same and would silently become a setting of the script.
"#;
}

pub(super) static KIND: AssertionKind = AssertionKind {
    name: "code-judge",
    aliases: &["code-grader", "script"],
    fields: FIELDS,
    needs_one_of: &[],
    unknown_keys: UnknownKeys::Config,
    takes_config: true,
    doc:
        "A script grades the answer. It receives the test and the transcript as JSON on stdin and prints
`{\"score\": 0.5, \"hits\": [], \"misses\": []}`. A list is run directly, a string through `sh -c`.

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
    Field::new("script", script::SHAPE, "a list is run directly, a string through `sh -c`")
        .also(&["command"])
        .required(),
    CWD,
    TIMEOUT,
];

fn read(
    options: &mut Options<'_, '_, '_>,
    context: &mut EntryContext<'_>,
) -> ReadResult<Box<dyn Check>> {
    report_limited_target(options);
    take_config_keys(options, context, ConfigKeys::Reported);
    let setup = read_setup(options);
    let entry = options.require("script")?;
    let command = read_command(options, &entry)?;
    Ok(Box::new(CodeJudge { script: setup?.with(command) }))
}

/// `target: {max_calls: …}` lets the scripts of another tool call a model.
fn report_limited_target(options: &mut Options<'_, '_, '_>) {
    if let Some(key) = limited_target(options) {
        let message = "a code judge that calls a target is not supported";
        options.report(
            unsupported_in_run(key, message)
                .help("remove `target`; let the script call a model itself, or use `llm-judge`"),
        );
    }
}

fn limited_target(options: &Options<'_, '_, '_>) -> Option<Span> {
    options
        .fields
        .unknown()
        .find(|(key, value)| key.scalar_text() == Some("target") && value.is_mapping())
        .map(|(key, _)| key.span())
}

/// Whether keys that become configuration are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConfigKeys {
    Reported,
    Accepted,
}

/// Adds unknown keys to the configuration, unless `config` already has them.
pub(super) fn take_config_keys(
    options: &mut Options<'_, '_, '_>,
    context: &mut EntryContext<'_>,
    keys: ConfigKeys,
) {
    let config = &mut context.common.config;
    for (key, value) in options.fields.unknown() {
        let name = key.scalar_text().unwrap_or("");
        if keys == ConfigKeys::Reported {
            if name == "target" && value.is_mapping() {
                continue;
            }
            let known = FIELDS.iter().chain(COMMON).map(|field| field.name);
            let help = match did_you_mean(name, known) {
                Some(near) => format!("did you mean `{near}`? settings go under `config`"),
                None => "write it under `config`".to_owned(),
            };
            let message = format!("`{}` is passed to the script as a setting", shorten(name));
            options.report(Diagnostic::new(&STRAY_CONFIG, key.span(), message).help(help));
        }
        if config.get(name).is_none() {
            let value = options.reader.value(name, value);
            config.insert(name, value);
        }
    }
}

#[derive(Debug)]
struct CodeJudge {
    script: Script,
}

impl Check for CodeJudge {
    fn losses(&self, _: &str) -> Vec<(&'static str, String)> {
        vec![("code-judge", "only the name of the script is written".to_owned())]
    }

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

    fn script_files(&self) -> Vec<Utf8PathBuf> {
        self.script.files()
    }

    fn script_program(&self) -> Option<String> {
        self.script.program()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{read, read_with};
    use crate::model::{JsonStyle, Value};
    use crate::source::MemoryFiles;

    #[test]
    fn a_list_and_a_text_are_scripts() {
        for (script, sentence) in [
            ("[python3, ./judges/check.py, --fast]", "python3 ./judges/check.py --fast"),
            ("'exit 0'", "exit 0"),
        ] {
            let yaml = format!("- {{type: code_judge, script: {script}}}");
            let files = MemoryFiles::new().with("/p/judges/check.py", "");
            let (assertions, faults) = read_with(files, &yaml).parts();
            assert_eq!(faults, [""; 0], "{script}");
            assert_eq!(assertions[0].sentences(), [sentence]);
        }
    }

    #[test]
    fn name_and_description_make_the_sentence() {
        let yaml = "- {type: script, name: sum, description: Adds up, command: [awk, x]}";
        let (assertions, faults) = read(yaml).parts();
        assert_eq!(faults, [""; 0]);
        assert_eq!(assertions[0].sentences(), ["sum: Adds up"]);
        assert_eq!(assertions[0].type_name, "code-judge");
    }

    #[test]
    fn stray_keys_become_config_and_written_ones_win() {
        let yaml =
            "- {type: code-judge, script: run, max: 5, unit: words, config: {max: 7}, x-a: 1}";
        let (assertions, faults) = read(yaml).parts();
        assert_eq!(faults, ["stray-config", "stray-config"]);
        let config = Value::from(assertions[0].common.config.clone());
        assert_eq!(config.to_json(JsonStyle::Compact), r#"{"max":7,"unit":"words"}"#);
    }

    #[test]
    fn a_target_for_the_script_is_not_supported() {
        assert_eq!(
            read("- {type: code-judge, script: run, target: {max_calls: 5}}").names(),
            ["unsupported-feature"]
        );
        assert_eq!(
            read("- {type: code-judge, script: run, target: judge}").names(),
            ["stray-config"]
        );
    }
}
