//! Arbitrary bytes as a `.env` file.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| xtask::inputs::read("env", bytes));
