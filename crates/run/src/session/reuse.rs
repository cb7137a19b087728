//! Rows of arms that an earlier run had (`--reuse-arm`, spec 19.3).

use std::collections::HashMap;
use std::sync::Arc;

use evalrig_core::model::Outcome;
use evalrig_core::secrets::Secrets;

use crate::results::{CaseKey, Row, Rows};

use super::error::SessionError;
use super::find_results::find_results;
use super::spec::LoadOptions;

/// Rows with a verdict whose setup is known. Whether it is still the same is asked case by case.
pub(super) fn read_reusable(
    loading: &LoadOptions,
    argument: Option<&str>,
    secrets: &Arc<Secrets>,
) -> Result<HashMap<CaseKey, Row>, SessionError> {
    let Some(argument) = argument else {
        return Ok(HashMap::new());
    };
    let files = find_results(loading, argument)?;
    let mut found = HashMap::new();
    for row in Rows::open_all(&files)?.redacting(Arc::clone(secrets)) {
        let row = row?;
        let is_verdict =
            matches!(row.outcome, Outcome::Passed | Outcome::Borderline | Outcome::Failed);
        if is_verdict && row.setup.is_some() {
            found.insert(row.key(), row);
        }
    }
    if found.is_empty() {
        let reason = format!("`{argument}` has no row of an arm that can be used again");
        return Err(SessionError::argument("--reuse-arm", reason));
    }
    Ok(found)
}
