//! Arbitrary bytes as a message from the server of a queue: manifests, chains, entries, signs, answers.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| xtask::inputs::read("bundle", bytes));
