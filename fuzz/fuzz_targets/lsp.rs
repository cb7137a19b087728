//! Arbitrary bytes as messages to the language server.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| xtask::inputs::read("lsp", bytes));
