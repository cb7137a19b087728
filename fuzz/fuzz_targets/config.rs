//! Arbitrary bytes as an `evalrig.toml`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| xtask::inputs::read("config", bytes));
