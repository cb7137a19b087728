//! Generated files are committed, and no change may leave them behind.

use xtask::generate::{self, Evalrig};

#[test]
fn generated_files_are_fresh() {
    let evalrig = Evalrig::Built(env!("CARGO_BIN_EXE_evalrig").into());
    let files = generate::all(&evalrig).expect("everything can be generated");
    let stale = generate::stale(xtask::workspace(), &files);
    assert!(stale.is_empty(), "{}", generate::complaint(&stale));
}
