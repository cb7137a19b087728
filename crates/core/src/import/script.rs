//! Checks that are code of another tool: a small script is written beside the suite that runs them as
//! judge scripts (spec 10.1).

use crate::model::{Map, Value};

use super::suite_draft::SuiteDraft;

/// The language of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScriptLanguage {
    JavaScript,
    Python,
}

impl ScriptLanguage {
    fn program(self) -> &'static str {
        match self {
            Self::JavaScript => "node",
            Self::Python => "python3",
        }
    }

    fn file(self) -> (&'static str, &'static str) {
        match self {
            Self::JavaScript => ("converted-judge.mjs", include_str!("shim/converted-judge.mjs")),
            Self::Python => ("converted-judge.py", include_str!("shim/converted-judge.py")),
        }
    }
}

/// A code judge that runs a check; `path` is a file with the code, relative to the suite.
pub(super) fn script_check(
    draft: &mut SuiteDraft,
    language: ScriptLanguage,
    path: Option<String>,
    config: Map,
) -> Map {
    let (name, text) = language.file();
    draft.add_file(name, text);
    // A path without a directory would be taken for a word.
    let program = [language.program(), name].map(str::to_owned).into_iter();
    let path = path.map(|path| if path.contains('/') { path } else { format!("./{path}") });
    let script: Vec<Value> = program.chain(path).map(Value::from).collect();
    Map::new().with("type", "code-judge").with("script", script).with("config", config)
}
