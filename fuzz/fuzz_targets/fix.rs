//! Arbitrary bytes as YAML, with every fix made alone.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| xtask::inputs::read("fix", bytes));
