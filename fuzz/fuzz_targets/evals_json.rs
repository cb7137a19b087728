//! Arbitrary bytes as an `evals.json`, and the suite that it is converted to.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| xtask::inputs::read("evals_json", bytes));
