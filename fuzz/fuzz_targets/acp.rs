//! Arbitrary bytes as the messages of an agent that speaks the Agent Client Protocol.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| xtask::inputs::read("acp", bytes));
