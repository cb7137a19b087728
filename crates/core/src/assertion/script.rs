//! Scripts that grade: which program, where, and how long (spec 4, 7.14).

use camino::Utf8PathBuf;

use crate::diagnostic::{Diagnostic, Level, declare_codes};
use crate::model::{Map, Value};
use crate::source::{EntryKind, Span, Spanned};
use crate::syntax::fields::{Entry, Field, MISSING_OPTION, Shape};

use super::options::Options;

declare_codes! {
    SCRIPT_NOT_FOUND = "script-not-found", BlocksRun, Reference, r#"The script of a code judge is not there.

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
The test could be run but not graded. The path starts at the directory of the file in which it is
written, whatever `cwd` says. A script given as one text goes to the shell and is not looked up.
"#;
    NOT_A_DIRECTORY = "not-a-directory", BlocksRun, Reference, r#"The `cwd` of a script does not exist, or is a file.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Adds up
    input: What is 40 + 2?
    assert:
      - {type: code-judge, script: [make, grade], cwd: ./judge}
```
```make judges/Makefile
grade:
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Adds up
    input: What is 40 + 2?
    assert:
      - {type: code-judge, script: [make, grade], cwd: ./judges}
```
```make judges/Makefile
grade:
```

## Why
The script could not be started there.
"#;
}

/// A program with its arguments, or a line for the shell.
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
    "limit of one call; default 60",
);

const DEFAULT_TIMEOUT: u64 = 60;

/// Endings by which an element of a `script` list is known as a file.
const EXTENSIONS: &[&str] = &[".py", ".js", ".mjs", ".cjs", ".ts", ".sh", ".rb", ".pl"];

/// Where and how long a script runs.
#[derive(Debug)]
pub struct Place {
    pub cwd: Cwd,
    pub timeout_seconds: u64,
}

impl Place {
    pub(super) fn with(self, command: Command) -> Script {
        Script {
            command,
            place: self,
        }
    }
}

#[derive(Debug)]
pub enum Cwd {
    /// The directory of the file that holds the judge.
    Own(Utf8PathBuf),
    /// `path` is absent when there is no such directory; then the reason has been reported.
    Written {
        text: String,
        path: Option<Utf8PathBuf>,
    },
}

pub(super) fn read_place(options: &mut Options<'_, '_, '_>) -> Option<Place> {
    let timeout = options
        .get("timeout_seconds")
        .map(|entry| options.reader.integer(&entry, 1, 3600));
    let cwd = match options.get("cwd") {
        Some(entry) => read_cwd(options, &entry),
        None => Some(Cwd::Own(options.reader.directory.clone())),
    };
    Some(Place {
        timeout_seconds: timeout.unwrap_or(Some(DEFAULT_TIMEOUT))?,
        cwd: cwd?,
    })
}

fn read_cwd(options: &mut Options<'_, '_, '_>, entry: &Entry<'_>) -> Option<Cwd> {
    let Spanned { value: text, span } = options.reader.spanned_text(entry)?;
    let resolved = options.reader.resolve(&text, span, Level::BlocksRun);
    let path = resolved.map(|resolved| resolved.0).filter(|path| {
        let kind = options.reader.kind_of(path);
        if kind != Some(EntryKind::Directory) {
            let shown = options.reader.shown(path);
            let message = match kind {
                None => format!("no directory at `{shown}`"),
                Some(_) => format!("`{shown}` is not a directory"),
            };
            let fault = Diagnostic::new(&NOT_A_DIRECTORY, span, message);
            let help = options.reader.elsewhere(&text);
            options.reader.report(fault.help_if(help));
        }
        kind == Some(EntryKind::Directory)
    });
    Some(Cwd::Written { text, path })
}

/// What is started.
#[derive(Debug)]
pub enum Command {
    /// Program and arguments.
    Direct(Vec<Word>),
    /// Handed to `sh -c` untouched.
    Shell(String),
    /// A file that was found by the name of a custom type. `shown` starts at the repository root.
    Found {
        path: Utf8PathBuf,
        shown: String,
        language: Language,
    },
}

/// One element of a `script` list.
#[derive(Debug, PartialEq, Eq)]
pub struct Word {
    pub written: String,
    /// The file or directory that it names; takes its place when the script is started.
    pub path: Option<Utf8PathBuf>,
}

/// What a script is written in decides which program runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    Python,
    Shell,
    JavaScript,
    TypeScript,
    Ruby,
    Perl,
}

impl Language {
    /// Extensions, in the order in which files are looked for.
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

pub(super) fn read_command(
    options: &mut Options<'_, '_, '_>,
    entry: &Entry<'_>,
) -> Option<Command> {
    if !entry.value.is_sequence() {
        let text = options.reader.spanned_text(entry)?;
        if text.value.trim().is_empty() {
            options.report(empty_script(text.span));
            return None;
        }
        return Some(Command::Shell(text.value));
    }
    let elements = options.reader.text_list(entry)?;
    if elements
        .first()
        .is_none_or(|first| first.value.trim().is_empty())
    {
        options.report(empty_script(entry.value.span()));
        return None;
    }
    let mut must_exist = true;
    let words = elements.into_iter().enumerate().map(|(at, element)| {
        let is_program = at == 0;
        if !looks_like_path(&element.value) {
            return Word {
                written: element.value,
                path: None,
            };
        }
        let path = if is_program {
            options.reader.look_up(&element.value).map(|(path, _)| path)
        } else {
            find_argument(options, &element, std::mem::take(&mut must_exist))
        };
        Word {
            written: element.value,
            path,
        }
    });
    Some(Command::Direct(words.collect()))
}

fn empty_script(span: Span) -> Diagnostic {
    Diagnostic::new(&MISSING_OPTION, span, "`script` names no program")
        .help("write `script: [python3, ./judge.py]`")
}

/// By the ruling on section 4. A flag or an address holds `/` but is no path.
fn looks_like_path(text: &str) -> bool {
    let is_other = text.starts_with('-') || (text.contains("://") && !text.starts_with("file://"));
    let has_slash = text.contains('/') && !text.contains(char::is_whitespace);
    let is_script = EXTENSIONS.iter().any(|end| text.ends_with(end));
    !is_other && (has_slash || is_script)
}

/// The first argument that is a path is the script itself and must be there.
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
    let is_on_system = text.starts_with('/') && reader.kind_of(text.as_str().into()).is_some();
    if must_exist && !is_on_system {
        let message = format!("no script at `{}`", reader.shown(&path));
        let help = reader
            .elsewhere(text)
            .unwrap_or_else(|| "write a path that starts at the directory of this file".to_owned());
        reader.report(Diagnostic::new(&SCRIPT_NOT_FOUND, span, message).help(help));
    }
    None
}

/// A command with its place: all that is needed to run a judge script.
#[derive(Debug)]
pub struct Script {
    pub command: Command,
    pub place: Place,
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
            // The type's name leads there again.
            Command::Found { .. } => {}
        }
        if let Cwd::Written { text, .. } = &self.place.cwd {
            map.insert("cwd", text.as_str());
        }
        map.insert("timeout_seconds", Value::from(self.place.timeout_seconds));
        map
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
    use super::super::snippet::{diagnose, marked, read, read_with};
    use crate::reader::Limits;
    use crate::source::MemoryFiles;

    fn files() -> MemoryFiles {
        MemoryFiles::new()
            .with("/p/judges/check.py", "")
            .with("/usr/lib/judge.py", "")
    }

    #[test]
    fn a_script_that_is_not_there_is_marked() {
        let yaml = "- {type: code-judge, script: [python3, chekc.py, /also/not/there]}";
        let (_, faults) = diagnose(files(), &Limits::default(), yaml);
        assert_eq!(faults.len(), 1);
        assert_eq!(faults[0].code.name, "script-not-found");
        assert_eq!(marked(yaml, &faults[0]), "chekc.py");
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
            assert_eq!(read_with(files(), &yaml).1, [""; 0], "{script}");
        }
    }

    #[test]
    fn paths_stay_inside_the_root() {
        let yaml = "- {type: code-judge, script: [python3, ../../usr/lib/judge.py], cwd: ../x}";
        assert_eq!(
            read_with(files(), yaml).1,
            ["path-outside-root", "path-outside-root"]
        );
    }

    #[test]
    fn the_working_directory_must_exist() {
        for (cwd, faults) in [
            ("judges", &[][..]),
            ("judges/check.py", &["not-a-directory"]),
            ("nowhere", &["not-a-directory"]),
        ] {
            let yaml = format!("- {{type: code-judge, script: 'true', cwd: {cwd}}}");
            assert_eq!(read_with(files(), &yaml).1, faults, "{cwd}");
        }
    }

    #[test]
    fn what_names_no_program_is_refused() {
        for script in ["[]", "''", "['']"] {
            let yaml = format!("- {{type: code-judge, script: {script}}}");
            assert_eq!(read(&yaml).1, ["missing-option"], "{script}");
        }
        assert_eq!(read("- {type: code-judge}").1, ["missing-option"]);
        assert_eq!(
            read("- {type: code-judge, script: x, timeout_seconds: 4000}").1,
            ["out-of-range"]
        );
    }
}
