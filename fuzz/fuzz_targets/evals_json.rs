//! Arbitrary bytes as an `evals.json`.
#![no_main]

use evalrig_fuzz::{check, repository};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let path = "/p/skill/evals/evals.json";
    let files = repository()
        .with("/p/skill/SKILL.md", "---\nname: skill\n---\n")
        .with("/p/skill/evals/files/a.txt", "a\n")
        .with(path, bytes);
    check(&files, path);
});
