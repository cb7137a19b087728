//! What an agent did to its workspace, as JSON: the `workspace` of rows and journals (spec 17.3).

use evalrig_core::model::FileChanges;
use serde::{Deserialize, Serialize};

/// Paths are relative to the workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkspaceChanges {
    pub created: Vec<String>,
    pub modified: Vec<String>,
    pub deleted: Vec<String>,
    /// Unified diff of the text files.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub diff: String,
    #[serde(skip_serializing_if = "is_false")]
    pub diff_truncated: bool,
    /// Where the workspace is, if it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

impl From<&FileChanges> for WorkspaceChanges {
    fn from(changes: &FileChanges) -> Self {
        Self {
            created: changes.created.clone(),
            modified: changes.modified.clone(),
            deleted: changes.deleted.clone(),
            diff: changes.diff.clone(),
            diff_truncated: changes.is_diff_truncated,
            path: changes.path.clone(),
        }
    }
}

impl From<WorkspaceChanges> for FileChanges {
    fn from(stored: WorkspaceChanges) -> Self {
        Self {
            created: stored.created,
            modified: stored.modified,
            deleted: stored.deleted,
            diff: stored.diff,
            is_diff_truncated: stored.diff_truncated,
            path: stored.path,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_come_back_as_they_were() {
        let changes = FileChanges {
            created: vec!["a".to_owned()],
            deleted: vec!["b/c".to_owned()],
            diff: "--- a\n".to_owned(),
            is_diff_truncated: true,
            path: Some("/tmp/w".to_owned()),
            ..FileChanges::default()
        };
        let text = serde_json::to_string(&WorkspaceChanges::from(&changes)).unwrap();
        let read: WorkspaceChanges = serde_json::from_str(&text).unwrap();
        assert_eq!(FileChanges::from(read), changes);
        let none = serde_json::to_string(&WorkspaceChanges::default()).unwrap();
        assert_eq!(none, r#"{"created":[],"modified":[],"deleted":[]}"#);
    }
}
