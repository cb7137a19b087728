//! Arbitrary bytes as a YAML suite that is shown and transpiled.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| xtask::inputs::read("export", bytes));
