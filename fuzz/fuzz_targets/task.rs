//! Arbitrary bytes as the file of a task of Harbor or Terminal-Bench.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| xtask::inputs::read("task", bytes));
