//! Arbitrary bytes as the output of an agent, in every format.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| xtask::inputs::read("stream", bytes));
