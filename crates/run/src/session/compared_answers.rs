//! Reads the answers of compared tests from the results files of both runs.

use camino::Utf8PathBuf;

use super::error::SessionError;
use crate::report::comparison::{AnswerPair, AnswerPairs};
use crate::results::Rows;

/// A second pass over the files: only now it is known which tests are of interest, and there can be
/// more answers than memory.
pub fn read_answers(
    base: &[Utf8PathBuf],
    candidate: &[Utf8PathBuf],
    mut pairs: AnswerPairs,
) -> Result<Vec<AnswerPair>, SessionError> {
    for row in Rows::open_all(base)? {
        pairs.add_base(&row?);
    }
    for row in Rows::open_all(candidate)? {
        pairs.add_candidate(&row?);
    }
    Ok(pairs.finish())
}
