//! Custom types (spec 7.24): a script under a name of the author's choice.

use camino::Utf8PathBuf;

use crate::diagnostic::{Diagnostic, Level, declare_codes, did_you_mean};
use crate::model::{Check, CommonOptions, GradingContext, Map, Step};
use crate::reader::{Options, ReadResult, Reader, Reported};
use crate::source::{EntryKind, Span};
use crate::syntax::fields::{Field, shorten};

use super::KINDS;
use super::code_judge::{ConfigKeys, take_config_keys};
use super::kind::EntryContext;
use super::script::{self, CWD, Command, Language, Script, TIMEOUT, read_command, read_setup};

declare_codes! {
    UNKNOWN_ASSERTION_TYPE = "unknown-assertion-type", Blocking, Assertion, r#"This is not a built-in type, and no judge script is named after it.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - {type: contians, value: Hello}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Greets
    input: Hi
    assert:
      - {type: contains, value: Hello}
      - {type: word-count, max: 50}
```
```python .evalrig/judges/word-count.py
print('{"score": 1.0}')
```

## Why
Skipping an unknown check would make the test pass for the wrong reason. A custom type is a script
`.evalrig/judges/<type>.py` (or `sh`, `js`, `mjs`, `ts`, `rb`, `pl`), or an assertion with `script`.
"#;
}

/// Options besides the common ones; every other key is configuration.
pub(super) static FIELDS: &[Field] = &[
    Field::new(
        "script",
        script::SHAPE,
        "a list is run directly, a string through `sh -c`; default: the file named after the type",
    )
    .also(&["command"]),
    CWD,
    TIMEOUT,
];

/// Where judge scripts are found, in each directory from the suite's up to the root.
const DIRECTORIES: &[&str] =
    &[".evalrig/judges", ".agentv/judges", ".agentv/assertions", ".agentv/graders"];

pub(super) fn read(
    options: &mut Options<'_, '_, '_>,
    context: &mut EntryContext<'_>,
) -> ReadResult<Box<dyn Check>> {
    let type_name = options.owner;
    let command = match options.get("script") {
        Some(entry) if !type_name.trim().is_empty() => read_command(options, &entry),
        _ => find_script(options).ok_or_else(|| report_unknown_type(options)),
    };
    let setup = read_setup(options);
    take_config_keys(options, context, ConfigKeys::Accepted);
    Ok(Box::new(CustomCheck { type_name: type_name.to_owned(), script: setup?.with(command?) }))
}

fn find_script(options: &mut Options<'_, '_, '_>) -> Option<Command> {
    // `_` and `-` are equivalent in type names, so the file may have either. The written spelling
    // comes first.
    let node = options.get("type")?.value;
    let (written, place) = (node.scalar_text()?, node.span());
    let mut spellings = vec![written.to_owned()];
    for spelling in [written.replace('_', "-"), written.replace('-', "_")] {
        if !spellings.contains(&spelling) {
            spellings.push(spelling);
        }
    }
    let reader = &mut *options.reader;
    let above: Vec<Utf8PathBuf> = reader
        .main_directory
        .ancestors()
        .take_while(|directory| directory.starts_with(&reader.root))
        .map(ToOwned::to_owned)
        .collect();
    let directories =
        above.iter().flat_map(|above| DIRECTORIES.iter().map(|name| above.join(name)));
    for directory in directories {
        // Most do not exist; `kind_of` caches its answers.
        if reader.kind_of(&directory) != Some(EntryKind::Directory) {
            continue;
        }
        for name in spellings.iter().filter(|name| is_file_name(name)) {
            if let Some(found) = find_in(reader, &directory, name, place) {
                return Some(found);
            }
        }
    }
    None
}

fn find_in(
    reader: &mut Reader<'_>,
    directory: &Utf8PathBuf,
    name: &str,
    place: Span,
) -> Option<Command> {
    Language::EXTENSIONS
        .iter()
        .map(|(extension, language)| (directory.join(format!("{name}.{extension}")), *language))
        .find(|(path, _)| {
            // A script that is a link out of the repository is reported, and not passed over.
            reader.refuse_outside(path, path.as_str(), place, Level::BlocksRun)
                || reader.kind_of(path) == Some(EntryKind::File)
        })
        .map(|(path, language)| Command::Found {
            shown: path.strip_prefix(&reader.root).unwrap_or(&path).to_string(),
            path,
            language,
        })
}

/// A name that cannot escape the directory it is looked up in.
fn is_file_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}

fn report_unknown_type(options: &mut Options<'_, '_, '_>) -> Reported {
    let name = options.owner;
    let known = KINDS
        .iter()
        .flat_map(|kind| std::iter::once(kind.name).chain(kind.aliases.iter().copied()));
    let help = match did_you_mean(name, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None if is_file_name(name) => format!(
            "`evalrig explain` lists all types; a custom type needs `.evalrig/judges/{name}.py` or `script`"
        ),
        None => "`evalrig explain` lists all types".to_owned(),
    };
    let place = options.get("type").map_or(options.head(), |entry| entry.value.span());
    let message = format!("unknown assertion type `{}`", shorten(name));
    options.report(Diagnostic::new(&UNKNOWN_ASSERTION_TYPE, place, message).help(help))
}

#[derive(Debug)]
struct CustomCheck {
    type_name: String,
    script: Script,
}

impl Check for CustomCheck {
    fn losses(&self, type_name: &str) -> Vec<(&'static str, String)> {
        vec![("code-judge", format!("only the name of the script of `{type_name}` is written"))]
    }

    fn options(&self) -> Map {
        self.script.options()
    }

    fn sentences(&self, common: &CommonOptions) -> Vec<String> {
        vec![match (&common.description, &common.name) {
            (Some(description), _) => format!("{}: {description}", self.type_name),
            (None, Some(name)) => name.clone(),
            (None, None) => self.type_name.clone(),
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
    fn a_file_named_after_the_type_is_found() {
        let files = || {
            MemoryFiles::new()
                .with("/p/.agentv/judges/word-count.py", "")
                .with("/p/.agentv/judges/line_count.rb", "")
        };
        for name in ["word-count", "word_count", "line_count", "line-count"] {
            let yaml = format!("- {{type: {name}, max: 50, script_args: [a], x-note: 1}}");
            let (assertions, faults) = read_with(files(), &yaml).parts();
            assert_eq!(faults, [""; 0], "{name}");
            let config = Value::from(assertions[0].common.config.clone());
            assert_eq!(config.to_json(JsonStyle::Compact), r#"{"max":50,"script_args":["a"]}"#);
        }
    }

    #[test]
    fn the_first_directory_and_extension_win() {
        let files = MemoryFiles::new()
            .with("/p/.agentv/judges/tone.py", "")
            .with("/p/.evalrig/judges/tone.ts", "")
            .with("/p/.evalrig/judges/tone.sh", "");
        let (assertions, _) = read_with(files, "- {type: tone}").parts();
        let options = Value::from(assertions[0].check.options());
        assert_eq!(options.to_json(JsonStyle::Compact), r#"{"timeout_seconds":60}"#);
    }

    #[test]
    fn a_type_with_a_script_needs_no_file() {
        let yaml = "- {type: tone, command: 'exit 0', description: Is kind, level: 2}";
        let (assertions, faults) = read(yaml).parts();
        assert_eq!(faults, [""; 0]);
        assert_eq!(assertions[0].type_name, "tone");
        assert_eq!(assertions[0].sentences(), ["tone: Is kind"]);
    }

    #[test]
    fn without_a_description_the_name_or_the_type_is_the_sentence() {
        let yaml = "- {type: tone, script: x}\n- {type: tone, script: x, name: kind}";
        let (assertions, _) = read(yaml).parts();
        assert_eq!(assertions[0].sentences(), ["tone"]);
        assert_eq!(assertions[1].sentences(), ["kind"]);
    }

    #[test]
    fn near_names_are_suggested() {
        for (written, near) in [
            ("contians", "`contains`"),
            ("Contains", "`contains`"),
            ("llm_graders", "`llm-grader`"),
        ] {
            let yaml = format!("- {{type: {written}, value: x}}");
            let found = read(&yaml);
            let faults = &found.diagnostics;
            assert_eq!(faults.len(), 1);
            assert_eq!(faults[0].code.name, "unknown-assertion-type");
            assert!(faults[0].help.as_deref().unwrap_or("").contains(near));
        }
    }

    #[test]
    fn no_name_leaves_the_judges_directory() {
        let files = || {
            MemoryFiles::new()
                .with("/p/.evalrig/judges/a.py", "")
                .with("/p/.evalrig/x.py", "")
                .with("/p/.evalrig/judges/sub/b.py", "")
                .with("/p/.evalrig/judges/.hidden.py", "")
        };
        for name in ["../x", "sub/b", ".hidden", "'a\\0'", "''", "..", "/p/.evalrig/x"] {
            let yaml = format!("- {{type: {name}}}");
            assert_eq!(read_with(files(), &yaml).names(), ["unknown-assertion-type"], "{name}");
        }
    }
}
