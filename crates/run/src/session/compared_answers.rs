//! Reads the answers of compared tests from the results files of both runs.

use std::sync::Arc;

use camino::Utf8PathBuf;

use super::error::SessionError;
use super::known_secrets::known_secrets;
use super::spec::LoadOptions;
use crate::report::comparison::{AnswerPair, AnswerPairs};
use crate::results::Rows;

/// A second pass over the files: only now it is known which tests are of interest, and there can be
/// more answers than memory.
pub fn read_answers(
    loading: &LoadOptions,
    base: &[Utf8PathBuf],
    candidate: &[Utf8PathBuf],
    mut pairs: AnswerPairs,
) -> Result<Vec<AnswerPair>, SessionError> {
    let secrets = Arc::new(known_secrets(loading, &loading.working_directory));
    for row in Rows::open_all(base)?.redacting(Arc::clone(&secrets)) {
        pairs.add_base(&row?);
    }
    for row in Rows::open_all(candidate)?.redacting(secrets) {
        pairs.add_candidate(&row?);
    }
    Ok(pairs.finish())
}
