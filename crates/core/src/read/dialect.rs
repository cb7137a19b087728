//! Files of other tools that look like suites (spec 2.4).

use crate::diagnostic::{Diagnostic, Level, declare_codes};
use crate::source::Span;
use crate::syntax::Node;

use super::load::Origin;
use super::suite::tests_entry;

declare_codes! {
    FOREIGN_DIALECT = "foreign-dialect", Blocking, Shape, r#"The file belongs to another tool. A file found by walking a directory is skipped with a warning.

## Example
```yaml
prompts: ["Translate: {{text}}"]
providers: ["openai:gpt-4o"]
tests:
  - vars: {text: Hello}
    assert:
      - {type: contains, value: Bonjour}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Translates into French
    input: "Translate: Hello"
    assert:
      - {type: contains, value: Bonjour}
```

## Why
`eval.yaml` is a popular name. Reading half of another tool's file would run tests that its author
never wrote.
"#;
}

struct ForeignDialect {
    tool: &'static str,
    help: DialectHelp,
    /// The keys that identify it.
    detect: fn(&RootView<'_>) -> Option<Vec<&'static str>>,
}

/// What to do with a file of another tool.
#[derive(Clone, Copy)]
enum DialectHelp {
    Say(&'static str),
    /// The format of `convert` that reads it.
    Convert(&'static str),
}

impl DialectHelp {
    /// `file` is the file as a user would type it.
    fn text(self, file: &str) -> String {
        match self {
            Self::Say(text) => text.to_owned(),
            Self::Convert(format) => {
                format!("convert it with `evalrig convert {file} --from {format} -o EVAL.yaml`")
            }
        }
    }
}

const NO_CONVERSION: DialectHelp = DialectHelp::Say("evalrig cannot convert it");

struct RootView<'t> {
    node: Node<'t>,
}

impl<'t> RootView<'t> {
    fn has(&self, key: &str) -> bool {
        self.node.get(key).is_some()
    }

    fn list(&self, key: &str) -> Option<Node<'t>> {
        self.node.get(key).filter(|value| value.is_sequence())
    }

    /// The first of these keys that an item of the list has.
    fn item_key(&self, list: &str, keys: &[&'static str]) -> Option<&'static str> {
        self.list(list)?
            .items()
            .filter(|item| item.is_mapping())
            .find_map(|item| keys.iter().copied().find(|key| item.get(key).is_some()))
    }

    /// The text of a scalar.
    fn text(&self, key: &str) -> Option<&'t str> {
        self.node.get(key)?.scalar_text()
    }

    fn first_of(&self, keys: &[&'static str]) -> Option<&'static str> {
        keys.iter().copied().find(|key| self.has(key))
    }

    fn inline_tests(&self) -> impl Iterator<Item = Node<'t>> {
        self.list("tests").into_iter().flat_map(Node::items).filter(|item| item.is_mapping())
    }

    fn some_test_has(&self, keys: &[&str]) -> bool {
        self.inline_tests().any(|test| keys.iter().any(|key| test.get(key).is_some()))
    }
}

const EVALS_JSON: &str = "an evals.json file";

static DIALECTS: &[ForeignDialect] = &[
    ForeignDialect {
        tool: "a `.co/evals` record",
        help: DialectHelp::Say("`evalrig convert` makes a suite from it"),
        detect: |root| (root.list("turns").is_some() && !root.has("tests")).then(|| vec!["turns"]),
    },
    ForeignDialect {
        tool: EVALS_JSON,
        help: DialectHelp::Say("name it `*.json` to read it, or `evalrig convert` it"),
        detect: |root| {
            (root.list("evals").is_some() && root.has("skill_name"))
                .then(|| vec!["evals", "skill_name"])
        },
    },
    ForeignDialect {
        tool: "an agentv 5 file",
        help: DialectHelp::Say("rewrite `vars.input` as `input`"),
        detect: |root| {
            if root.some_test_has(&["input", "input_messages"]) {
                return None;
            }
            let key = root.first_of(&["prompts", "providers", "default_test"])?;
            let camel = root.has("defaultTest") || root.has("evaluateOptions");
            (root.some_test_has(&["id"]) && !camel).then(|| vec![key])
        },
    },
    ForeignDialect {
        tool: "a promptfoo file",
        help: DialectHelp::Convert("promptfoo"),
        detect: |root| {
            if root.some_test_has(&["input", "input_messages"]) {
                return None;
            }
            let keys = ["prompts", "providers", "default_test", "defaultTest", "evaluateOptions"];
            root.first_of(&keys).map(|key| vec![key])
        },
    },
    ForeignDialect {
        tool: "an inspect file (Hugging Face)",
        help: NO_CONVERSION,
        detect: |root| {
            root.item_key("tasks", &["field_spec", "solvers", "scorers"])
                .map(|key| vec!["tasks", key])
        },
    },
    ForeignDialect {
        tool: "a skillgrade file",
        help: NO_CONVERSION,
        detect: |root| root.item_key("tasks", &["instruction"]).map(|key| vec!["tasks", key]),
    },
    ForeignDialect {
        tool: "a waza file",
        help: DialectHelp::Convert("waza"),
        detect: |root| {
            root.list("tasks")?;
            let key = root.first_of(&["executor", "config", "metrics", "graders", "skill"])?;
            Some(vec!["tasks", key])
        },
    },
    ForeignDialect {
        tool: "a Vally file",
        help: DialectHelp::Convert("vally"),
        detect: |root| {
            let fits = root.list("stimuli").is_some() && !root.has("tests");
            fits.then(|| vec!["stimuli"])
        },
    },
    ForeignDialect {
        tool: "a skill-validator file",
        help: NO_CONVERSION,
        detect: |root| {
            let fits = root.list("scenarios").is_some() && !root.has("tests");
            fits.then(|| vec!["scenarios"])
        },
    },
    ForeignDialect {
        tool: "a file of mcpchecker",
        help: NO_CONVERSION,
        detect: |root| {
            let kind = root.text("kind");
            (kind == Some("Eval") && !root.has("tests")).then(|| vec!["kind"])
        },
    },
    ForeignDialect {
        tool: "a file of skill-up",
        help: NO_CONVERSION,
        detect: |root| {
            let version = root.text("schema_version");
            let fits = version.is_some_and(|version| version.starts_with("v1alpha"));
            (fits && root.has("engine")).then(|| vec!["schema_version", "engine"])
        },
    },
    ForeignDialect {
        tool: "a file of skival",
        help: NO_CONVERSION,
        detect: |root| {
            root.item_key("evals", &["variants", "verify", "file"]).map(|key| vec!["evals", key])
        },
    },
    ForeignDialect {
        tool: "a file of assay",
        help: NO_CONVERSION,
        detect: |root| {
            let fits = root.has("suite") && root.has("model") && root.some_test_has(&["expected"]);
            fits.then(|| vec!["suite", "model"])
        },
    },
    ForeignDialect {
        tool: "an agentv file (before 0.19)",
        help: DialectHelp::Say("rename `testcases` to `tests` by hand and check each field"),
        detect: |root| root.has("testcases").then(|| vec!["testcases"]),
    },
    ForeignDialect {
        tool: "a case of `claude plugin eval`",
        help: DialectHelp::Say("name the directory of the cases, which is read as one suite"),
        detect: |root| {
            let key = root.first_of(&["graders", "execution"])?;
            let fits = root.has("schema_version") && !root.has("tests");
            fits.then(|| vec!["schema_version", key])
        },
    },
];

/// What the root of a YAML file is, for readers of other tools' files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DialectVerdict {
    /// It has tests of a suite, or targets.
    Suite,
    /// It belongs to a tool whose files `convert` reads in this format.
    Convertible(&'static str),
    /// It belongs to another tool.
    Other,
    /// Nothing says what it is.
    Unknown,
}

pub(crate) fn dialect_of(root: Node<'_>) -> DialectVerdict {
    let view = RootView { node: root };
    let found = DIALECTS.iter().find(|dialect| (dialect.detect)(&view).is_some());
    match found.map(|dialect| dialect.help) {
        Some(DialectHelp::Convert(format)) => DialectVerdict::Convertible(format),
        Some(DialectHelp::Say(_)) => DialectVerdict::Other,
        None if tests_entry(root).is_some() || view.has("targets") => DialectVerdict::Suite,
        None if root.is_sequence() && root.items().any(|item| item.get("criteria").is_some()) => {
            DialectVerdict::Suite
        }
        None => DialectVerdict::Unknown,
    }
}

/// One diagnostic if the root mapping is another tool's. `file` is the file as a user would type it.
pub(super) fn foreign(root: Node<'_>, origin: Origin, file: &str) -> Option<Diagnostic> {
    foreign_with(root, origin, |dialect| dialect.help.text(file))
}

/// As [`foreign`], of a file that a suite imports. An evals.json is read on its own only, whatever
/// it is called.
pub(super) fn foreign_import(root: Node<'_>, file: &str) -> Option<Diagnostic> {
    foreign_with(root, Origin::Named, |dialect| match dialect.tool {
        EVALS_JSON => "`evalrig convert` makes a suite from it, which can be imported".to_owned(),
        _ => dialect.help.text(file),
    })
}

fn foreign_with(
    root: Node<'_>,
    origin: Origin,
    help: impl Fn(&ForeignDialect) -> String,
) -> Option<Diagnostic> {
    let view = RootView { node: root };
    let (dialect, keys) =
        DIALECTS.iter().find_map(|dialect| (dialect.detect)(&view).map(|keys| (dialect, keys)))?;
    let place = root
        .written_entries()
        .find(|(key, _)| key.scalar_text() == keys.first().copied())
        .map_or(root.span(), |(key, _)| key.span());
    let (tool, help) = (dialect.tool, help(dialect));
    Some(foreign_file(place, tool, &keys, &help, origin))
}

/// As [`foreign_file`], of a file that was named.
pub(crate) fn foreign_file_named(place: Span, tool: &str, keys: &[&str], help: &str) -> Diagnostic {
    foreign_file(place, tool, keys, help, Origin::Named)
}

pub(super) fn foreign_file(
    place: Span,
    tool: &str,
    keys: &[&str],
    help: &str,
    origin: Origin,
) -> Diagnostic {
    let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    let (level, end) = match origin {
        Origin::Named => (Level::Blocking, ""),
        Origin::Found => (Level::Warning, "; skipped"),
    };
    let message = format!("this is {tool}: it has {}{end}", keys.join(" and "));
    Diagnostic::new(&FOREIGN_DIALECT, place, message).level(level).help(help)
}
