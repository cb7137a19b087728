//! Which file a written path means (spec 4).

use camino::{Utf8Path, Utf8PathBuf};

use crate::diagnostic::{Diagnostic, Level, declare_codes};
use crate::source::{EntryKind, Span, without_dots};

use super::state::Reader;

declare_codes! {
    INVALID_PATH = "invalid-path", Blocking, Reference, r#"A path is blank or begins with a drive letter.

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
start with `/` at the repository root; `/` is the only separator.
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
A suite from a pull request must not read other files of the machine that checks it. `--root DIR` moves
the root, `--allow-outside-root` lifts the restriction.
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
}

impl FileUse {
    fn level(self) -> Level {
        match self {
            Self::Import => Level::Blocking,
            Self::Attachment | Self::Prompt => Level::BlocksRun,
        }
    }

    fn limit(self) -> Option<(u64, &'static str)> {
        match self {
            Self::Import => None,
            Self::Attachment => Some((10 * 1024 * 1024, "10 MiB")),
            Self::Prompt => Some((1024 * 1024, "1 MiB")),
        }
    }
}

/// A path that stays inside the root. It need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved(pub Utf8PathBuf);

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

    /// Rules 1–4: where the text leads, whether or not something is there.
    pub fn resolve(&mut self, written: &str, span: Span, level: Level) -> Option<Resolved> {
        let diagnostic = match self.locate(written) {
            Ok(resolved) => return Some(resolved),
            Err(Misplaced::Malformed(fault)) => Diagnostic::new(&INVALID_PATH, span, fault)
                .help("write a path relative to this file, or from the repository root with `/`"),
            Err(Misplaced::Outside) => {
                let text = written.strip_prefix("file://").unwrap_or(written);
                let message = format!("`{text}` is outside the repository root `{}`", self.root);
                Diagnostic::new(&PATH_OUTSIDE_ROOT, span, message)
                    .level(level)
                    .help("keep the file in the repository, or pass `--allow-outside-root`")
            }
        };
        self.refuse(diagnostic)
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
        if self.policy.allow_outside_root || self.is_inside(&path) {
            Ok(Resolved(path))
        } else {
            Err(Misplaced::Outside)
        }
    }

    pub(crate) fn kind_of(&mut self, path: &Utf8Path) -> Option<EntryKind> {
        if let Some(kind) = self.cache.kinds.get(path) {
            return *kind;
        }
        let kind = self.world.files.kind(path);
        self.cache.kinds.insert(path.to_owned(), kind);
        kind
    }

    /// `..` and symbolic links resolved, as far as the path exists.
    fn is_inside(&mut self, path: &Utf8Path) -> bool {
        let root = self.canonical(&self.root.clone()).unwrap_or_else(|| self.root.clone());
        if !path.starts_with(&self.root) && !path.starts_with(&root) {
            return false;
        }
        let existing = path.ancestors().find_map(|ancestor| self.canonical(ancestor));
        existing.is_none_or(|real| real.starts_with(&root))
    }

    fn canonical(&mut self, path: &Utf8Path) -> Option<Utf8PathBuf> {
        if let Some(known) = self.cache.canonical.get(path) {
            return known.clone();
        }
        let real = self.world.files.canonicalize(path).ok();
        self.cache.canonical.insert(path.to_owned(), real.clone());
        real
    }

    fn check_size(&mut self, path: &Utf8Path, span: Span, wanted: FileUse) {
        let Some((limit, shown)) = wanted.limit() else {
            return;
        };
        if self.world.files.size(path).is_ok_and(|size| size > limit) {
            let message = format!("`{}` is larger than {shown}", self.shown(path));
            self.report(Diagnostic::new(&ATTACHMENT_TOO_LARGE, span, message));
        }
    }

    /// Where the same text would have named a file, for people used to other rules.
    pub(crate) fn elsewhere(&mut self, written: &str) -> Option<String> {
        let text = written.strip_prefix("file://").unwrap_or(written).trim_start_matches('/');
        let from_root = without_dots(&self.root.join(text));
        if self.is_inside(&from_root) && self.kind_of(&from_root).is_some() {
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

fn malformed(text: &str) -> Option<&'static str> {
    let bytes = text.as_bytes();
    if text.trim().is_empty() {
        Some("the path is blank")
    } else if bytes.len() >= 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' {
        Some("the path begins with a drive letter")
    } else if text.contains('\0') {
        Some("the path holds a NUL character")
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
    fn dots_are_resolved_without_looking_at_files() {
        assert_eq!(without_dots("/p/a/../b/./c".into()), "/p/b/c");
        assert_eq!(without_dots("/../../x".into()), "/x");
    }
}
