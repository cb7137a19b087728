//! Plan in, record out. So far: what a suite runs against, read from a targets file.

pub mod disk;
pub mod target;

use evalrig_core::diagnostic::Code;

/// Every code of this crate, gathered from the files that declare them.
pub fn codes() -> impl Iterator<Item = &'static Code> {
    target::CODES.iter().flat_map(|codes| codes.iter().copied())
}
