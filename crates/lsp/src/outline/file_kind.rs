//! What kind of file a text is: by its name, and where that does not tell, by the keys at the
//! beginning of its lines. Works on texts that cannot be parsed.

use camino::Utf8Path;
use evalrig_core::import::lone_format;
use evalrig_core::read::is_suite_name;
use evalrig_core::source::MemoryFiles;
use evalrig_core::syntax::fields::Shape;
use serde::de::IgnoredAny;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// Can be loaded: `EVAL.yaml` and others with `tests`.
    Suite,
    /// A list of tests, which suites import.
    TestList,
    /// One test per line.
    Lines,
    EvalsJson,
    Targets,
    /// Nothing of ours.
    Other,
}

impl FileKind {
    pub(crate) fn of(path: &Utf8Path, text: &str) -> Self {
        let name = path.file_name().unwrap_or_default();
        match path.extension().map(str::to_ascii_lowercase).as_deref() {
            Some("jsonl") if has_tests(text) => Self::Lines,
            Some("json") if is_suite_name(name) => Self::EvalsJson,
            Some("yaml" | "yml") => of_yaml(path, text),
            _ => Self::Other,
        }
    }

    /// Whether such a file is a suite of its own.
    pub(crate) fn is_loaded(self) -> bool {
        matches!(self, Self::Suite | Self::Lines | Self::EvalsJson)
    }

    /// By which its root is read.
    pub(super) fn shape(self) -> Shape {
        Shape::Ref(match self {
            Self::Suite => "suite",
            Self::TestList => "test-list",
            Self::Lines => "test",
            Self::EvalsJson => "evals-json",
            Self::Targets => "targets-file",
            Self::Other => "other",
        })
    }
}

fn of_yaml(path: &Utf8Path, text: &str) -> FileKind {
    let keys = || text.lines().filter_map(|line| line.split_once(':').map(|(key, _)| key));
    let has = |names: &[&str]| keys().any(|key| names.contains(&key.trim_matches(['"', '\''])));
    let in_our_folder = path
        .parent()
        .and_then(Utf8Path::file_name)
        .is_some_and(|folder| matches!(folder, ".evalrig" | ".agentv"));
    let is_targets_name = path.file_stem() == Some("targets") && in_our_folder;
    if is_suite_name(path.file_name().unwrap_or_default())
        || has(&["tests", "evalcases", "eval_cases"])
    {
        return FileKind::Suite;
    }
    if is_targets_name || has(&["targets"]) {
        return FileKind::Targets;
    }
    let first = text.lines().find(|line| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#') && line != "---"
    });
    match first {
        Some(line) if line.starts_with("- ") || line.starts_with('[') || line == "-" => {
            FileKind::TestList
        }
        Some(line) if line.starts_with('{') && line.contains("tests") => FileKind::Suite,
        _ => FileKind::Other,
    }
}

/// The first line is a test, and neither the row of a results file nor one of another tool.
fn has_tests(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let has = |key: &str| has_key(first, key);
    if has("schemaVersion") {
        return false;
    }
    has("criteria") || ((has("input") || has("expected_outcome")) && !is_foreign(first))
}

fn has_key(line: &str, key: &str) -> bool {
    line.contains(&format!("\"{key}\""))
}

/// Whether a row is one that `convert` recognises as the format of another tool.
fn is_foreign(row: &str) -> bool {
    let path = "/row.jsonl";
    lone_format(&MemoryFiles::new().with(path, row), path.into()).is_some()
}

/// Whether a JSONL file has no complete line yet. It may become a list of tests, so there is
/// completion in it; it may as well become something else, so there are no diagnostics.
pub(crate) fn is_begun(path: &Utf8Path, text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("jsonl"))
        && match (lines.next(), lines.next()) {
            (None, _) => true,
            (Some(line), None) => {
                let is_value = serde_json::from_str::<IgnoredAny>(line).is_ok();
                (line == "{}" || !is_value) && !has_key(line, "schemaVersion")
            }
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_keys_say_what_a_file_is() {
        let kind = |path: &str, text: &str| FileKind::of(path.into(), text);
        assert_eq!(kind("/p/EVAL.yaml", ""), FileKind::Suite);
        assert_eq!(kind("/p/x.yaml", "name: a\ntests: [\n  {"), FileKind::Suite);
        assert_eq!(kind("/p/.evalrig/targets.yaml", "targets"), FileKind::Targets);
        assert_eq!(kind("/p/t.yml", "# x\ntargets:\n"), FileKind::Targets);
        assert_eq!(kind("/p/cases.yaml", "# x\n\n- id: a\n"), FileKind::TestList);
        assert_eq!(kind("/p/compose.yaml", "services:\n  a: {}\n"), FileKind::Other);
        assert_eq!(kind("/p/d.jsonl", "\n{\"id\": \"a\", \"input\": \"x\"}"), FileKind::Lines);
        assert_eq!(kind("/p/r.jsonl", "{\"schemaVersion\": 1, \"input\": []}"), FileKind::Other);
        let own = "{\"id\": \"a\", \"input\": \"x\", \"criteria\": \"c\", \"target\": \"t\"}";
        assert_eq!(kind("/p/d.jsonl", own), FileKind::Lines);
        let sample = "{\"input\": \"x\", \"ideal\": \"y\"}\n";
        assert_eq!(kind("/p/d.jsonl", sample), FileKind::Other);
        assert_eq!(kind("/p/evals/evals.json", "{"), FileKind::EvalsJson);
        assert_eq!(kind("/p/package.json", "{}"), FileKind::Other);
    }

    #[test]
    fn a_jsonl_file_is_begun_until_it_has_a_line() {
        let begun = |text: &str| is_begun("/p/d.jsonl".into(), text);
        for text in ["", "\n", "{", "{}", "{\"\"}", "{\"id\": \"a\", "] {
            assert!(begun(text), "{text}");
        }
        for text in ["{\"a\": 1}", "{\n{", "{\"schemaVersion\": "] {
            assert!(!begun(text), "{text}");
        }
        assert!(!is_begun("/p/d.json".into(), ""));
    }
}
