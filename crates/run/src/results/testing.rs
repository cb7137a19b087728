//! Rows for the tests of this folder.

use super::row::Row;

/// The example of spec 11.2 under another name.
pub(crate) fn row(test: &str, trial: u32) -> Row {
    let mut row: Row = serde_json::from_str(include_str!("example_row.json")).expect("the example");
    row.eval_id = test.to_owned();
    row.trial = trial;
    row
}
