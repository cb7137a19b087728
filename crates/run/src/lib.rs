//! Plan in, record out: what a suite runs against, running it, keeping what came of it, and showing
//! that.

pub mod agent;
mod clock;
pub mod disk;
pub mod event;
pub mod execute;
pub mod format;
pub mod grade;
pub mod json;
pub mod prepare;
pub mod provider;
pub mod record;
pub mod report;
pub mod runlog;
pub mod setting;
pub mod target;
pub mod text;

use evalrig_core::diagnostic::Code;

/// Every code of this crate, gathered from the files that declare them.
pub fn codes() -> impl Iterator<Item = &'static Code> {
    let rooms = setting::CODES
        .iter()
        .chain(target::CODES)
        .chain(prepare::CODES)
        .chain(runlog::CODES);
    rooms.flat_map(|codes| codes.iter().copied())
}
