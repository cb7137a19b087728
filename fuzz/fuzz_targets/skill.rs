//! Arbitrary bytes as the `SKILL.md` of a skill.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| xtask::inputs::read("skill", bytes));
