//! Paths and patterns inside a workspace (spec 17.1, 17.5). A workspace exists only while its case
//! runs, so these are checked by their looks.

use globset::{Glob, GlobBuilder, GlobMatcher};

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::source::Span;
use crate::syntax::fields::shorten;

use super::path::{INVALID_PATH, malformed};
use super::state::Reader;

declare_codes! {
    PATH_OUTSIDE_WORKSPACE = "path-outside-workspace", BlocksRun, Reference, r#"A path that is meant inside the workspace leads out of it.

## Example
```yaml
name: demo
workspace: {cwd: ../app}
tests:
  - {id: a, criteria: Fixes the bug, input: Fix the bug}
```

## Instead
```yaml
name: demo
workspace: {cwd: app}
tests:
  - {id: a, criteria: Fixes the bug, input: Fix the bug}
```

## Why
A case owns its workspace and nothing else. Paths of the workspace are relative to it, also in `cwd` of a hook,
`path` of a repository and `file` of a check; `..` must not leave it, and a leading `/` is not allowed.
"#;
    INVALID_GLOB = "invalid-glob", Blocking, Assertion, r#"A pattern of files is malformed, or cannot match a file of the workspace.

## Example
```yaml
name: demo
workspace: {}
tests:
  - id: a
    criteria: Writes the report
    input: Write the report
    assert:
      - {type: files, created: [report/]}
```

## Instead
```yaml
name: demo
workspace: {}
tests:
  - id: a
    criteria: Writes the report
    input: Write the report
    assert:
      - {type: files, created: [report/**]}
```

## Why
Patterns are compared with paths such as `report/summary.md`: relative to the workspace, of files only, without
`..`. A pattern that never matches would make the check always fail, or never.
"#;
}

/// Longest pattern: compiling takes time and memory in proportion.
const LONGEST_GLOB: usize = 1024;

impl Reader<'_> {
    /// A path below the workspace without `.` and `..`; empty for the workspace itself.
    pub(crate) fn path_in_workspace(&mut self, written: &str, span: Span) -> Option<String> {
        if let Some(fault) = malformed(written) {
            let help = "write a path relative to the workspace";
            return self.refuse(Diagnostic::new(&INVALID_PATH, span, fault).help(help));
        }
        let path = below(written);
        if path.is_none() {
            let message = format!("`{}` is outside the workspace", shorten(written));
            let help = "write a path relative to the workspace, without a leading `/`";
            self.report(Diagnostic::new(&PATH_OUTSIDE_WORKSPACE, span, message).help(help));
        }
        path
    }

    /// A pattern of files below the workspace; `*` stops at `/`.
    pub(crate) fn workspace_glob(&mut self, written: &str, span: Span) -> Option<WorkspaceGlob> {
        match WorkspaceGlob::new(written) {
            Ok(glob) => Some(glob),
            Err(GlobFault { message, help }) => {
                let diagnostic = Diagnostic::new(&INVALID_GLOB, span, message);
                self.refuse(diagnostic.help_if(help))
            }
        }
    }
}

/// The path without `.` and `..`; `None` if it is absolute or leads up.
fn below(written: &str) -> Option<String> {
    if written.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in written.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// A pattern that can match a file of a workspace.
#[derive(Debug, Clone)]
pub(crate) struct WorkspaceGlob {
    /// As it is compared: without a leading `./`.
    pub(crate) text: String,
    glob: Glob,
}

struct GlobFault {
    message: String,
    help: Option<String>,
}

impl WorkspaceGlob {
    fn new(written: &str) -> Result<Self, GlobFault> {
        let text = written.strip_prefix("./").unwrap_or(written);
        let shown = shorten(written);
        let never = |message: String, help: String| GlobFault { message, help: Some(help) };
        if text.trim().is_empty() {
            return Err(GlobFault { message: "the pattern is empty".to_owned(), help: None });
        }
        if text.len() > LONGEST_GLOB {
            let message = format!("the pattern is longer than {LONGEST_GLOB} bytes");
            return Err(GlobFault { message, help: None });
        }
        if text.starts_with('/') {
            let help = "remove the leading `/`: patterns start at the workspace".to_owned();
            return Err(never(format!("`{shown}` cannot match: paths are relative"), help));
        }
        if text.split('/').any(|part| part == "..") {
            let help = "write the path without `..`".to_owned();
            return Err(never(format!("`{shown}` cannot match: no path contains `..`"), help));
        }
        if text.split('/').any(|part| part == ".") || text.contains("//") {
            let help = "write the path without `.` and `//`".to_owned();
            return Err(never(format!("`{shown}` cannot match: no path is written so"), help));
        }
        if let Some(directory) = text.strip_suffix('/') {
            let help = format!("write `{directory}/**` for every file in it");
            return Err(never(format!("`{shown}` cannot match: it names a directory"), help));
        }
        match GlobBuilder::new(text).literal_separator(true).backslash_escape(true).build() {
            Ok(glob) => Ok(Self { text: text.to_owned(), glob }),
            Err(error) => {
                let message = format!("`{shown}` is not a pattern: {}", error.kind());
                Err(GlobFault { message, help: None })
            }
        }
    }

    pub(crate) fn compile_matcher(&self) -> GlobMatcher {
        self.glob.compile_matcher()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_kept_below_the_workspace() {
        for (written, path) in [
            ("app", Some("app")),
            ("./app/", Some("app")),
            ("a/../b//c/.", Some("b/c")),
            (".", Some("")),
            ("a/..", Some("")),
            ("..", None),
            ("a/../../b", None),
            ("/app", None),
        ] {
            assert_eq!(below(written).as_deref(), path, "{written}");
        }
    }

    #[test]
    fn patterns_that_cannot_match_are_refused() {
        for written in
            ["", " ", "/a", "a/", "../a", "a/../b", "a/./b", "a//b", "a[", "{a", &"a".repeat(2000)]
        {
            assert!(WorkspaceGlob::new(written).is_err(), "{written}");
        }
        for (written, path) in [("./a/*.rs", "a/b.rs"), ("**/*.md", "x/y.md"), ("{a,b}", "b")] {
            let Ok(glob) = WorkspaceGlob::new(written) else { panic!("{written}") };
            assert!(glob.compile_matcher().is_match(path), "{written}");
        }
        let Ok(star) = WorkspaceGlob::new("*.rs") else { panic!("a pattern") };
        assert!(!star.compile_matcher().is_match("src/a.rs"));
    }
}
