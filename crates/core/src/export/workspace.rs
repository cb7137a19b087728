//! The workspace of a test, as `show` prints it, as a suite file has it, and as it is hashed.

use std::collections::HashMap;
use std::fmt::Write;

use camino::{Utf8Path, Utf8PathBuf};
use sha2::{Digest, Sha256};

use crate::digest::hex;
use crate::model::{
    ContainerSettings, Hook, HookCommand, KeepRule, Map, RepoOrigin, Value, Workspace,
    WorkspaceRepo,
};
use crate::source::{Files, list_tree};

use super::fields::filled;
use super::hash::file_digest;
use super::rebase::Rebase;

/// For `show --format json`: paths start at the repository root.
pub fn shown_workspace(workspace: &Workspace, root: &Utf8Path) -> Value {
    let from_root = |path: &Utf8Path| match path.strip_prefix(root) {
        Ok(rest) => format!("/{rest}"),
        Err(_) => path.to_string(),
    };
    let hook = |hook: &Hook| {
        Map::new()
            .with("command", command_value(&hook.command))
            .with_some("cwd", hook_cwd(hook))
            .with("timeoutSeconds", hook.timeout_seconds)
    };
    let repos = workspace.repos.iter();
    let repos: Vec<Value> = repos.map(|repo| repo_map(repo, from_root).into()).collect();
    let mut map = Map::new();
    map.insert_some("template", workspace.template.as_deref().map(from_root));
    map.insert_some("repos", some(repos));
    map.insert_some("beforeAll", workspace.before_all.as_ref().map(hook));
    map.insert_some("setup", workspace.setup.as_ref().map(hook));
    map.insert_some("teardown", workspace.teardown.as_ref().map(hook));
    map.insert_some("afterAll", workspace.after_all.as_ref().map(hook));
    map.insert_some("ignore", some(workspace.ignore.clone()));
    map.insert_some("cwd", workspace.cwd.as_deref());
    map.insert_some("env", filled(env_map(workspace)));
    map.insert("keep", workspace.keep.word());
    map.insert("setupCache", workspace.setup_cache);
    map.insert_some("docker", workspace.container.as_ref().map(container_map));
    map.into()
}

/// For a suite file: what differs from the defaults, with paths that start at the file.
pub(super) fn written_workspace(workspace: &Workspace, rebase: &Rebase<'_>) -> Value {
    let hook = |hook: &Hook| {
        let command = match &hook.command {
            HookCommand::Argv(words) => Value::from(rebase.command(words, &hook.base)),
            HookCommand::Shell(line) => line.as_str().into(),
        };
        Map::new()
            .with("command", command)
            .with_some("cwd", hook_cwd(hook))
            .with("timeout_seconds", hook.timeout_seconds)
    };
    let repos = workspace.repos.iter();
    let repos: Vec<Value> =
        repos.map(|repo| repo_map(repo, |path| rebase.name(path)).into()).collect();
    let hooks = Map::new()
        .with_some("before_all", workspace.before_all.as_ref().map(hook))
        .with_some("after_all", workspace.after_all.as_ref().map(hook));
    let mut map = Map::new();
    map.insert_some("template", workspace.template.as_deref().map(|path| rebase.name(path)));
    map.insert_some("repos", some(repos));
    map.insert_some("setup", workspace.setup.as_ref().map(hook));
    map.insert_some("teardown", workspace.teardown.as_ref().map(hook));
    map.insert_some("hooks", filled(hooks));
    map.insert_some("ignore", some(workspace.ignore.clone()));
    map.insert_some("cwd", workspace.cwd.as_deref());
    map.insert_some("env", filled(env_map(workspace)));
    let keep = (workspace.keep != KeepRule::default()).then(|| workspace.keep.word());
    map.insert_some("keep", keep);
    map.insert_some("setup_cache", workspace.setup_cache.then_some(true));
    map.insert_some("docker", workspace.container.as_ref().map(container_map));
    map.into()
}

/// For `testHash`: what the agent finds, and what counts as evidence. Not what happens afterwards.
pub(super) fn hashed_workspace(workspace: &Workspace, template: Option<&str>) -> Value {
    let hook = |hook: &Hook| {
        let command = command_value(&hook.command);
        Map::new().with("command", command).with_some("cwd", hook_cwd(hook))
    };
    // The commit says what is in a repository; where a copy of it lies depends on the machine.
    let name = |path: &Utf8Path| path.file_name().unwrap_or_default().to_owned();
    let repos = workspace.repos.iter();
    let repos: Vec<Value> = repos.map(|repo| repo_map(repo, name).into()).collect();
    let image = workspace.container.as_ref().and_then(|container| container.image.as_deref());
    let mut map = Map::new();
    map.insert_some("template", template);
    map.insert_some("repos", some(repos));
    map.insert_some("beforeAll", workspace.before_all.as_ref().map(hook));
    map.insert_some("setup", workspace.setup.as_ref().map(hook));
    map.insert_some("ignore", some(workspace.ignore.clone()));
    map.insert_some("cwd", workspace.cwd.as_deref());
    map.insert_some("env", filled(env_map(workspace)));
    map.insert_some("image", image);
    map.into()
}

/// As it is written; `.` is the workspace itself.
fn hook_cwd(hook: &Hook) -> Option<&str> {
    hook.cwd.as_deref().map(|cwd| if cwd.is_empty() { "." } else { cwd })
}

fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}

fn command_value(command: &HookCommand) -> Value {
    match command {
        HookCommand::Argv(words) => words.clone().into(),
        HookCommand::Shell(line) => line.as_str().into(),
    }
}

fn repo_map(repo: &WorkspaceRepo, path_name: impl Fn(&Utf8Path) -> String) -> Map {
    let origin = match &repo.origin {
        RepoOrigin::Url(url) => url.clone(),
        RepoOrigin::Path(path) => path_name(path),
    };
    let path = if repo.path.is_empty() { "." } else { repo.path.as_str() };
    Map::new()
        .with("repo", origin)
        .with("commit", repo.commit.as_str())
        .with("path", path)
        .with_some("ancestor", (repo.ancestor > 0).then_some(repo.ancestor))
        .with_some("sparse", some(repo.sparse.clone()))
}

fn env_map(workspace: &Workspace) -> Map {
    let variables = workspace.env.iter();
    variables.map(|(name, value)| (name.clone(), value.as_str().into())).collect()
}

fn container_map(container: &ContainerSettings) -> Map {
    Map::new()
        .with_some("image", container.image.as_deref())
        .with_some("memory", container.memory.as_deref())
        .with_some("cpus", container.cpus.as_deref())
}

/// The digests of templates, each computed once.
#[derive(Debug, Clone, Default)]
pub(super) struct TemplateDigests(HashMap<Utf8PathBuf, String>);

impl TemplateDigests {
    pub(super) fn digest(&mut self, template: &Utf8Path, files: &dyn Files) -> &str {
        let known = self.0.entry(template.to_owned());
        known.or_insert_with(|| tree_digest(template, files))
    }
}

/// Names and contents of all files. One that cannot be read counts by its name.
fn tree_digest(directory: &Utf8Path, files: &dyn Files) -> String {
    let mut list = String::new();
    for file in list_tree(files, directory, usize::MAX).files {
        let digest = file_digest(&directory.join(&file), files).unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(list, "{digest} {file}");
    }
    hex(&Sha256::digest(list.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::super::testing::load;
    use super::super::{TestHasher, suite_document, suite_value, test_hash};
    use super::*;
    use crate::model::JsonStyle;
    use crate::source::MemoryFiles;
    use crate::syntax::to_yaml;

    const SUITE: &str = "\
name: demo
workspace:
  template: ../shop
  repos: [{repo: https://example.org/a.git, commit: 3f2a91c, path: lib, ancestor: 2, sparse: [src]}]
  setup: {command: [node, ./prepare.mjs], timeout_ms: 1500, cwd: lib}
  teardown: rm -rf x
  hooks: {before_all: [make], after_all: {command: make clean, cwd: .}}
  ignore: [node_modules/]
  cwd: lib
  env: {A: '1', B: x}
  keep: always
  setup_cache: true
  docker: {image: 'python:3', memory: 2g, cpus: 1}
tests:
  - {id: a, criteria: c, input: Hi}
  - {id: b, criteria: c, input: Hi, workspace: {env: {B: y, C: z}, cwd: ., keep: failed}}
";

    fn files(suite: &str) -> MemoryFiles {
        MemoryFiles::new()
            .with("/p/evals/EVAL.yaml", suite)
            .with("/p/evals/prepare.mjs", "")
            .with("/p/shop/cart.js", "let total = 0\n")
    }

    fn shown(suite: &str, at: usize) -> String {
        let loaded = load(files(suite), "/p/evals/EVAL.yaml");
        let workspace = loaded.suite.tests[at].workspace.as_ref().unwrap();
        shown_workspace(workspace, "/p".into()).to_json(JsonStyle::Compact)
    }

    #[test]
    fn show_prints_every_key() {
        let common = concat!(
            r#"{"template":"/shop","repos":[{"repo":"https://example.org/a.git","commit":"3f2a91c","#,
            r#""path":"lib","ancestor":2,"sparse":["src"]}],"#,
            r#""beforeAll":{"command":["make"],"timeoutSeconds":300},"#,
            r#""setup":{"command":["node","./prepare.mjs"],"cwd":"lib","timeoutSeconds":2},"#,
            r#""teardown":{"command":"rm -rf x","timeoutSeconds":300},"#,
            r#""afterAll":{"command":"make clean","cwd":".","timeoutSeconds":300},"#,
            r#""ignore":["node_modules/"],"#,
        );
        let docker = r#""setupCache":true,"docker":{"image":"python:3","memory":"2g","cpus":"1"}}"#;
        let first =
            format!(r#"{common}"cwd":"lib","env":{{"A":"1","B":"x"}},"keep":"always",{docker}"#);
        assert_eq!(shown(SUITE, 0), first);
        let second =
            format!(r#"{common}"env":{{"A":"1","B":"y","C":"z"}},"keep":"failed",{docker}"#);
        assert_eq!(shown(SUITE, 1), second);
    }

    #[test]
    fn a_saved_suite_has_the_same_workspaces_and_hashes() {
        let first = load(files(SUITE), "/p/evals/EVAL.yaml");
        for directory in ["/p/evals", "/p/other"] {
            let document = suite_document(&first.suite, &first.context(), directory.into());
            let path = format!("{directory}/EVAL.yaml");
            let text = to_yaml(&document, &super::super::canonical_yaml::STYLE);
            let second = load(first.files.clone().with(&path, text), &path);
            for (one, other) in first.suite.tests.iter().zip(&second.suite.tests) {
                if directory == "/p/evals" {
                    assert_eq!(one.workspace, other.workspace);
                }
                let (one, other) =
                    (one.workspace.as_ref().unwrap(), other.workspace.as_ref().unwrap());
                assert_eq!(one.template, other.template);
                let script =
                    |workspace: &Workspace| match &workspace.setup.as_ref().unwrap().command {
                        HookCommand::Argv(words) => words[1].clone(),
                        HookCommand::Shell(line) => line.clone(),
                    };
                let moved =
                    if directory == "/p/evals" { "./prepare.mjs" } else { "/evals/prepare.mjs" };
                assert_eq!(script(other), moved);
            }
        }
    }

    fn hash_of(workspace: &str, cart: &str) -> String {
        let suite =
            format!("name: demo\n{workspace}\ntests:\n  - {{id: a, criteria: c, input: Hi}}\n");
        let loaded = load(files(&suite).with("/p/shop/cart.js", cart), "/p/evals/EVAL.yaml");
        test_hash(&loaded.suite.tests[0], &loaded.files)
    }

    #[test]
    fn the_hash_covers_what_the_agent_finds() {
        let plain = hash_of("workspace: ../shop", "1");
        assert_eq!(hash_of("workspace: {template: ../shop, keep: never, teardown: x}", "1"), plain);
        for other in [
            ("workspace: ../shop", "2"),
            ("workspace: {}", "1"),
            ("x-none: 1", "1"),
            ("workspace: {template: ../shop, setup: make}", "1"),
            ("workspace: {template: ../shop, env: {A: b}}", "1"),
            ("workspace: {template: ../shop, cwd: src}", "1"),
            ("workspace: {template: ../shop, docker: {image: a}}", "1"),
        ] {
            assert_ne!(hash_of(other.0, other.1), plain, "{other:?}");
        }
    }

    #[test]
    fn one_hasher_gives_the_same_hashes() {
        let loaded = load(files(SUITE), "/p/evals/EVAL.yaml");
        let mut hasher = TestHasher::default();
        for test in &loaded.suite.tests {
            assert_eq!(hasher.hash(test, &loaded.files), test_hash(test, &loaded.files));
        }
        let shown = suite_value(&loaded.suite, &loaded.context()).to_json(JsonStyle::Compact);
        assert!(shown.contains(&test_hash(&loaded.suite.tests[1], &loaded.files)));
    }
}
