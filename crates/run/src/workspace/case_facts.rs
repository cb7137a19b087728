//! What a workspace knows of its case, and what it tells the programs of the case.

use camino::Utf8Path;
use evalrig_core::model::Workspace;
use evalrig_core::source::Reach;
use serde_json::{Value, json};

use super::judging_files::JudgingFiles;

/// The attempt that a workspace is for.
#[derive(Debug, Clone, Copy)]
pub struct CaseFacts<'a> {
    /// The repository root of the suite.
    pub root: &'a Utf8Path,
    /// Where the paths of the suite may lead: below its root, unless the user allows more.
    pub reach: Reach<'a>,
    /// Name of the suite.
    pub suite: &'a str,
    /// What the agent must not find.
    pub judging: &'a JudgingFiles,
    pub test_id: &'a str,
    /// From 1.
    pub trial: u32,
    /// From 1.
    pub attempt: u32,
    /// The input of the test, for hooks.
    pub input: &'a Value,
    pub metadata: &'a Value,
}

impl CaseFacts<'_> {
    /// Variables for every process of the case: those of the workspace, then those of evalrig, which
    /// take precedence.
    pub(super) fn environment(
        &self,
        workspace: &Workspace,
        path: &Utf8Path,
    ) -> Vec<(String, String)> {
        let mut all = run_environment(workspace, self.suite, path);
        all.extend([
            ("EVALRIG_TEST_ID".to_owned(), self.test_id.to_owned()),
            ("EVALRIG_TRIAL".to_owned(), self.trial.to_string()),
            ("EVALRIG_ATTEMPT".to_owned(), self.attempt.to_string()),
        ]);
        all
    }

    /// What a hook of a case reads on standard input.
    pub(super) fn hook_input(&self, path: &Utf8Path) -> Value {
        json!({
            "workspace_path": path.as_str(),
            "test_id": self.test_id,
            "trial": self.trial,
            "case_input": self.input,
            "case_metadata": self.metadata,
        })
    }
}

/// The variables of hooks that run once per run.
pub(super) fn run_environment(
    workspace: &Workspace,
    suite: &str,
    path: &Utf8Path,
) -> Vec<(String, String)> {
    let mut all = workspace.env.clone();
    all.extend([
        ("EVALRIG_WORKSPACE".to_owned(), path.to_string()),
        ("EVALRIG_SUITE".to_owned(), suite.to_owned()),
    ]);
    all
}

/// What such a hook reads on standard input: it concerns no single case.
pub(super) fn run_hook_input(path: &Utf8Path) -> Value {
    json!({
        "workspace_path": path.as_str(),
        "test_id": null,
        "trial": null,
        "case_input": null,
        "case_metadata": null,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_evalrig_come_last() {
        let workspace = Workspace {
            env: vec![("EVALRIG_SUITE".to_owned(), "x".to_owned())],
            ..Workspace::default()
        };
        let facts = CaseFacts {
            root: "/".into(),
            reach: Reach::Anywhere,
            suite: "s",
            judging: &JudgingFiles::default(),
            test_id: "t",
            trial: 2,
            attempt: 3,
            input: &Value::Null,
            metadata: &Value::Null,
        };
        let all = facts.environment(&workspace, "/w".into());
        let all: Vec<String> = all.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let expected = [
            "EVALRIG_SUITE=x",
            "EVALRIG_WORKSPACE=/w",
            "EVALRIG_SUITE=s",
            "EVALRIG_TEST_ID=t",
            "EVALRIG_TRIAL=2",
            "EVALRIG_ATTEMPT=3",
        ];
        assert_eq!(all, expected);
    }
}
