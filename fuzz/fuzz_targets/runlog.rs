//! Arbitrary bytes as files of the run log: what can be read can be written, and what was written says
//! the same whenever it is read again.
#![no_main]

use evalrig_run::runlog::{RecordSummary, RunFile};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(summary) = RecordSummary::read(bytes.to_vec()) {
        let written = summary.to_yaml();
        let again = RecordSummary::read(written.clone().into_bytes()).expect("it was written");
        assert_eq!(again.to_yaml(), written);
        assert!(again.inputs().eq(summary.inputs()));
    }
    if let Ok(run) = RunFile::read(bytes.to_vec()) {
        let written = RunFile::read(run.to_text().into_bytes()).expect("it was written");
        let again = RunFile::read(written.to_text().into_bytes()).expect("it was written");
        assert_eq!(again.messages, written.messages);
    }
});
