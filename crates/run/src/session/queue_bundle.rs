//! What a run with a queue sends to the server: which files, and which options. What must not be sent
//! is refused here.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{
    Hook, HookCommand, Judging, NamedAssertion, RepoOrigin, Test, Workspace,
};
use evalrig_core::secrets::{is_env_file, is_secret_name};
use evalrig_core::source::without_dots;

use crate::execute::SuiteJob;
use crate::queue::{BundleFile, QueueError, RunRequest, collect_tree, request_path};

use super::load::LoadedSuite;
use super::queue_neighbours::add_neighbours;
use super::spec::RunSpec;

/// What evalrig and git write into a directory.
const WRITTEN: &[&str] = &[".git", ".evalrig", ".co"];

/// The files of a run, and the directory that holds all of them.
#[derive(Debug)]
pub(super) struct BundledFiles {
    pub(super) base: Utf8PathBuf,
    pub(super) files: BTreeSet<BundleFile>,
    /// What the user should know.
    pub(super) notices: Vec<String>,
}

/// A secret in a targets file, or in a suite, would reach the server.
pub(super) fn refuse_secrets(spec: &RunSpec, suites: &[LoadedSuite]) -> Result<(), QueueError> {
    if let Some(suite) = suites.iter().find(|suite| suite.has_literal_secret()) {
        return Err(QueueError::new(format!(
            "--queue: the targets file of suite `{}` contains a literal secret; use `${{{{ NAME }}}}`, \
             which workers take from their own environment",
            suite.name()
        )));
    }
    match spec.loading.environment.used().into_iter().find(|name| is_secret_name(name)) {
        Some(name) => Err(QueueError::new(format!(
            "--queue: a suite uses the variable `{name}`, whose name says that it is secret; \
             move it to the targets file"
        ))),
        None => Ok(()),
    }
}

/// Every file that the cases of these suites need, and `included` with everything below.
pub(super) fn collect_files(
    spec: &RunSpec,
    suites: &[&SuiteJob],
    included: &[Utf8PathBuf],
) -> Result<BundledFiles, QueueError> {
    if spec.loading.allow_outside_root {
        return Err(QueueError::new(
            "--queue: workers read nothing outside of the repository, so --allow-outside-root \
             cannot be used with it",
        ));
    }
    let (mut files, mut scripts) = (BTreeSet::new(), BTreeSet::new());
    let root = suites.first().map(|suite| suite.root.clone()).unwrap_or_default();
    for suite in suites {
        if suite.root != root {
            return Err(QueueError::new(format!(
                "--queue: suites of two repositories, `{root}` and `{}`; run one at a time",
                suite.root
            )));
        }
        if suite.targets_file.is_none() {
            return Err(QueueError::new("--queue: a targets file is needed"));
        }
        add_suite(suite, &mut files, &mut scripts)?;
    }
    for path in included {
        add_included(path, &root, &mut files)?;
    }
    refuse_env_files(&files)?;
    let notices = add_neighbours(&scripts, &root, &mut files);
    files.extend(scripts.into_iter().map(BundleFile::File));
    for path in spec.loading.files.take_seen().into_keys().filter(|path| path.is_file()) {
        if !is_private(&path) {
            files.insert(BundleFile::File(path));
        }
    }
    let paths = files.iter().map(|file| match file {
        BundleFile::File(path)
        | BundleFile::Directory(path)
        | BundleFile::Link(path, _)
        | BundleFile::Neighbour(path) => path,
    });
    let base = paths.chain([&spec.loading.working_directory]).fold(root, |base, path| {
        let inside = base.ancestors().find(|ancestor| path.starts_with(ancestor));
        inside.unwrap_or(Utf8Path::new("/")).to_owned()
    });
    Ok(BundledFiles { base, files, notices })
}

/// `--queue-include`.
fn add_included(
    path: &Utf8Path,
    root: &Utf8Path,
    files: &mut BTreeSet<BundleFile>,
) -> Result<(), QueueError> {
    let path = &without_dots(path);
    if !path.starts_with(root) {
        return Err(QueueError::new(format!(
            "--queue-include: `{path}` is not below the repository root `{root}`"
        )));
    }
    if path.is_dir() {
        let is_left_out = |name: &str| WRITTEN.contains(&name) || is_env_file(name);
        return collect_tree(path, &is_left_out, files);
    }
    if !path.is_file() {
        return Err(QueueError::new(format!("--queue-include: `{path}` does not exist")));
    }
    files.insert(BundleFile::File(path.to_owned()));
    Ok(())
}

/// What is asked for by name, or part of a template, cannot be left out in silence.
fn refuse_env_files(files: &BTreeSet<BundleFile>) -> Result<(), QueueError> {
    let found = files.iter().find_map(|file| match file {
        BundleFile::File(path) if path.file_name().is_some_and(is_env_file) => Some(path),
        _ => None,
    });
    match found {
        Some(path) => Err(QueueError::new(format!(
            "--queue: `{path}` would be sent to the server; workers take variables from their own \
             environment or from --env-file"
        ))),
        None => Ok(()),
    }
}

/// `.env` files, whose values workers have in theirs, and what belongs to git.
fn is_private(path: &Utf8Path) -> bool {
    let is_env = path.file_name().is_some_and(is_env_file);
    is_env || path.components().any(|part| part.as_str() == ".git")
}

/// Scripts and other programs go to `scripts`, everything else to `files`.
fn add_suite(
    suite: &SuiteJob,
    files: &mut BTreeSet<BundleFile>,
    scripts: &mut BTreeSet<Utf8PathBuf>,
) -> Result<(), QueueError> {
    let mut tests: Vec<usize> = suite.chains.iter().flatten().map(|case| case.test).collect();
    tests.sort_unstable();
    tests.dedup();
    for test in tests.iter().map(|at| &suite.suite.tests[*at]) {
        add_test(test, suite, files, scripts)?;
    }
    for variant in suite.variants.values() {
        if let Some(workspace) = &variant.workspace {
            add_workspace(workspace, suite, files, scripts)?;
        }
        for skill in variant.skills.iter().flatten() {
            if !skill.directory.starts_with(&suite.root) {
                return Err(QueueError::new(format!(
                    "--queue: skill `{}` is not a directory of the repository; skills at a \
                     revision cannot be sent",
                    skill.name
                )));
            }
            let is_left_out = |name: &str| WRITTEN.contains(&name) || is_env_file(name);
            collect_tree(&skill.directory, &is_left_out, files)?;
        }
    }
    for connected in suite.connected.values() {
        let inside = connected.working_dir().filter(|path| path.starts_with(&suite.root));
        files.extend(inside.map(|path| BundleFile::Directory(path.to_owned())));
        for path in connected.source_files().iter().map(|path| without_dots(path)) {
            if path.starts_with(&suite.root) && path.is_file() {
                scripts.insert(path);
            }
        }
    }
    Ok(())
}

fn add_test(
    test: &Test,
    suite: &SuiteJob,
    files: &mut BTreeSet<BundleFile>,
    scripts: &mut BTreeSet<Utf8PathBuf>,
) -> Result<(), QueueError> {
    let blocks = test.input.iter().flat_map(|message| &message.content);
    let attached = blocks.filter_map(|block| block.file()?.path.clone());
    files.extend(attached.filter(|path| path.is_file()).map(BundleFile::File));
    add_scripts(&test.assertions, scripts);
    match &test.workspace {
        Some(workspace) => add_workspace(workspace, suite, files, scripts),
        None => Ok(()),
    }
}

fn add_scripts(assertions: &[NamedAssertion], scripts: &mut BTreeSet<Utf8PathBuf>) {
    for check in assertions.iter().map(|named| &named.assertion.check) {
        scripts.extend(check.script_files().into_iter().filter(|path| path.is_file()));
        add_scripts(check.members(), scripts);
    }
}

fn add_workspace(
    workspace: &Workspace,
    suite: &SuiteJob,
    files: &mut BTreeSet<BundleFile>,
    scripts: &mut BTreeSet<Utf8PathBuf>,
) -> Result<(), QueueError> {
    if let Some(template) = &workspace.template {
        collect_tree(template, &|_| false, files)?;
    }
    let repos = workspace.repos.iter();
    let mut local = repos.filter_map(|repo| match &repo.origin {
        RepoOrigin::Path(path) => Some(path),
        RepoOrigin::Url(_) => None,
    });
    if let Some(path) = local.next() {
        return Err(QueueError::new(format!(
            "--queue: workers cannot clone the directory `{path}`; name the repository by its URL"
        )));
    }
    let Workspace { before_all, setup, teardown, after_all, .. } = workspace;
    for hook in [before_all, setup, teardown, after_all].into_iter().flatten() {
        add_hook(hook, suite, scripts);
    }
    Ok(())
}

/// The files among the words of a hook.
fn add_hook(hook: &Hook, suite: &SuiteJob, scripts: &mut BTreeSet<Utf8PathBuf>) {
    let words: Vec<&str> = match &hook.command {
        HookCommand::Argv(words) => words.iter().map(String::as_str).collect(),
        HookCommand::Shell(text) => text.split_whitespace().collect(),
    };
    for word in words {
        let path = without_dots(&hook.base.join(word));
        if path.starts_with(&suite.root) && path.is_file() {
            scripts.insert(path);
        }
    }
}

/// The options that decide what a case is.
pub(super) fn request_of(
    spec: &RunSpec,
    suites: &[&SuiteJob],
    base: &Utf8Path,
) -> Result<RunRequest, QueueError> {
    let path = |path: &Utf8PathBuf| request_path(path, base);
    let grading = &spec.grading;
    let root = suites.first().map(|suite| suite.root.clone()).unwrap_or_default();
    Ok(RunRequest {
        root: path(&root)?,
        working_directory: path(&spec.loading.working_directory)?,
        suites: suites.iter().map(|suite| path(&suite.path)).collect::<Result<_, _>>()?,
        targets_file: spec.loading.targets_file.as_ref().map(path).transpose()?,
        plan: spec.plan.clone(),
        judge: grading.judge.clone(),
        skip_judges: grading.judging == Judging::Skip,
        judge_criteria: grading.judge_criteria,
        pass: grading.pass,
        borderline: grading.borderline,
        sandbox: spec.sandbox.map(|name| name.word().to_owned()),
        timeout_seconds: spec.timeout.map(|timeout| timeout.as_secs()),
        retries: spec.retries,
        messages: spec.messages,
        budget_usd: spec.budget_usd,
        max_errors: spec.max_errors,
        fail_fast: spec.fail_fast,
    })
}
