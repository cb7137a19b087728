//! Arbitrary bytes as a YAML suite.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| xtask::inputs::read("yaml", bytes));
