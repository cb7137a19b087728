//! Arbitrary bytes as the output of an agent, in every format.
#![no_main]

use evalrig_run::runlog::{SessionFormat, read_session};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for format in SessionFormat::ALL {
        if let Ok(session) = read_session(bytes, *format) {
            let run = session.with_question("Hi").into_run();
            assert!(!run.asked.is_empty());
        }
    }
    let _ = SessionFormat::guess(bytes);
});
