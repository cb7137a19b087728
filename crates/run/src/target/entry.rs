//! One entry of `targets`: a target, or an alias for one.

use evalrig_core::declare_codes;
use evalrig_core::diagnostic::{Diagnostic, Level};
use evalrig_core::reader::{
    InsertionBudget, Options, ReadResult, Reader, Reference, Reported, Template, wrong_type,
};
use evalrig_core::source::{Files, Span, Spanned};
use evalrig_core::syntax::fields::{Bound, Field, UNKNOWN_FIELD, is_free, shorten, unknown_field};
use evalrig_core::syntax::{Node, Scalar};

use crate::agent::Agent;
use crate::provider::{Provider, ProviderSettings, provider_named};
use crate::setting::{
    Common, ConnectContext, FilesMode, PathBase, Setting, TARGET_FIELDS, entries_of, option,
    read_common,
};

use super::identity::WrittenOptions;
use super::unsupported::{provider_from_variable, unsupported_provider};

declare_codes! {
    MISSING_TARGET_NAME = "missing-target-name", Blocking, Target, r#"A target has no usable name.

## Example
```yaml .evalrig/targets.yaml
targets:
  - provider: mock
    response: Hello
```

## Instead
```yaml .evalrig/targets.yaml
targets:
  - name: default
    provider: mock
    response: Hello
```

## Why
Suites select targets by name, and results are recorded under it. The name must be written out, because
one from a variable could not be looked up.
"#;
    MISSING_PROVIDER = "missing-provider", Blocking, Target, r#"A target has neither `provider` nor `use_target`.

## Example
```yaml .evalrig/targets.yaml
targets:
  - name: default
    model: gpt-4o
```

## Instead
```yaml .evalrig/targets.yaml
targets:
  - name: default
    provider: openai
    model: gpt-4o
```

## Why
Guessing a provider from the other options could send prompts to the wrong service.
"#;
}

/// A target that can be connected.
#[derive(Debug)]
pub struct Target {
    pub name: Spanned<String>,
    pub provider: &'static Provider,
    pub common: Common,
    pub settings: Box<dyn ProviderSettings>,
    pub references: Vec<Reference>,
    pub(super) options: WrittenOptions,
}

impl Target {
    /// The model that records name.
    pub fn model(&self) -> Option<&Template> {
        self.settings.model()
    }

    pub fn retries(&self) -> Setting<u64> {
        let written = self.common.retries.clone();
        written.unwrap_or(Setting::Given(self.provider.retries))
    }

    pub fn files(&self) -> Setting<FilesMode> {
        let written = self.common.files.clone();
        written.unwrap_or(Setting::Given(self.provider.files))
    }

    /// What connecting this target needs. `base` is that of its targets file.
    pub fn context<'a>(
        &'a self,
        base: &'a PathBase,
        files: &'a dyn Files,
        variable: &'a dyn Fn(&str) -> Option<String>,
    ) -> ConnectContext<'a> {
        ConnectContext {
            name: &self.name,
            common: &self.common,
            attachments: self.files(),
            key_variables: self.provider.key_variables,
            base,
            files,
            variable,
            arm_model: None,
            arm_args: &[],
            insertions: InsertionBudget::default(),
        }
    }

    /// The agent of this target. Fails with a diagnostic at the setting that cannot be used.
    pub fn connect(&self, context: &ConnectContext<'_>) -> Result<Box<dyn Agent>, Diagnostic> {
        self.settings.connect(context)
    }

    /// A diagnostic for each variable that this target needs and that is not set (spec 9.1).
    pub fn unset_variables(&self, variable: &dyn Fn(&str) -> Option<String>) -> Vec<Diagnostic> {
        unset(&self.references, variable)
    }
}

/// A diagnostic for each reference to a variable that is not set.
pub(super) fn unset(
    references: &[Reference],
    variable: &dyn Fn(&str) -> Option<String>,
) -> Vec<Diagnostic> {
    references
        .iter()
        .filter(|reference| variable(&reference.name).is_none())
        .map(|reference| reference.missing(Level::BlocksRun))
        .collect()
}

/// An entry with its name. The name is known even if the definition is invalid, so that references to
/// it are not reported as well.
#[derive(Debug)]
pub(super) struct TargetEntry {
    pub(super) name: Spanned<String>,
    pub(super) definition: Definition,
    pub(super) judge_target: Option<Template>,
}

#[derive(Debug)]
pub(super) enum Definition {
    Target(Box<Target>),
    Alias(Alias),
    /// Reported already.
    Invalid,
}

/// `use_target`: an alias for a target.
#[derive(Debug)]
pub(super) struct Alias {
    pub(super) target: Template,
    pub(super) references: Vec<Reference>,
}

/// `None` if the entry has no name.
pub(super) fn read_entry(reader: &mut Reader<'_>, node: Node<'_>) -> Option<TargetEntry> {
    if !node.is_mapping() {
        reader.report(wrong_type("an item of targets", node, "a mapping"));
        return None;
    }
    reader.take_references();
    let provider = provider_of(node);
    let own_fields = provider.map_or(&[] as &'static [Field], |provider| provider.fields);
    let tables = [own_fields, TARGET_FIELDS];
    let bound = Bound::new(node, &tables, reader.out());
    // Without a known provider, the options are not known either.
    if provider.is_some() && !bound.has("use_target") {
        bound.explain_unknown(reader.out(), |key, _| explain_unknown(key, provider, &tables));
    }
    let mut options = Options {
        reader,
        fields: &bound,
        owner: provider.map_or("target", |provider| provider.name),
    };
    let name = read_name(&mut options);
    let definition = read_definition(&mut options, name.as_ref().ok(), provider);
    Some(TargetEntry {
        name: name.ok()?,
        definition,
        judge_target: text_at(&bound, "judge_target"),
    })
}

/// An option that other agents have is not misspelt.
fn explain_unknown(
    key: Node<'_>,
    provider: Option<&Provider>,
    tables: &[&'static [Field]],
) -> Diagnostic {
    let found = unknown_field(key, tables);
    match (key.scalar_text(), provider) {
        (Some("max_turns"), Some(provider)) => found.help(format!(
            "`{}` cannot limit the number of turns; use `timeout_seconds`",
            provider.name
        )),
        _ => found,
    }
}

/// A text whose diagnostics are reported elsewhere.
fn text_at(bound: &Bound<'_>, name: &str) -> Option<Template> {
    let value = bound.get(name)?.value;
    match value.scalar()? {
        Scalar::Str(text) => Some(Template::new(text, value.span())),
        _ => None,
    }
}

/// Looked up first, because the provider decides which keys are known.
fn provider_of(node: Node<'_>) -> Option<&'static Provider> {
    provider_named(node.get("provider")?.scalar_text()?)
}

fn read_name(options: &mut Options<'_, '_, '_>) -> ReadResult<Spanned<String>> {
    let (span, message) = match options.get("name") {
        None => (options.head(), "the target has no `name`"),
        Some(entry) => {
            let name = option::template_of(options, "name", entry.value)?;
            match name.fixed() {
                None => (name.span(), "`name` cannot come from a variable"),
                Some(text) if text.trim().is_empty() => (name.span(), "`name` is empty"),
                Some(text) => return Ok(Spanned::new(text, name.span())),
            }
        }
    };
    let help = "add a name, such as `name: default`";
    Err(options.report(Diagnostic::new(&MISSING_TARGET_NAME, span, message).help(help)))
}

fn read_definition(
    options: &mut Options<'_, '_, '_>,
    name: Option<&Spanned<String>>,
    provider: Option<&'static Provider>,
) -> Definition {
    let read = match (options.has("use_target"), provider) {
        (true, _) => read_alias(options).map(Definition::Alias),
        (false, Some(provider)) => {
            read_target(options, name, provider).map(|target| Definition::Target(Box::new(target)))
        }
        (false, None) => {
            report_provider(options);
            // Report the faults of the common options as well.
            let _ = read_common(options);
            Err(Reported)
        }
    };
    read.unwrap_or(Definition::Invalid)
}

fn read_target(
    options: &mut Options<'_, '_, '_>,
    name: Option<&Spanned<String>>,
    provider: &'static Provider,
) -> ReadResult<Target> {
    let common = read_common(options);
    let settings = (provider.read)(options);
    Ok(Target {
        name: name.cloned().ok_or(Reported)?,
        provider,
        common: common?,
        settings: settings?,
        references: options.reader.take_references(),
        options: WrittenOptions::of(options.fields.node),
    })
}

fn read_alias(options: &mut Options<'_, '_, '_>) -> ReadResult<Alias> {
    let target = option::required_template(options, "use_target");
    if let (Some(first), Some(second)) = (options.get("use_target"), options.get("provider")) {
        let help = "keep `use_target` if this is an alias for another target";
        return Err(options.conflict(&first, &second, help));
    }
    for (key, _) in entries_of(options.fields.node) {
        let name = key.scalar_text().unwrap_or("");
        if !matches!(name, "" | "name" | "use_target") && !is_free(name) {
            options.report(without_effect(name, key.span()));
        }
    }
    Ok(Alias { target: target?, references: options.reader.take_references() })
}

fn without_effect(key: &str, span: Span) -> Diagnostic {
    let message = format!("`{}` has no effect beside `use_target`", shorten(key));
    Diagnostic::new(&UNKNOWN_FIELD, span, message).help("set it on the target that is used")
}

fn report_provider(options: &mut Options<'_, '_, '_>) {
    let Some(entry) = options.get("provider") else {
        let help = match options.fields.misspelt("provider").and_then(Node::scalar_text) {
            Some(written) => format!("rename `{written}` to `provider`"),
            None => "add `provider`, or `use_target` for an alias".to_owned(),
        };
        let message = "the target has no `provider`";
        let span = options.head();
        options.report(Diagnostic::new(&MISSING_PROVIDER, span, message).help(help));
        return;
    };
    if let Ok(written) = option::template_of(options, "provider", entry.value) {
        options.report(if written.has_references() {
            provider_from_variable(written.span())
        } else {
            unsupported_provider(written.raw(), written.span())
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::testing::read;

    #[test]
    fn a_target_needs_a_literal_name() {
        for (name, message) in [
            ("", "the target has no `name`"),
            ("name: \"\", ", "`name` is empty"),
            ("name: \"${{ N }}\", ", "`name` cannot come from a variable"),
        ] {
            let read = read(&format!("targets: [{{{name}provider: mock, response: x}}]\n"));
            assert_eq!(read.names(), ["missing-target-name"]);
            assert_eq!(read.messages(), [message]);
        }
    }

    #[test]
    fn a_target_needs_a_provider() {
        let read = read("targets:\n  - name: a\n    providr: mock\n");
        assert_eq!(read.names(), ["missing-provider"]);
        assert_eq!(read.sources.text_of(read.out[0].span), "name");
        let help = read.out[0].help.as_deref();
        assert_eq!(help, Some("rename `providr` to `provider`"));
    }

    #[test]
    fn an_alias_has_no_options() {
        let read = read(
            "targets:\n- {name: a, provider: mock, response: x}\n\
             - {name: b, use_target: a, retries: 1, x-note: free}\n\
             - {name: c, use_target: a, provider: mock, response: x}\n",
        );
        assert_eq!(read.names(), ["unknown-field", "conflicting-fields"]);
        assert_eq!(read.sources.text_of(read.out[0].span), "retries");
        assert_eq!(read.sources.text_of(read.out[1].span), "provider");
    }

    #[test]
    fn defaults_come_from_the_provider() {
        let read = read(
            "targets:\n- {name: a, provider: openai, model: m}\n\
             - {name: b, provider: claude-cli}\n- {name: c, provider: openai, model: m, retries: 0}\n",
        );
        let targets = read.targets.unwrap();
        let of = |name| {
            let target = targets.get(name).unwrap();
            (target.retries(), target.files())
        };
        use FilesMode::{Inline, Paths};
        use Setting::Given;
        assert_eq!(of("a"), (Given(2), Given(Inline)));
        assert_eq!(of("b"), (Given(0), Given(Paths)));
        assert_eq!(of("c"), (Given(0), Given(Inline)));
    }

    #[test]
    fn unset_variables_block_only_the_targets_that_use_them() {
        let read = read(
            "targets:\n- {name: a, provider: openai, model: \"${{ M }}\", timeout_seconds: \"${{ T }}\"}\n\
             - {name: b, provider: mock, response: x}\n",
        );
        assert_eq!(read.names(), Vec::<&str>::new());
        let targets = read.targets.unwrap();
        let set = |name: &str| (name == "M").then(|| "gpt".to_owned());
        let found = targets.get("a").unwrap().unset_variables(&set);
        let messages: Vec<_> = found.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(messages, ["variable `T`, used by `timeout_seconds`, is not set"]);
        assert_eq!(found[0].level, Level::BlocksRun);
        assert_eq!(read.sources.text_of(found[0].span), "${{ T }}");
        assert!(targets.get("b").unwrap().unset_variables(&set).is_empty());
    }
}
