//! Checks the architecture of the crate against its sources: the arrows between rooms, names, and
//! sizes. `house` reads the sources and has the rules.

use std::path::Path;

use house::rules::CrateRules;
use house::{Sources, rules};

fn sources() -> Sources {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    Sources::read(&src).expect("the sources")
}

#[test]
fn the_rules_of_every_crate_are_kept() {
    let own = CrateRules::default();
    rules::assert_none(&rules::check_crate(&sources(), &own));
}

/// What is written, where and for whom is decided in one place (spec 16.8).
#[test]
fn only_the_room_disk_changes_files() {
    rules::assert_none(&rules::file_changes_outside(&sources(), None));
}

/// Files are opened with a limit, and never a device or a FIFO by mistake.
#[test]
fn only_the_room_disk_opens_files() {
    const ALLOWED: &[(&str, &str)] = &[("panic.rs", "only in debug builds, for a test")];
    rules::assert_none(&rules::file_reads_outside(&sources(), None, ALLOWED));
}
