//! Arbitrary bytes as a results file, with every report of its rows.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| xtask::inputs::read("rows", bytes));
