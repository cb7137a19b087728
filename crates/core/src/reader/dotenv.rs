//! `.env` files (spec 6.1).

use std::collections::HashMap;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::source::{EntryKind, Reach, SourceId, Span};
use crate::syntax::decode;

use super::state::Reader;

declare_codes! {
    BAD_ENV_LINE = "bad-env-line", Warning, Reference, r#"A line of a `.env` file is not `KEY=VALUE`. It is skipped.

## Example
```yaml
name: demo
tests:
  - {id: a, criteria: Greets, input: "Hi ${{ WHO }}"}
```
```env .env
WHO=Alice
this is not a setting
```

## Instead
```yaml
name: demo
tests:
  - {id: a, criteria: Greets, input: "Hi ${{ WHO }}"}
```
```env .env
# this is a comment
WHO=Alice
```

## Why
A setting that is dropped silently shows up much later as a missing variable.
"#;
    UNREADABLE_ENV_FILE = "unreadable-env-file", Warning, Reference, r#"A `.env` file exists but is not read: it is larger than 1 MiB, not UTF-8, not a regular file, a link that leads out of the repository, or it may not be opened.

## Example
```text
.env -> /home/alice/.env
```

## Instead
```text
evalrig run --env-file /home/alice/.env
```

## Why
Its variables are missing, and without this warning it would seem that they are not set. A link in a
repository must not show the file of the machine that checks it. A file that `--env-file` names may be
anywhere.
"#;
}

const ENV_FILE_LIMIT: u64 = 1024 * 1024;

/// Where to look for variables that the process environment lacks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum EnvFiles {
    /// `.env` beside the suite and in its parents up to the repository root, nearest first.
    #[default]
    Search,
    Only(Utf8PathBuf),
    None,
}

/// The variables of all `.env` files; the nearest file wins.
pub(super) type EnvTable = HashMap<String, String>;

impl Reader<'_> {
    /// The value of a variable: the process first, then `.env` files.
    pub(super) fn variable(&mut self, name: &str) -> Option<String> {
        let value = match self.world.environment.variable(name) {
            Some(value) => Some(value),
            None => self.env_table().get(name).cloned(),
        };
        if let Some(value) = &value {
            self.secrets.notice(name, value);
        }
        value
    }

    /// Every variable of the `.env` files, for later lookups.
    pub fn env_file_values(&mut self) -> HashMap<String, String> {
        self.env_table().clone()
    }

    fn env_table(&mut self) -> &EnvTable {
        if self.env_table.is_none() {
            let mut table = EnvTable::default();
            for path in self.env_paths() {
                self.read_env_file(&path, &mut table);
            }
            for (name, value) in &table {
                self.secrets.notice(name, value);
            }
            self.env_table = Some(table);
        }
        self.env_table.get_or_insert_default()
    }

    fn env_paths(&self) -> Vec<Utf8PathBuf> {
        match &self.policy.env_files {
            EnvFiles::None => Vec::new(),
            EnvFiles::Only(path) => vec![path.clone()],
            EnvFiles::Search => self
                .main_directory
                .ancestors()
                .take_while(|directory| directory.starts_with(&self.root))
                .map(|directory| directory.join(".env"))
                .filter(|path| self.is_env_file(path))
                .collect(),
        }
    }

    /// A directory `.env` is a Python environment. Anything else is read, or reported.
    fn is_env_file(&self, path: &Utf8Path) -> bool {
        match self.world.files.look(path, self.reach()) {
            Ok(found) => found.kind != EntryKind::Directory,
            Err(error) => {
                !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
            }
        }
    }

    fn read_env_file(&mut self, path: &Utf8Path, table: &mut EnvTable) {
        let (text, offset) = match self.env_text(path) {
            Ok(read) => read,
            Err(why) => {
                let source = self.sources.add_file(path.to_owned(), String::new(), 0);
                let message = format!("`{}` is not read: {why}", self.shown(path));
                let place = Span::new(source, 0, 0);
                return self.report(Diagnostic::new(&UNREADABLE_ENV_FILE, place, message));
            }
        };
        let source = self.sources.add_file(path.to_owned(), text, offset);
        let text = self.sources.get(source).shared_text();
        let mut own = HashMap::new();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            match parse_line(line.trim_end_matches(['\n', '\r'])) {
                // The last line with a name wins, as in a shell.
                Ok(Some((name, value))) => drop(own.insert(name.to_owned(), value)),
                Ok(None) => {}
                Err(()) => self.out.report(bad_line(source, at, line)),
            }
            at += line.len();
        }
        for (name, value) in own {
            table.entry(name).or_insert(value);
        }
    }
}

impl Reader<'_> {
    /// The text and the length of its byte order mark, or why there is none.
    fn env_text(&self, path: &Utf8Path) -> Result<(String, u64), String> {
        let reach = match self.policy.env_files {
            EnvFiles::Search | EnvFiles::None => self.reach(),
            EnvFiles::Only(_) => Reach::Anywhere,
        };
        let read = self.world.files.read(path, reach, ENV_FILE_LIMIT + 1);
        let bytes = read.map_err(|error| error.to_string())?;
        if bytes.len() as u64 > ENV_FILE_LIMIT {
            return Err("it is larger than 1 MiB".to_owned());
        }
        decode(bytes).map_err(|_| "it is not UTF-8".to_owned())
    }
}

fn bad_line(source: SourceId, at: usize, line: &str) -> Diagnostic {
    let span = Span::new(source, at as u32, (at + line.trim_end().len()) as u32);
    // The line may hold half of a secret, so the message does not repeat it.
    Diagnostic::new(&BAD_ENV_LINE, span, "this line is not `KEY=VALUE`")
        .help("write `KEY=VALUE`, or begin a comment with `#`")
}

fn parse_line(line: &str) -> Result<Option<(&str, String)>, ()> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let line = line.strip_prefix("export ").map_or(line, str::trim_start);
    let (name, value) = line.split_once('=').ok_or(())?;
    let name = name.trim_end();
    if !is_variable_name(name) {
        return Err(());
    }
    let value = value.trim();
    let value = match value.chars().next() {
        Some('\'') => literal(&value[1..])?,
        Some('"') => escaped(&value[1..])?,
        _ => without_comment(value).to_owned(),
    };
    Ok(Some((name, value)))
}

/// `[A-Za-z_][A-Za-z0-9_]*`
pub(super) fn is_variable_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn without_comment(value: &str) -> &str {
    match value.find(" #") {
        Some(at) => value[..at].trim_end(),
        None if value.starts_with('#') => "",
        None => value,
    }
}

fn literal(rest: &str) -> Result<String, ()> {
    let (value, behind) = rest.split_once('\'').ok_or(())?;
    only_a_comment(behind)?;
    Ok(value.to_owned())
}

fn escaped(rest: &str) -> Result<String, ()> {
    let mut value = String::new();
    let mut characters = rest.chars();
    loop {
        match characters.next().ok_or(())? {
            '"' => break,
            '\\' => match characters.next().ok_or(())? {
                'n' => value.push('\n'),
                't' => value.push('\t'),
                other @ ('"' | '\\') => value.push(other),
                other => {
                    value.push('\\');
                    value.push(other);
                }
            },
            other => value.push(other),
        }
    }
    only_a_comment(characters.as_str())?;
    Ok(value)
}

fn only_a_comment(behind: &str) -> Result<(), ()> {
    let behind = behind.trim();
    if behind.is_empty() || behind.starts_with('#') { Ok(()) } else { Err(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_an_env_file() {
        let parsed = |line| parse_line(line).map(|found| found.map(|(k, v)| (k.to_owned(), v)));
        let is = |name: &str, value: &str| Ok(Some((name.to_owned(), value.to_owned())));
        assert_eq!(parsed("A=1"), is("A", "1"));
        assert_eq!(parsed("  export A_B = x y # note"), is("A_B", "x y"));
        assert_eq!(parsed("A='$x \\n' # c"), is("A", "$x \\n"));
        assert_eq!(parsed(r#"A="a\n\t\"\\" "#), is("A", "a\n\t\"\\"));
        assert_eq!(parsed("A="), is("A", ""));
        assert_eq!(parsed("A=a#b"), is("A", "a#b"));
        assert_eq!(parsed("# comment"), Ok(None));
        assert_eq!(parsed(""), Ok(None));
        for bad in ["no setting", "1A=x", "A='x", "A=\"x", "A='x' y", "=x"] {
            assert_eq!(parsed(bad), Err(()), "{bad}");
        }
    }
}
