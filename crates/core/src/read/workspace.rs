//! The `workspace` of a suite or a test (spec 17.1). What a file leaves out comes from the file that
//! imports it, key by key.

use std::sync::Arc;

use camino::Utf8PathBuf;

use crate::diagnostic::{Diagnostic, Level};
use crate::model::{
    ContainerSettings, IgnoreList, KeepRule, Workspace, WorkspaceRepo, WorkspaceView,
};
use crate::reader::{FileUse, Options, ReadResult, Reported, read_mapping, wrong_type};
use crate::source::{Span, Spanned};
use crate::syntax::fields::{Entry, Field, INVALID_OPTION, Shape, UNSUPPORTED_FEATURE, shorten};
use crate::syntax::{Node, Scalar};

use super::inherited_defaults::InheritedDefaults;
use super::loader::Loader;
use super::workspace_answers::WorkspacePart;
use super::workspace_container::{DOCKER_FIELDS, read_container};
use super::workspace_hook::{HOOK_SHAPE, HOOKS_FIELDS, ReadHooks, read_hooks};
use super::workspace_repo::read_repos;
use super::workspace_template::TemplateFacts;

pub static WORKSPACE_FIELDS: &[Field] = &[
    Field::new("template", Shape::NonEmptyText, "directory that every case gets a copy of"),
    Field::new(
        "repos",
        Shape::List(&Shape::Ref("workspace-repo")),
        "git repositories that are checked out in the workspace",
    ),
    Field::new("setup", HOOK_SHAPE, "command that prepares every workspace").also(&["before_each"]),
    Field::new("teardown", HOOK_SHAPE, "command that runs after the checks of every case")
        .also(&["after_each"]),
    Field::new("before_all", HOOK_SHAPE, "the same as `hooks.before_all`"),
    Field::new("after_all", HOOK_SHAPE, "the same as `hooks.after_all`"),
    Field::new("hooks", Shape::Fields(HOOKS_FIELDS), "commands around cases, by when they run"),
    Field::new(
        "ignore",
        Shape::List(&Shape::NonEmptyText),
        "patterns as in `.gitignore`: these files are not part of the evidence",
    ),
    Field::new("cwd", Shape::NonEmptyText, "where the agent starts, below the workspace"),
    Field::new(
        "env",
        Shape::MapOf(&Shape::TextOrScalar),
        "variables for the agent, the hooks and the checks",
    ),
    Field::new(
        "keep",
        Shape::Choice(KeepRule::WORDS),
        "which workspaces are kept after their case; default `failed`",
    ),
    Field::new(
        "setup_cache",
        Shape::Boolean,
        "prepare equal workspaces once per run and copy the result; default false",
    ),
    Field::new("docker", Shape::Fields(DOCKER_FIELDS), "container for the agent and the checks"),
    Field::new(
        "isolation",
        Shape::Choice(ISOLATIONS),
        "`per_test`: every case has a workspace of its own, which is always so",
    ),
    Field::new(
        "mode",
        Shape::Choice(MODES),
        "`temp` and `pooled` are accepted: every attempt of a case gets a fresh directory",
    ),
    Field::new("path", Shape::Text, "directory of `mode: static`, which is not supported"),
];

const ISOLATIONS: &[&str] = &["per_test", "shared"];
const MODES: &[&str] = &["temp", "pooled", "static"];

/// What one file or test says about workspaces.
#[derive(Debug, Clone, Default)]
pub(super) struct WorkspaceLayer {
    /// Whether there is a `workspace` at all, valid or not.
    pub(super) is_written: bool,
    pub(super) template: Option<Arc<TemplateFacts>>,
    pub(super) repos: Option<Vec<Spanned<WorkspaceRepo>>>,
    hooks: ReadHooks,
    ignore: Option<Arc<IgnoreList>>,
    cwd: Option<String>,
    env: Vec<(String, String)>,
    keep: Option<KeepRule>,
    setup_cache: Option<bool>,
    container: Option<ContainerSettings>,
}

impl WorkspaceLayer {
    /// This layer over the one above it.
    fn over(self, above: &Self) -> Self {
        let mut env = above.env.clone();
        for (name, value) in self.env {
            match env.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => *known = value,
                None => env.push((name, value)),
            }
        }
        Self {
            is_written: self.is_written || above.is_written,
            template: self.template.or_else(|| above.template.clone()),
            repos: self.repos.or_else(|| above.repos.clone()),
            hooks: self.hooks.or(&above.hooks),
            ignore: self.ignore.or_else(|| above.ignore.clone()),
            cwd: self.cwd.or_else(|| above.cwd.clone()),
            env,
            keep: self.keep.or(above.keep),
            setup_cache: self.setup_cache.or(above.setup_cache),
            container: self.container.or_else(|| above.container.clone()),
        }
    }

    /// The workspace of a test: its own layer over those of the files above, nearest first.
    pub(super) fn for_test(own: Option<Self>, level: &InheritedDefaults<'_>) -> Option<Self> {
        let layers = level.chain().map(|level| &level.workspace);
        let written = layers.filter(|layer| layer.is_written);
        let merged = written.fold(own.unwrap_or_default(), Self::over);
        merged.is_written.then_some(merged)
    }

    /// Where the files of the workspace come from, as far as that is known without a network.
    pub(super) fn parts(&self) -> Vec<WorkspacePart<'_>> {
        let template = self.template.as_deref().map(WorkspacePart::Template);
        let repos = self.repos.iter().flatten().filter_map(WorkspacePart::of_repo);
        template.into_iter().chain(repos).collect()
    }

    /// What checks may know while the suite is read.
    pub(super) fn view(&self, has_attachments: bool) -> WorkspaceView<'_> {
        let has_more = has_attachments
            || self.repos.as_ref().is_some_and(|repos| !repos.is_empty())
            || self.hooks.setup.is_some()
            || self.hooks.before_all.is_some();
        let files = match &self.template {
            _ if has_more => None,
            Some(template) => template.complete_files(),
            None => Some(&[] as &[String]),
        };
        let gitignores = match &self.template {
            Some(template) if files.is_some() => template.gitignores(),
            _ => &[],
        };
        WorkspaceView { files, ignore: self.ignore.as_deref(), gitignores }
    }

    pub(super) fn finish(self) -> Workspace {
        Workspace {
            template: self.template.map(|template| template.path.clone()),
            repos: self.repos.into_iter().flatten().map(|repo| repo.value).collect(),
            before_all: self.hooks.before_all,
            setup: self.hooks.setup,
            teardown: self.hooks.teardown,
            after_all: self.hooks.after_all,
            ignore: self.ignore.map(|list| list.lines.clone()).unwrap_or_default(),
            cwd: self.cwd.filter(|cwd| !cwd.is_empty()),
            env: self.env,
            keep: self.keep.unwrap_or_default(),
            setup_cache: self.setup_cache.unwrap_or(false),
            container: self.container,
        }
    }
}

impl Loader<'_, '_> {
    /// A mapping, a template directory, or a YAML file with the mapping.
    pub(super) fn read_workspace(&mut self, entry: &Entry<'_>) -> WorkspaceLayer {
        let node = entry.value;
        let layer = match node.scalar() {
            Some(Scalar::Str(_)) => self.named_workspace(entry),
            _ if node.is_mapping() => self.workspace_mapping(node),
            _ => {
                let wants = "a mapping, a directory, or a YAML file with the mapping";
                self.reader.refuse(wrong_type("workspace", node, wants))
            }
        };
        WorkspaceLayer { is_written: true, ..layer.unwrap_or_default() }
    }

    fn named_workspace(&mut self, entry: &Entry<'_>) -> Option<WorkspaceLayer> {
        let text = self.reader.spanned_text(entry)?;
        let lower = text.value.to_ascii_lowercase();
        if !(lower.ends_with(".yaml") || lower.ends_with(".yml")) {
            let path = self.reader.existing_directory(&text.value, text.span)?;
            let template = Some(self.template_at(path, text.span));
            return Some(WorkspaceLayer { template, ..WorkspaceLayer::default() });
        }
        let path = self.reader.file(&text.value, text.span, FileUse::Workspace)?;
        if let Some(known) = self.workspace_files.get(&path) {
            return Some(known.clone());
        }
        let (_, tree) = self.parse_yaml_file(&path)?;
        let root = tree.root();
        if !root.is_mapping() {
            return self.reader.refuse(wrong_type("a workspace file", root, "a mapping"));
        }
        let directory = path.parent().unwrap_or(&path).to_owned();
        let layer = self.within(&directory, |loader| loader.workspace_mapping(root));
        self.workspace_files.insert(path, layer.clone().unwrap_or_default());
        layer
    }

    fn workspace_mapping(&mut self, node: Node<'_>) -> Option<WorkspaceLayer> {
        let read = read_mapping(&mut self.reader, "workspace", node, WORKSPACE_FIELDS, |options| {
            Ok(read_layer(options))
        });
        let (mut layer, template) = read.ok()?;
        layer.template = template.map(|(path, span)| self.template_at(path, span));
        self.report_suite_in_repos(layer.repos.as_deref().unwrap_or_default());
        Some(layer)
    }
}

type PlacedDirectory = (Utf8PathBuf, Span);

/// A faulty key is reported and counts as absent, so that all faults are shown.
fn read_layer(options: &mut Options<'_, '_, '_>) -> (WorkspaceLayer, Option<PlacedDirectory>) {
    report_unsupported(options);
    let template = options.optional("template", |options, entry| {
        let text = options.full_text_of("template", entry.value)?;
        let path = options.reader.existing_directory(&text.value, text.span).ok_or(Reported)?;
        Ok((path, text.span))
    });
    let layer = WorkspaceLayer {
        is_written: true,
        template: None,
        repos: known(read_repos(options)),
        hooks: read_hooks(options),
        ignore: known(options.texts("ignore")).map(|patterns| {
            let lines = patterns.into_iter().map(|pattern| pattern.value).collect();
            Arc::new(IgnoreList::new(lines))
        }),
        cwd: known(read_path(options, "cwd")),
        env: known(options.optional("env", read_env)).unwrap_or_default(),
        keep: known(options.choice("keep")),
        setup_cache: known(options.boolean("setup_cache")),
        container: known(read_container(options)),
    };
    (layer, known(template))
}

/// What is faulty has been reported.
pub(super) fn known<T>(read: ReadResult<Option<T>>) -> Option<T> {
    read.ok().flatten()
}

/// A path below the workspace.
pub(super) fn read_path(
    options: &mut Options<'_, '_, '_>,
    name: &'static str,
) -> ReadResult<Option<String>> {
    options.optional(name, |options, entry| {
        let text = options.full_text_of(name, entry.value)?;
        options.reader.path_in_workspace(&text.value, text.span).ok_or(Reported)
    })
}

/// A text; a number or boolean as its source text.
pub(super) fn scalar_text<'t>(
    options: &mut Options<'_, '_, 't>,
    entry: &Entry<'t>,
) -> ReadResult<String> {
    scalar_of(options, entry.field.name, entry.value)
}

fn scalar_of<'t>(
    options: &mut Options<'_, '_, 't>,
    name: &str,
    node: Node<'t>,
) -> ReadResult<String> {
    match node.scalar() {
        Some(Scalar::Int(_) | Scalar::Float(_) | Scalar::Bool(_)) => {
            Ok(node.scalar_text().unwrap_or_default().to_owned())
        }
        _ => Ok(options.full_text_of(name, node)?.value),
    }
}

/// Names and values of variables; a number or boolean as its source text.
pub(super) fn read_env<'t>(
    options: &mut Options<'_, '_, 't>,
    entry: &Entry<'t>,
) -> ReadResult<Vec<(String, String)>> {
    if !entry.value.is_mapping() {
        return Err(options.wrong_type("env", entry.value, "a mapping"));
    }
    let mut variables = Vec::new();
    for (key, value) in entry.value.entries() {
        let name = key.scalar_text().unwrap_or_default();
        if name.is_empty() || name.contains(['=', '\0']) {
            let message = format!("`{}` cannot be the name of a variable", shorten(name));
            return Err(options.report(Diagnostic::new(&INVALID_OPTION, key.span(), message)));
        }
        let is_empty = matches!(value.scalar(), Some(Scalar::Str("")));
        let text = if is_empty { String::new() } else { scalar_of(options, "env", value)? };
        variables.push((name.to_owned(), text));
    }
    Ok(variables)
}

/// What agentv shares between cases.
fn report_unsupported(options: &mut Options<'_, '_, '_>) {
    for (name, words, refused) in [("isolation", ISOLATIONS, "shared"), ("mode", MODES, "static")] {
        let Some(entry) = options.get(name) else { continue };
        if options.reader.choice(&entry, words) != Some(refused) {
            continue;
        }
        let message =
            format!("`{name}: {refused}` is not supported: cases would see each other's files");
        let help = "remove it; use `setup_cache: true` if preparing takes long";
        let place = entry.value.span();
        let fault = Diagnostic::new(&UNSUPPORTED_FEATURE, place, message).level(Level::BlocksRun);
        options.report(fault.help(help));
    }
}
