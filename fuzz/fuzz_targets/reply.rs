//! Arbitrary bytes as what a judge or a script says: marks, or a reason why there are none.
#![no_main]

use evalrig_core::evidence::{ScriptEnd, read_score_reply, read_script};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let ends = [None, Some("exit status 1")];
    for failure in ends {
        let end = ScriptEnd {
            stdout: bytes,
            stderr: "",
            failure,
        };
        if let Err(fault) = read_script(end) {
            assert!(!fault.message.is_empty());
        }
    }
    if let Err(reason) = read_score_reply(&String::from_utf8_lossy(bytes)) {
        assert!(!reason.is_empty());
    }
});
