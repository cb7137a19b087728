//! Arbitrary bytes as files of the run log.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| xtask::inputs::read("runlog", bytes));
