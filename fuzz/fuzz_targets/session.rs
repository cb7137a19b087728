//! Arbitrary bytes as a session for `log record`, in every format.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| xtask::inputs::read("session", bytes));
