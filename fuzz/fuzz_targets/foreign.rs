//! Arbitrary bytes as a file of another tool, in every format that `convert` reads.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| xtask::inputs::read("foreign", bytes));
