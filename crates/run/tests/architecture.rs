//! Checks the architecture of the crate against its sources: the arrows between rooms, names, and
//! sizes. `house` reads the sources and has the rules.

use std::path::Path;

use house::rules::CrateRules;
use house::{Sources, rules};

/// Rooms that may use only these rooms.
const PROMISES: &[(&str, &[&str])] = &[
    ("text", &[]),
    ("clock", &[]),
    ("lock", &[]),
    ("disk", &["lock"]),
    ("setting", &[]),
    // Reports need only the results, so any stored run can be shown again.
    ("report", &["results", "text"]),
];

fn sources() -> Sources {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    Sources::read(&src).expect("the sources")
}

#[test]
fn the_rules_of_every_crate_are_kept() {
    let own = CrateRules { promises: PROMISES, ..CrateRules::default() };
    rules::assert_none(&rules::check_crate(&sources(), &own));
}

/// What is written, where and for whom is decided in one place (spec 16.8).
#[test]
fn only_the_room_disk_changes_files() {
    rules::assert_none(&rules::file_changes_outside(&sources(), Some("disk")));
}

/// Files are opened with a limit, and never a device or a FIFO by mistake.
#[test]
fn only_the_room_disk_opens_files() {
    const PROC: &str = "/proc and /dev/fd";
    const NAMES: &str = "names in a directory of our own";
    const ALLOWED: &[(&str, &str)] = &[
        ("agent/group.rs", PROC),
        ("agent/orphan.rs", PROC),
        ("agent/program_mark.rs", PROC),
        ("agent/watchdog.rs", PROC),
        ("descriptor.rs", PROC),
        ("sandbox/container.rs", PROC),
        ("session/signals.rs", PROC),
        ("queue/bundle_cache.rs", NAMES),
        ("results/results_paths.rs", NAMES),
        ("results/stored_runs.rs", NAMES),
        ("runlog/store.rs", NAMES),
        ("session/scratch.rs", NAMES),
        ("sandbox/bwrap.rs", "links of the system, which are laid out again"),
        ("sandbox/private_entries.rs", "names and permissions below the system's directories"),
    ];
    rules::assert_none(&rules::file_reads_outside(&sources(), Some("disk"), ALLOWED));
}
