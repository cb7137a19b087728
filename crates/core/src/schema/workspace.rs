//! Workspaces, their hooks and repositories.

use crate::model::Value;
use crate::read::{WORKSPACE_FIELDS, WORKSPACE_HOOK_FIELDS, WORKSPACE_REPO_FIELDS};
use crate::syntax::fields::{Field, Shape};

use super::keyword::any_of;
use super::object::ObjectSchema;
use super::shape::SchemaBuilder;

pub(super) fn definitions(writer: SchemaBuilder) -> Vec<(String, Value)> {
    let object = |fields: &'static [Field], title: &str, description: &str| {
        let object = ObjectSchema::new(writer, &[fields]);
        object.title(title).description(description).finish()
    };
    let workspace = object(WORKSPACE_FIELDS, "Workspace", "the directory that a case works in");
    let hook = object(WORKSPACE_HOOK_FIELDS, "Hook", "a command that prepares a workspace");
    let repo = object(WORKSPACE_REPO_FIELDS, "Repository", "a repository inside a workspace");
    let (path, command) = (Shape::NonEmptyText, Shape::NonEmptyList(&Shape::Text));
    let hooks = vec![writer.shape(&path), writer.shape(&command), hook];
    [
        ("workspace", any_of(vec![workspace, writer.shape(&path)])),
        ("workspace-hook", any_of(hooks)),
        ("workspace-repo", repo),
    ]
    .map(|(name, schema)| (name.to_owned(), schema))
    .into()
}
