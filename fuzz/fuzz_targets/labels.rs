//! Arbitrary bytes as the labels of a repository.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| xtask::inputs::read("labels", bytes));
