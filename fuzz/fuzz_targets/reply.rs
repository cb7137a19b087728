//! Arbitrary bytes as what a judge or a script says.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| xtask::inputs::read("reply", bytes));
