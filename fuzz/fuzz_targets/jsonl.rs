//! Arbitrary bytes as a JSONL suite, alone and with a sidecar.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| xtask::inputs::read("jsonl", bytes));
