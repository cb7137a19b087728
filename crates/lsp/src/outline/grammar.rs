//! Which table of fields a mapping is read by, and which shape its values have. Everything comes from
//! the tables of the readers; this file only knows how they refer to each other.

use evalrig_core::assertion::{
    AssertionKind, COMMON_FIELDS, ITEM_FIELDS, custom_fields, kind_named,
};
use evalrig_core::read::{
    BLOCK_FIELDS, EXECUTION_FIELDS, MESSAGE_FIELDS, METADATA_FIELDS, ROOT_FIELDS, TEST_FIELDS,
    TOOL_CALL_FIELDS, WORKSPACE_FIELDS, WORKSPACE_HOOK_FIELDS, WORKSPACE_REPO_FIELDS,
};
use evalrig_core::schema::{EVALS_JSON_ENTRY, EVALS_JSON_LISTS, EVALS_JSON_ROOT};
use evalrig_core::syntax::Node;
use evalrig_core::syntax::fields::{Field, Shape};
use evalrig_run::provider::{Provider, provider_named};
use evalrig_run::setting::TARGET_FIELDS;
use evalrig_run::target::ROOT;

/// Keys whose value is the name of a target.
pub(crate) const TARGET_KEYS: &[&str] = &["target", "judge_target", "use_target"];

/// What a mapping is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MappingKind {
    Suite,
    Test,
    /// Of this type; `None` for a type of the author's own, or none yet.
    Assertion(Option<&'static AssertionKind>),
    TargetsFile,
    Target(Option<&'static Provider>),
    /// `evals.json`.
    Evals,
    Eval,
    Metadata,
    /// Anything else with fields.
    Part,
    /// Keys are free.
    Free,
}

/// The fields of one mapping.
#[derive(Debug, Clone)]
pub(crate) struct MappingTables {
    pub(crate) kind: MappingKind,
    pub(crate) tables: Vec<&'static [Field]>,
    /// What values of other keys look like.
    rest: Shape,
}

impl MappingTables {
    fn new(kind: MappingKind, tables: &[&'static [Field]]) -> Self {
        Self { kind, tables: tables.to_vec(), rest: Shape::Any }
    }

    fn free(rest: Shape) -> Self {
        Self { kind: MappingKind::Free, tables: Vec::new(), rest }
    }

    /// The field of a key, whichever of its spellings that is.
    pub(crate) fn field(&self, key: &str) -> Option<&'static Field> {
        let fields = || self.tables.iter().flat_map(|table| table.iter());
        let spelled = |field: &&Field| field.old.contains(&key) || field.also.contains(&key);
        fields().find(|field| field.name == key).or_else(|| fields().find(spelled))
    }

    pub(super) fn value_shape(&self, key: &str) -> Shape {
        if matches!(self.kind, MappingKind::Evals) && EVALS_JSON_LISTS.contains(&key) {
            return Shape::List(&Shape::Ref("eval"));
        }
        self.field(key).map_or(self.rest, |field| field.shape)
    }
}

/// The tables of a mapping that has this shape.
pub(super) fn tables_of(shape: Shape, node: Node<'_>) -> MappingTables {
    match shape {
        Shape::Fields(table) => MappingTables::new(MappingKind::Part, &[table]),
        Shape::MapOf(values) => MappingTables::free(*values),
        Shape::OneOf(shapes) => {
            let found = shapes.iter().map(|shape| tables_of(*shape, node));
            found
                .into_iter()
                .find(|found| !found.tables.is_empty() || found.rest != Shape::Any)
                .unwrap_or_else(|| MappingTables::free(Shape::Any))
        }
        Shape::Ref(name) => tables_of_definition(name, node),
        _ => MappingTables::free(Shape::Any),
    }
}

fn tables_of_definition(name: &str, node: Node<'_>) -> MappingTables {
    let new = MappingTables::new;
    match name {
        "suite" | "test-list" => new(MappingKind::Suite, &[ROOT_FIELDS]),
        "tests" | "test" => new(MappingKind::Test, &[TEST_FIELDS]),
        "metadata" => new(MappingKind::Metadata, &[METADATA_FIELDS]),
        "execution" => new(MappingKind::Part, &[EXECUTION_FIELDS]),
        "assertion" => tables_of_assertion(node),
        "input" | "expected-output" | "message" => new(MappingKind::Part, &[MESSAGE_FIELDS]),
        "content" | "block" => new(MappingKind::Part, &[BLOCK_FIELDS]),
        "tool-call" => new(MappingKind::Part, &[TOOL_CALL_FIELDS]),
        "workspace" => new(MappingKind::Part, &[WORKSPACE_FIELDS]),
        "workspace-hook" => new(MappingKind::Part, &[WORKSPACE_HOOK_FIELDS]),
        "workspace-repo" => new(MappingKind::Part, &[WORKSPACE_REPO_FIELDS]),
        "rubric-item" => new(MappingKind::Part, &[ITEM_FIELDS]),
        "targets-file" => new(MappingKind::TargetsFile, &[ROOT]),
        "target" => {
            let written = node.get("provider").and_then(Node::scalar_text);
            let provider = written.and_then(provider_kind);
            let own = provider.map(|provider| provider.fields);
            let tables: Vec<&'static [Field]> = own.into_iter().chain([TARGET_FIELDS]).collect();
            new(MappingKind::Target(provider), &tables)
        }
        "evals-json" => new(MappingKind::Evals, &[EVALS_JSON_ROOT]),
        "eval" => new(MappingKind::Eval, &[EVALS_JSON_ENTRY]),
        _ => MappingTables::free(Shape::Any),
    }
}

fn tables_of_assertion(node: Node<'_>) -> MappingTables {
    let written = node.get("type").and_then(Node::scalar_text).unwrap_or_default();
    let kind = assertion_kind(written);
    let own = kind.map_or_else(custom_fields, |kind| kind.fields);
    MappingTables::new(MappingKind::Assertion(kind), &[own, COMMON_FIELDS])
}

/// The built-in type that a text names, `not-` in front or not.
pub(crate) fn assertion_kind(written: &str) -> Option<&'static AssertionKind> {
    let positive = written.strip_prefix("not-").or_else(|| written.strip_prefix("not_"));
    kind_named(written).or_else(|| kind_named(positive?))
}

/// The shape of the items of a sequence that has this shape.
pub(super) fn item_of(shape: Shape) -> Shape {
    match shape {
        Shape::List(item) | Shape::NonEmptyList(item) => *item,
        Shape::OneOf(shapes) => {
            let found = shapes.iter().map(|shape| item_of(*shape));
            found.into_iter().find(|item| *item != Shape::Any).unwrap_or(Shape::Any)
        }
        Shape::Ref("tests" | "test-list") => Shape::Ref("test"),
        Shape::Ref("assertion-list" | "assertion-members") => Shape::Ref("assertion"),
        Shape::Ref("input" | "expected-output") => Shape::Ref("message"),
        Shape::Ref("content") => Shape::Ref("block"),
        Shape::Ref("rubric-items" | "rubric-checks") => Shape::Ref("rubric-item"),
        Shape::Ref("evals-json") => Shape::Ref("eval"),
        _ => Shape::Any,
    }
}

/// The provider that a text names.
pub(crate) fn provider_kind(written: &str) -> Option<&'static Provider> {
    provider_named(written)
}
