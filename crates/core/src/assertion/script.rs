//! Scripts that grade: the program, its working directory and its timeout (spec 4, 7.14).

use camino::Utf8PathBuf;

use crate::diagnostic::{Diagnostic, Level, declare_codes};
use crate::model::{Map, Value, has_script_extension, looks_like_path};
use crate::reader::{Options, ReadResult, Reported};
use crate::source::{Span, Spanned, without_dots};
use crate::syntax::fields::{Entry, Field, Shape};

declare_codes! {
    SCRIPT_NOT_FOUND = "script-not-found", BlocksRun, Reference, r#"The script of a code judge does not exist.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Adds up
    input: What is 40 + 2?
    assert:
      - {type: code-judge, script: [python3, ./judges/chekc.py]}
```
```python judges/check.py
print('{"score": 1.0}')
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Adds up
    input: What is 40 + 2?
    assert:
      - {type: code-judge, script: [python3, ./judges/check.py]}
```
```python judges/check.py
print('{"score": 1.0}')
```

## Why
The test could run but not be graded. The path is relative to the directory of the file in which it
is written, whatever `cwd` says. A script given as one text goes to the shell and is not looked up.
"#;
}

/// A program with its arguments, or a shell line.
pub(super) const SHAPE: Shape =
    Shape::OneOf(&[Shape::NonEmptyText, Shape::NonEmptyList(&Shape::Text)]);

pub(super) const CWD: Field = Field::new(
    "cwd",
    Shape::NonEmptyText,
    "working directory of the script; default: the directory of this file",
);

pub(super) const TIMEOUT: Field = Field::new(
    "timeout_seconds",
    Shape::Integer { min: 1, max: 3600 },
    "timeout of one call; default 60",
);

const DEFAULT_TIMEOUT: u64 = 60;

/// The working directory and the timeout of a script.
#[derive(Debug)]
pub(super) struct ScriptSetup {
    pub(super) cwd: Cwd,
    pub(super) timeout_seconds: u64,
}

impl ScriptSetup {
    pub(super) fn with(self, command: Command) -> Script {
        Script { command, setup: self }
    }
}

#[derive(Debug)]
pub(super) enum Cwd {
    /// The directory of the file that holds the judge.
    Own(Utf8PathBuf),
    /// `path` is `None` if the directory does not exist, which has then been reported.
    Written { text: String, path: Option<Utf8PathBuf> },
}

pub(super) fn read_setup(options: &mut Options<'_, '_, '_>) -> ReadResult<ScriptSetup> {
    let timeout = options.integer("timeout_seconds", 1, 3600);
    let cwd = options.optional("cwd", |options, entry| {
        let text = options.text_of("cwd", entry.value)?;
        Ok(find_directory(options, text))
    });
    Ok(ScriptSetup {
        timeout_seconds: timeout?.unwrap_or(DEFAULT_TIMEOUT),
        cwd: cwd?.unwrap_or_else(|| Cwd::Own(options.reader.directory.clone())),
    })
}

fn find_directory(options: &mut Options<'_, '_, '_>, written: Spanned<String>) -> Cwd {
    let path = options.reader.existing_directory(&written.value, written.span);
    Cwd::Written { text: written.value, path }
}

/// What is run.
#[derive(Debug)]
pub(super) enum Command {
    /// Program and arguments.
    Direct(Vec<ScriptWord>),
    /// Passed to `sh -c` unchanged.
    Shell(String),
    /// A file found by the name of a custom type. `shown` is relative to the repository root.
    Found { path: Utf8PathBuf, shown: String, language: Language },
}

/// One element of a `script` list.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ScriptWord {
    pub(super) written: String,
    /// The file or directory that it names, which replaces it in the command.
    pub(super) path: Option<Utf8PathBuf>,
}

/// The language of a script, which decides what program runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Python,
    Shell,
    JavaScript,
    TypeScript,
    Ruby,
    Perl,
}

impl Language {
    /// Extensions, in lookup order.
    pub(super) const EXTENSIONS: &'static [(&'static str, Self)] = &[
        ("py", Self::Python),
        ("sh", Self::Shell),
        ("js", Self::JavaScript),
        ("mjs", Self::JavaScript),
        ("ts", Self::TypeScript),
        ("rb", Self::Ruby),
        ("pl", Self::Perl),
    ];
}

pub(super) fn read_command<'t>(
    options: &mut Options<'_, '_, 't>,
    entry: &Entry<'t>,
) -> ReadResult<Command> {
    if !entry.value.is_sequence() {
        let text = options.text_of(entry.field.name, entry.value)?;
        if text.value.trim().is_empty() {
            return Err(report_empty_script(options, text.span));
        }
        return Ok(Command::Shell(text.value));
    }
    let elements = options.reader.text_list(entry).ok_or(Reported)?;
    if elements.first().is_none_or(|first| first.value.trim().is_empty()) {
        return Err(report_empty_script(options, entry.value.span()));
    }
    let mut must_exist = true;
    let words = elements.into_iter().enumerate().map(|(at, element)| {
        let is_program = at == 0;
        if !looks_like_path(&element.value) {
            return ScriptWord { written: element.value, path: None };
        }
        let path = if is_program {
            options.reader.look_up(&element.value).map(|(path, _)| path)
        } else {
            find_argument(options, &element, std::mem::take(&mut must_exist))
        };
        ScriptWord { written: element.value, path }
    });
    Ok(Command::Direct(words.collect()))
}

fn report_empty_script(options: &mut Options<'_, '_, '_>, span: Span) -> Reported {
    let message = "`script` does not name a program";
    options.missing(span, message, "write `script: [python3, ./judge.py]`")
}

/// The first argument that is a path is the script itself and must exist.
fn find_argument(
    options: &mut Options<'_, '_, '_>,
    element: &Spanned<String>,
    must_exist: bool,
) -> Option<Utf8PathBuf> {
    let reader = &mut *options.reader;
    let (text, span) = (&element.value, element.span);
    let path = reader.resolve(text, span, Level::BlocksRun)?.0;
    if reader.kind_of(&path).is_some() {
        return Some(path);
    }
    let is_on_system =
        text.starts_with('/') && reader.world.files.kind(text.as_str().into()).is_some();
    if must_exist && !is_on_system {
        let message = format!("no script at `{}`", reader.shown(&path));
        let help = reader
            .elsewhere(text)
            .unwrap_or_else(|| "write a path relative to the directory of this file".to_owned());
        reader.report(Diagnostic::new(&SCRIPT_NOT_FOUND, span, message).help(help));
    }
    None
}

/// Everything that is needed to run a judge script.
#[derive(Debug)]
pub(super) struct Script {
    pub(super) command: Command,
    pub(super) setup: ScriptSetup,
}

impl Script {
    /// The options in canonical form.
    pub(super) fn options(&self) -> Map {
        let mut map = Map::new();
        match &self.command {
            Command::Direct(words) => {
                let words: Vec<&str> = words.iter().map(|word| word.written.as_str()).collect();
                map.insert("script", words);
            }
            Command::Shell(text) => map.insert("script", text.as_str()),
            // Found again by the name of the type.
            Command::Found { .. } => {}
        }
        if let Cwd::Written { text, .. } = &self.setup.cwd {
            map.insert("cwd", text.as_str());
        }
        map.insert("timeout_seconds", Value::from(self.setup.timeout_seconds));
        map
    }

    /// The program and the scripts of the command. Other arguments may be files that the script writes.
    /// What it imports is not known.
    pub(super) fn files(&self) -> Vec<Utf8PathBuf> {
        let (Cwd::Own(directory) | Cwd::Written { path: Some(directory), .. }) = &self.setup.cwd
        else {
            return Vec::new();
        };
        match &self.command {
            Command::Direct(words) => {
                let script = words.iter().skip(1).position(|word| word.path.is_some());
                let is_script = |(at, word): &(usize, &ScriptWord)| {
                    *at == 0
                        || Some(*at) == script.map(|at| at + 1)
                        || has_script_extension(&word.written)
                };
                let scripts = words.iter().enumerate().filter(is_script);
                scripts.filter_map(|(_, word)| word.path.clone()).collect()
            }
            Command::Shell(line) => line
                .split(|c: char| c.is_whitespace() || "\"'`();|&<>=".contains(c))
                .filter(|word| has_script_extension(word))
                .map(|word| without_dots(&directory.join(word)))
                .collect(),
            Command::Found { path, .. } => vec![path.clone()],
        }
    }

    /// As its author wrote it.
    pub(super) fn written(&self) -> String {
        match &self.command {
            Command::Direct(words) => {
                let words: Vec<&str> = words.iter().map(|word| word.written.as_str()).collect();
                words.join(" ")
            }
            Command::Shell(text) | Command::Found { shown: text, .. } => text.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{read, read_with};
    use crate::source::MemoryFiles;

    fn files() -> MemoryFiles {
        MemoryFiles::new().with("/p/judges/check.py", "").with("/usr/lib/judge.py", "")
    }

    #[test]
    fn the_program_and_the_scripts_must_not_change() {
        let of = |script: &str| -> Vec<String> {
            let files = files().with("/p/run", "").with("/p/state.json", "").with("/p/b.sh", "");
            let yaml = format!("- {{type: code-judge, script: {script}}}");
            let (assertions, faults) = read_with(files, &yaml).parts();
            assert_eq!(faults, [""; 0], "{script}");
            let found = assertions[0].check.script_files();
            found.into_iter().map(|path| path.into_string()).collect()
        };
        assert_eq!(of("[./run, ./state.json]"), ["/p/run", "/p/state.json"]);
        assert_eq!(of("[python3, judges/check.py, ./state.json]"), ["/p/judges/check.py"]);
        assert_eq!(of("[sh, b.sh, judges/check.py]"), ["/p/b.sh", "/p/judges/check.py"]);
        assert_eq!(of("'python3 ./judges/check.py > ./log'"), ["/p/judges/check.py"]);
        assert_eq!(of("'true'"), [""; 0]);
    }

    #[test]
    fn installed_programs_are_named_and_files_of_the_repository_are_not() {
        let of = |script: &str| {
            let files = files().with("/p/run", "").with("/p/judge.py", "");
            let yaml = format!("- {{type: code-judge, script: {script}}}");
            read_with(files, &yaml).parts().0[0].check.script_program().unwrap_or_default()
        };
        for (script, program) in [
            ("[ruby, judges/check.py]", "ruby"),
            ("[./run]", ""),
            ("[./build/judge]", ""),
            ("[/opt/judge]", "/opt/judge"),
            ("'python3.12 ./judge.py > ./log'", "python3.12"),
            ("'. ./judge.py'", "sh"),
            ("'A=1 ruby judge.py'", "sh"),
            ("'cd judges && ls'", "sh"),
        ] {
            assert_eq!(of(script), program, "{script}");
        }
    }

    #[test]
    fn a_script_that_is_not_there_is_marked() {
        let yaml = "- {type: code-judge, script: [python3, chekc.py, /also/not/there]}";
        let found = read_with(files(), yaml);
        let faults = &found.diagnostics;
        assert_eq!(faults.len(), 1);
        assert_eq!(faults[0].code.name, "script-not-found");
        assert_eq!(found.marked()[0], "chekc.py");
    }

    #[test]
    fn programs_flags_and_system_paths_are_not_demanded() {
        for script in [
            "[./build/judge]",
            "[python3, /usr/lib/judge.py]",
            "[python3, -m, judge]",
            "[curl, --data=./x, 'https://example.org/judge']",
            "[python3, judges/check.py, ./none.json]",
        ] {
            let yaml = format!("- {{type: code-judge, script: {script}}}");
            assert_eq!(read_with(files(), &yaml).names(), [""; 0], "{script}");
        }
    }

    #[test]
    fn paths_stay_inside_the_root() {
        let yaml = "- {type: code-judge, script: [python3, ../../usr/lib/judge.py], cwd: ../x}";
        assert_eq!(read_with(files(), yaml).names(), ["path-outside-root", "path-outside-root"]);
    }

    #[test]
    fn the_working_directory_must_exist() {
        for (cwd, faults) in [
            ("judges", &[][..]),
            ("judges/check.py", &["not-a-directory"]),
            ("nowhere", &["not-a-directory"]),
        ] {
            let yaml = format!("- {{type: code-judge, script: 'true', cwd: {cwd}}}");
            assert_eq!(read_with(files(), &yaml).names(), faults, "{cwd}");
        }
    }

    #[test]
    fn what_names_no_program_is_refused() {
        for script in ["[]", "''", "['']"] {
            let yaml = format!("- {{type: code-judge, script: {script}}}");
            assert_eq!(read(&yaml).names(), ["missing-option"], "{script}");
        }
        assert_eq!(read("- {type: code-judge}").names(), ["missing-option"]);
        assert_eq!(
            read("- {type: code-judge, script: x, timeout_seconds: 4000}").names(),
            ["out-of-range"]
        );
    }
}
