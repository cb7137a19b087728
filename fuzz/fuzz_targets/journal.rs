//! Arbitrary bytes as a journal beside a results file.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| xtask::inputs::read("journal", bytes));
