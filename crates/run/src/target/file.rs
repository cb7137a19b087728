//! A targets file as a whole (spec 9.1), and the lookup of its targets by name.

use std::collections::HashMap;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::declare_codes;
use evalrig_core::diagnostic::{Diagnostic, Diagnostics};
use evalrig_core::model::SkillSource;
use evalrig_core::reader::{
    EnvFiles, FillError, ReadPolicy, Reader, TargetNames, Template, World, wrong_type,
};
use evalrig_core::secrets::Secrets;
use evalrig_core::source::{Reach, SourceId, Sources, Span};
use evalrig_core::syntax::fields::{Bound, Field, Shape};
use evalrig_core::syntax::{Node, parse_yaml, read_source};

use crate::setting::PathBase;

use super::alias;
use super::entry::{Definition, Target, TargetEntry, read_entry, unset};
use super::hidden::{FileSecrets, secrets_of};

declare_codes! {
    MISSING_TARGETS = "missing-targets", Blocking, Target, r#"A targets file has no `targets`, or the list is empty.

## Example
```yaml .evalrig/targets.yaml
judge_target: "${{ JUDGE }}"
```

## Instead
```yaml .evalrig/targets.yaml
judge_target: judge
targets:
  - {name: judge, provider: openai, model: gpt-4o}
```

## Why
Only the nearest targets file is read. One without targets hides the others.
"#;
    DUPLICATE_TARGET = "duplicate-target", Blocking, Target, r#"Two targets of one file have the same name.

## Example
```yaml .evalrig/targets.yaml
targets:
  - {name: default, provider: mock, response: Hello}
  - {name: default, provider: claude-cli}
```

## Instead
```yaml .evalrig/targets.yaml
targets:
  - {name: default, provider: mock, response: Hello}
  - {name: claude, provider: claude-cli}
```

## Why
It would be unclear which one a suite runs against.
"#;
}

/// The root of a targets file. `Ref("target")` is a mapping of [`TARGET_FIELDS`](crate::setting::TARGET_FIELDS) and the fields of
/// its provider.
pub static ROOT: &[Field] = &[
    Field::new(
        "targets",
        Shape::NonEmptyList(&Shape::Ref("target")),
        "targets that suites can run against",
    )
    .required(),
    Field::new("judge_target", Shape::NonEmptyText, "default judge"),
];

/// A targets file, read.
#[derive(Debug)]
pub struct Targets {
    path: Utf8PathBuf,
    base: PathBase,
    judge_target: Option<Template>,
    pub(super) list: Vec<TargetEntry>,
    pub(super) index: HashMap<String, usize>,
    hidden: FileSecrets,
}

/// Why a target was not found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotFound {
    /// The file has no target with this name.
    Unknown(String),
    /// Finding it needs variables that are not set, with a diagnostic for each.
    Unset(Vec<Diagnostic>),
    /// The aliases form a cycle, or the chain is too long.
    Endless,
    /// The target exists but is invalid, which has been reported.
    Invalid,
}

impl Targets {
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Where relative paths of the file start.
    pub fn base(&self) -> &PathBase {
        &self.base
    }

    /// In the order of the file, with those of invalid targets.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|named| named.name.value.as_str())
    }

    pub fn has(&self, name: &str) -> bool {
        self.index.contains_key(name)
    }

    /// The names, for readers of suites.
    pub fn target_names(&self) -> TargetNames {
        TargetNames::Known {
            names: self.names().map(str::to_owned).collect(),
            file: self.path.clone(),
            skills: self.skills().cloned().collect(),
        }
    }

    /// Those that targets give their agents.
    pub(crate) fn skills(&self) -> impl Iterator<Item = &SkillSource> {
        let targets = self.list.iter().filter_map(|named| match &named.definition {
            Definition::Target(target) => target.common.skills.as_ref(),
            _ => None,
        });
        targets.flatten()
    }

    /// The target with this name, unless finding it needs a variable.
    pub fn get(&self, name: &str) -> Option<&Target> {
        self.find(name, &|_| None).ok()
    }

    /// The target with this name; follows `use_target`.
    pub fn find(
        &self,
        name: &str,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<&Target, NotFound> {
        let mut name = name.to_owned();
        for _ in 0..=alias::STEPS {
            let at = match self.index.get(&name) {
                Some(at) => *at,
                None => return Err(NotFound::Unknown(name)),
            };
            match &self.list[at].definition {
                Definition::Target(target) => return Ok(target),
                Definition::Invalid => return Err(NotFound::Invalid),
                Definition::Alias(alias) => {
                    name = alias.target.fill(variable).map_err(|error| match error {
                        FillError::Unset(_) => NotFound::Unset(unset(&alias.references, variable)),
                        FillError::TooLong => NotFound::Unknown(alias.target.raw().to_owned()),
                    })?;
                }
            }
        }
        Err(NotFound::Endless)
    }

    /// The judge that a target names. An alias has the judge of its target.
    pub fn judge_of(&self, name: &str) -> Option<&Template> {
        let own = self.index.get(name).map(|at| &self.list[*at])?;
        let written = own.judge_target.as_ref();
        written.or_else(|| self.get(name)?.common.judge_target.as_ref())
    }

    /// The judge of targets without a judge of their own.
    pub fn judge_target(&self) -> Option<&Template> {
        self.judge_target.as_ref()
    }

    /// Secrets that are written out in the file.
    pub fn secrets(&self) -> &Secrets {
        &self.hidden.literal
    }

    /// [`Self::secrets`], and those that come from variables (spec 9.5).
    pub fn secrets_with(&self, variable: &dyn Fn(&str) -> Option<String>) -> Secrets {
        self.hidden.with(variable)
    }
}

/// Reads a targets file. `None` if it could not be parsed; otherwise everything that could be read,
/// and the diagnostics tell whether it can be used. Variables are not looked up, because machines
/// that only validate files have no keys.
pub fn read_targets(
    world: World<'_>,
    sources: &mut Sources,
    out: &mut Diagnostics,
    path: &Utf8Path,
    root: &Utf8Path,
    reach: Reach<'_>,
) -> Option<Targets> {
    let source = read_source(world.files, sources, out, path, reach)?;
    read_targets_source(world, sources, out, source, path, root)
}

/// Reads a targets file whose text is known.
pub(super) fn read_targets_source(
    world: World<'_>,
    sources: &mut Sources,
    out: &mut Diagnostics,
    source: SourceId,
    path: &Utf8Path,
    root: &Utf8Path,
) -> Option<Targets> {
    let tree = parse_yaml(source, sources.get(source).shared_text(), out)?;
    let base = PathBase::of(path, root);
    let limits = ReadPolicy {
        allow_outside_root: true,
        env_files: EnvFiles::None,
        targets: TargetNames::Unchecked,
    };
    let directory = base.directory().to_owned();
    let mut reader = Reader::new(world, sources, out, &limits, root.to_owned(), directory);
    reader.keep_references();
    let mut targets = Targets {
        path: path.to_owned(),
        base,
        judge_target: None,
        list: Vec::new(),
        index: HashMap::new(),
        hidden: secrets_of(tree.root()),
    };
    read_root(&mut reader, tree.root(), &mut targets);
    alias::check(&mut reader, &targets);
    Some(targets)
}

fn read_root(reader: &mut Reader<'_>, node: Node<'_>, targets: &mut Targets) {
    if !node.is_mapping() {
        reader.report(wrong_type("a targets file", node, "a mapping with `targets`"));
        return;
    }
    let bound = Bound::new(node, &[ROOT], reader.out());
    bound.report_unknown(&[ROOT], reader.out());
    if let Some(entry) = bound.get("judge_target") {
        let text = reader.spanned_text(&entry);
        targets.judge_target = text.map(|text| Template::new(text.value, text.span));
    }
    match bound.get("targets") {
        None => {
            let help = match bound.misspelt("targets").and_then(Node::scalar_text) {
                Some(written) => format!("rename `{written}` to `targets`"),
                None => "add a list `targets`".to_owned(),
            };
            reader.report(missing_targets(bound.head(), "the file has no `targets`", help));
        }
        Some(entry) => read_list(reader, entry.value, targets),
    }
}

fn read_list(reader: &mut Reader<'_>, list: Node<'_>, targets: &mut Targets) {
    if !list.is_sequence() {
        reader.report(
            wrong_type("targets", list, "a list of targets")
                .help("write each target as `- name: …` with its `provider`"),
        );
        return;
    }
    if list.items().len() == 0 {
        let help = "add a target, such as `- {name: default, provider: claude-cli}`";
        reader.report(missing_targets(list.span(), "`targets` is empty", help.into()));
    }
    for item in list.items() {
        let Some(named) = read_entry(reader, item) else {
            continue;
        };
        match targets.index.get(&named.name.value) {
            Some(first) => {
                let first = targets.list[*first].name.span;
                reader.report(duplicate(&named, first));
            }
            None => {
                let name = named.name.value.clone();
                targets.index.insert(name, targets.list.len());
                targets.list.push(named);
            }
        }
    }
}

fn missing_targets(span: Span, message: &str, help: String) -> Diagnostic {
    Diagnostic::new(&MISSING_TARGETS, span, message).help(help)
}

fn duplicate(named: &TargetEntry, first: Span) -> Diagnostic {
    let message = format!("target `{}` is given twice", named.name.value);
    Diagnostic::new(&DUPLICATE_TARGET, named.name.span, message)
        .label("again here")
        .related(first, "first given here")
        .help("give each target a name of its own")
}
