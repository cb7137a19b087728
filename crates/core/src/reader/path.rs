//! Which file a written path means (spec 4).

use camino::{Utf8Path, Utf8PathBuf};

use crate::diagnostic::{Diagnostic, Level, declare_codes};
use crate::source::{EntryKind, FileFacts, Reach, Span, is_outside, without_dots};

use super::state::Reader;

declare_codes! {
    INVALID_PATH = "invalid-path", Blocking, Reference, r#"A path is blank, begins with a drive letter, or is longer than any file system allows.

## Example
```yaml
name: demo
tests:
  - {id: a, criteria: Sums up, input: Sum up, input_files: ["C:/data/sales.csv"]}
```

## Instead
```yaml
name: demo
tests:
  - {id: a, criteria: Sums up, input: Sum up, input_files: ["./sales.csv"]}
```
```csv sales.csv
month,revenue
```

## Why
A suite in git has to mean the same on every machine. Paths are relative to the file they are written in, or
start with `/` at the repository root; `/` is the only separator. A path has at most 4,096 bytes, and each
of its parts at most 255.
"#;
    PATH_OUTSIDE_ROOT = "path-outside-root", BlocksRun, Reference, r#"A path leads outside the repository.

## Example
```yaml
name: demo
tests:
  - {id: a, criteria: Sums up, input: Sum up, input_files: ["../../etc/passwd"]}
```

## Instead
```yaml
name: demo
tests:
  - {id: a, criteria: Sums up, input: Sum up, input_files: ["./sales.csv"]}
```
```csv sales.csv
month,revenue
```

## Why
A suite from a pull request must not read other files of the machine that checks it. A symbolic link counts
as the path that it leads to, also where a pattern matches it. `--root DIR` moves the root,
`--allow-outside-root` lifts the restriction.
"#;
    FILE_NOT_FOUND = "file-not-found", BlocksRun, Reference, r#"A path names a file that does not exist.

## Example
```yaml
name: demo
tests:
  - {id: a, criteria: Sums up, input: Sum up, input_files: ["./sale.csv"]}
```

## Instead
```yaml
name: demo
tests:
  - {id: a, criteria: Sums up, input: Sum up, input_files: ["./sales.csv"]}
```
```csv sales.csv
month,revenue
```

## Why
A relative path starts at the directory of the file in which it is written, never at the working directory.
"#;
    NOT_A_FILE = "not-a-file", BlocksRun, Reference, r#"A path names a directory where a file is expected.

## Example
```yaml
name: demo
tests:
  - {id: a, criteria: Sums up, input: Sum up, input_files: ["./data"]}
```
```csv data/sales.csv
month,revenue
```

## Instead
```yaml
name: demo
tests:
  - {id: a, criteria: Sums up, input: Sum up, input_files: ["./data/sales.csv"]}
```
```csv data/sales.csv
month,revenue
```

## Why
The content of the file is sent to the agent; a directory has none.
"#;
    NOT_A_DIRECTORY = "not-a-directory", BlocksRun, Reference, r#"A directory that a field names does not exist, or is a file: the `cwd` of a script, the template of a workspace,
the overlay of a command.

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
The script could not be started there, and the workspace would lack its files.
"#;
    ATTACHMENT_TOO_LARGE = "attachment-too-large", BlocksRun, Reference, r#"An attached file is larger than 10 MiB, or a prompt file larger than 1 MiB.

## Example
```text
input_files: [./whole-database.csv]
```

## Instead
```text
input_files: [./first-hundred-rows.csv]
```

## Why
The file would be sent to the model as text, at the price of millions of tokens.
"#;
}

/// What a file is needed for; decides the level of its absence and its largest size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileUse {
    Import,
    Attachment,
    Prompt,
    /// A YAML file that describes a workspace.
    Workspace,
}

impl FileUse {
    fn level(self) -> Level {
        match self {
            Self::Import => Level::Blocking,
            Self::Attachment | Self::Prompt | Self::Workspace => Level::BlocksRun,
        }
    }

    fn limit(self) -> Option<(u64, &'static str)> {
        match self {
            Self::Import | Self::Workspace => None,
            Self::Attachment => Some((10 * 1024 * 1024, "10 MiB")),
            Self::Prompt => Some((1024 * 1024, "1 MiB")),
        }
    }
}

/// A path that stays inside the root. It need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved(pub Utf8PathBuf);

/// What is known of a path.
#[derive(Debug, Clone, Copy)]
pub(super) enum Looked {
    Found(FileFacts),
    Missing,
    /// It leads out of the root.
    Outside,
}

/// The longest path, and the longest part of one, that common file systems allow, in bytes.
const LONGEST_PATH: usize = 4096;
const LONGEST_PART: usize = 255;

/// Why a path is not legal.
enum Misplaced {
    Malformed(&'static str),
    Outside,
}

impl Reader<'_> {
    /// The file that a text names. Faults are reported at `span`; `None` unless the file is
    /// legal and exists.
    pub fn file(&mut self, written: &str, span: Span, wanted: FileUse) -> Option<Utf8PathBuf> {
        let Resolved(path) = self.resolve(written, span, wanted.level())?;
        self.check_file(&path, written, span, wanted).then_some(path)
    }

    /// Whether a file is there, and not too large for its use.
    pub(crate) fn check_file(
        &mut self,
        path: &Utf8Path,
        written: &str,
        span: Span,
        wanted: FileUse,
    ) -> bool {
        match self.kind_of(path) {
            Some(EntryKind::File) => {
                self.check_size(path, span, wanted);
                true
            }
            Some(_) => {
                let message = format!("`{}` is not a file", self.shown(path));
                self.report(Diagnostic::new(&NOT_A_FILE, span, message).level(wanted.level()));
                false
            }
            None => {
                let message = format!("no file at `{}`", self.shown(path));
                let help = self.elsewhere(written);
                self.report(
                    Diagnostic::new(&FILE_NOT_FOUND, span, message)
                        .level(wanted.level())
                        .help_if(help),
                );
                false
            }
        }
    }

    /// The directory that a text names. Faults are reported at `span`; `None` unless the directory is
    /// legal and exists.
    pub(crate) fn existing_directory(&mut self, written: &str, span: Span) -> Option<Utf8PathBuf> {
        let Resolved(path) = self.resolve(written, span, Level::BlocksRun)?;
        let message = match self.kind_of(&path) {
            Some(EntryKind::Directory) => return Some(path),
            None => format!("no directory at `{}`", self.shown(&path)),
            Some(_) => format!("`{}` is not a directory", self.shown(&path)),
        };
        let help = self.elsewhere(written);
        self.refuse(Diagnostic::new(&NOT_A_DIRECTORY, span, message).help_if(help))
    }

    /// Rules 1–4: where the text leads, whether or not something is there.
    pub fn resolve(&mut self, written: &str, span: Span, level: Level) -> Option<Resolved> {
        let diagnostic = match self.locate(written) {
            Ok(resolved) => return Some(resolved),
            Err(Misplaced::Malformed(fault)) => Diagnostic::new(&INVALID_PATH, span, fault)
                .help("write a path relative to this file, or from the repository root with `/`"),
            Err(Misplaced::Outside) => self.outside_root(written, span, level),
        };
        self.refuse(diagnostic)
    }

    fn outside_root(&self, written: &str, span: Span, level: Level) -> Diagnostic {
        let text = written.strip_prefix("file://").unwrap_or(written);
        let message = format!("`{text}` is outside the repository root `{}`", self.root);
        Diagnostic::new(&PATH_OUTSIDE_ROOT, span, message)
            .level(level)
            .help("keep the file in the repository, or pass `--allow-outside-root`")
    }

    /// Whether a path that was found, not written, leads out of the root; then that is reported.
    pub(crate) fn refuse_outside(
        &mut self,
        path: &Utf8Path,
        written: &str,
        span: Span,
        level: Level,
    ) -> bool {
        let is_outside = matches!(self.look_at(path), Looked::Outside);
        if is_outside {
            let diagnostic = self.outside_root(written, span, level);
            self.report(diagnostic);
        }
        is_outside
    }

    /// What exists at a path; reports nothing if the path is not legal.
    pub(crate) fn look_up(&mut self, written: &str) -> Option<(Utf8PathBuf, EntryKind)> {
        let Resolved(path) = self.locate(written).ok()?;
        let kind = self.kind_of(&path)?;
        Some((path, kind))
    }

    fn locate(&mut self, written: &str) -> Result<Resolved, Misplaced> {
        let text = written.strip_prefix("file://").unwrap_or(written);
        if let Some(fault) = malformed(text) {
            return Err(Misplaced::Malformed(fault));
        }
        let joined = match text.strip_prefix('/') {
            Some(rest) => self.root.join(rest.trim_start_matches('/')),
            None => self.directory.join(text),
        };
        let path = without_dots(&joined);
        match self.look_at(&path) {
            Looked::Outside => Err(Misplaced::Outside),
            Looked::Missing | Looked::Found(_) => Ok(Resolved(path)),
        }
    }

    /// Where the paths of a suite may lead.
    pub(crate) fn reach(&self) -> Reach<'_> {
        self.policy.reach(&self.root)
    }

    /// Where a file of the suite itself may lead: the main file, its sidecar, an import. A suite that
    /// the user named outside the root has its own directory.
    pub(crate) fn reach_of(&self, path: &Utf8Path) -> Reach<'_> {
        self.policy.reach_of(path, &self.root, &self.main_directory)
    }

    pub(crate) fn kind_of(&mut self, path: &Utf8Path) -> Option<EntryKind> {
        match self.look_at(path) {
            Looked::Found(found) => Some(found.kind),
            Looked::Missing | Looked::Outside => None,
        }
    }

    /// Asks the file system once per path, and for the whole path at once.
    fn look_at(&mut self, path: &Utf8Path) -> Looked {
        if let Some(known) = self.cache.looked.get(path) {
            return *known;
        }
        let looked = match self.world.files.look(path, self.reach()) {
            Ok(found) => Looked::Found(found),
            Err(error) if is_outside(&error) => Looked::Outside,
            Err(_) => Looked::Missing,
        };
        self.cache.looked.insert(path.to_owned(), looked);
        looked
    }

    fn check_size(&mut self, path: &Utf8Path, span: Span, wanted: FileUse) {
        let Some((limit, shown)) = wanted.limit() else {
            return;
        };
        if matches!(self.look_at(path), Looked::Found(found) if found.size > limit) {
            let message = format!("`{}` is larger than {shown}", self.shown(path));
            self.report(Diagnostic::new(&ATTACHMENT_TOO_LARGE, span, message));
        }
    }

    /// Where the same text would have named a file, for people used to other rules.
    pub(crate) fn elsewhere(&mut self, written: &str) -> Option<String> {
        let text = written.strip_prefix("file://").unwrap_or(written).trim_start_matches('/');
        let from_root = without_dots(&self.root.join(text));
        if self.kind_of(&from_root).is_some() {
            let rest = from_root.strip_prefix(&self.root).unwrap_or(&from_root);
            return Some(format!("the repository root has it: write `/{rest}`"));
        }
        let from_here = without_dots(&self.world.working_directory.join(text));
        if from_here.starts_with(&self.root) && self.kind_of(&from_here).is_some() {
            let rest = from_here.strip_prefix(&self.root).unwrap_or(&from_here);
            return Some(format!(
                "the working directory has it, but paths start at their own file: write `/{rest}`"
            ));
        }
        None
    }

    /// A path as messages show it: relative to the working directory if it is inside it.
    pub(crate) fn shown(&self, path: &Utf8Path) -> Utf8PathBuf {
        match path.strip_prefix(self.world.working_directory) {
            Ok(rest) if rest.as_str().is_empty() => Utf8PathBuf::from("."),
            Ok(rest) => rest.to_owned(),
            Err(_) => path.to_owned(),
        }
    }
}

/// Also bounds the work of looking at a path, which is repeated for every part.
pub(crate) fn malformed(text: &str) -> Option<&'static str> {
    let bytes = text.as_bytes();
    if text.trim().is_empty() {
        Some("the path is blank")
    } else if bytes.len() >= 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' {
        Some("the path begins with a drive letter")
    } else if text.contains('\0') {
        Some("the path holds a NUL character")
    } else if text.len() > LONGEST_PATH {
        Some("the path is longer than 4,096 bytes")
    } else if text.split('/').any(|part| part.len() > LONGEST_PART) {
        Some("a part of the path is longer than 255 bytes")
    } else {
        None
    }
}

/// Whether a judge's `prompt` is a path by its looks alone; the third rule of spec 4, a single
/// word that names an existing file, is the caller's to check.
pub(crate) fn is_prompt_path(text: &str) -> bool {
    if text.starts_with("file://") {
        return true;
    }
    let one_line = !text.trim_end().contains('\n') && !text.contains("{{");
    let begins = ["./", "../", "/"].iter().any(|start| text.starts_with(start));
    let ends = [".md", ".txt", ".prompt"].iter().any(|end| text.trim_end().ends_with(end));
    one_line && (begins || ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_that_look_like_paths() {
        for text in ["file://a b", "./x", "../x y", "/x", "prompts/judge.md", "a.txt"] {
            assert!(is_prompt_path(text), "{text}");
        }
        for text in ["Is it polite?", "./x {{ answer }}", "one\ntwo.md", "judge"] {
            assert!(!is_prompt_path(text), "{text}");
        }
    }

    #[test]
    fn paths_that_no_file_system_has_are_malformed() {
        let longest = "a/".repeat(2048);
        assert_eq!(malformed(&longest), None);
        assert_eq!(malformed(&(longest + "a")), Some("the path is longer than 4,096 bytes"));
        let part = "é".repeat(127) + "a";
        assert_eq!(malformed(&format!("x/{part}/y")), None);
        let fault = Some("a part of the path is longer than 255 bytes");
        assert_eq!(malformed(&format!("x/{part}b")), fault);
    }

    #[test]
    fn dots_are_resolved_without_looking_at_files() {
        assert_eq!(without_dots("/p/a/../b/./c".into()), "/p/b/c");
        assert_eq!(without_dots("/../../x".into()), "/x");
    }
}
