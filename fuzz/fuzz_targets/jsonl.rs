//! Arbitrary bytes as a JSONL suite, alone and with a sidecar.
#![no_main]

use evalrig_fuzz::{check, repository};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let alone = repository().with("/p/d.jsonl", bytes);
    check(&alone, "/p/d.jsonl");
    let sidecar = "name: d\nassert:\n  - {type: contains, value: x}\ninput: Be brief.\n";
    check(&alone.with("/p/d.yaml", sidecar), "/p/d.jsonl");
});
