//! Plan in, record out: what a suite runs against, running it, keeping what came of it, and showing
//! that.

pub mod agent;
pub mod disk;
pub mod event;
pub mod execute;
pub mod grade;
pub mod json;
pub mod prepare;
pub mod record;
pub mod report;
pub mod runlog;
pub mod target;

use evalrig_core::diagnostic::Code;

/// Every code of this crate, gathered from the files that declare them.
pub fn codes() -> impl Iterator<Item = &'static Code> {
    let rooms = target::CODES
        .iter()
        .chain(prepare::CODES)
        .chain(runlog::CODES);
    rooms.flat_map(|codes| codes.iter().copied())
}
