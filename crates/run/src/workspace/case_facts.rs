//! What a workspace knows of its case, and what it tells the programs of the case.

use std::collections::HashSet;

use camino::Utf8Path;
use evalrig_core::model::Workspace;
use serde_json::{Value, json};

/// The attempt that a workspace is for.
#[derive(Debug, Clone, Copy)]
pub struct CaseFacts<'a> {
    /// The directory that the suite's files are confined to.
    pub root: &'a Utf8Path,
    /// Name of the suite.
    pub suite: &'a str,
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

/// Where attached files are placed below a workspace, by their written paths: at the same relative path;
/// by their name alone if that leads up or is absolute; with `-2`, `-3`, … if the place is taken.
pub fn attachment_paths<'w>(written: impl IntoIterator<Item = &'w str>) -> Vec<String> {
    let mut taken = HashSet::new();
    let paths = written.into_iter().map(|path| {
        let wanted = wanted_path(path);
        let mut place = wanted.clone();
        let mut number = 2;
        while !taken.insert(place.clone()) {
            place = numbered(&wanted, number);
            number += 1;
        }
        place
    });
    paths.collect()
}

fn wanted_path(written: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let is_inside = !written.starts_with('/')
        && written.split('/').all(|part| match part {
            "" | "." => true,
            ".." => parts.pop().is_some(),
            _ => {
                parts.push(part);
                true
            }
        });
    if is_inside && !parts.is_empty() {
        return parts.join("/");
    }
    let name = written.split('/').rfind(|part| !matches!(*part, "" | "." | ".."));
    name.unwrap_or("file").to_owned()
}

/// `a/b.txt` becomes `a/b-2.txt`.
fn numbered(path: &str, number: u32) -> String {
    let name = path.rfind('/').map_or(0, |at| at + 1);
    match path[name..].rfind('.').filter(|at| *at > 0) {
        Some(at) => format!("{}-{number}{}", &path[..name + at], &path[name + at..]),
        None => format!("{path}-{number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attached_files_keep_their_paths_inside_of_the_workspace() {
        let written = ["a/b.txt", "./c.txt", "a//./d", "a/../e", "f"];
        assert_eq!(attachment_paths(written), ["a/b.txt", "c.txt", "a/d", "e", "f"]);
    }

    #[test]
    fn paths_that_lead_up_are_replaced_by_their_names() {
        let written = ["../x.md", "a/../../y", "/etc/z.conf", "..", "../../x.md", "x.md"];
        let expected = ["x.md", "y", "z.conf", "file", "x-2.md", "x-3.md"];
        assert_eq!(attachment_paths(written), expected);
    }

    #[test]
    fn equal_names_are_numbered() {
        let written = ["a/.env", "a/.env", "../n", "../n"];
        assert_eq!(attachment_paths(written), ["a/.env", "a/.env-2", "n", "n-2"]);
    }

    #[test]
    fn variables_of_evalrig_come_last() {
        let workspace = Workspace {
            env: vec![("EVALRIG_SUITE".to_owned(), "x".to_owned())],
            ..Workspace::default()
        };
        let facts = CaseFacts {
            root: "/".into(),
            suite: "s",
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
