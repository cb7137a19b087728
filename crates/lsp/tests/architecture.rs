//! Checks the architecture of the crate against its sources: the arrows between rooms, names, and
//! sizes. `house` reads the sources and has the rules.

use std::path::Path;

use house::{Sources, rules};

/// Rooms that may use only these rooms.
const PROMISES: &[(&str, &[&str])] =
    &[("text", &[]), ("transport", &[]), ("outline", &[]), ("project", &["outline", "text"])];

fn sources() -> Sources {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    Sources::read(&src).expect("the sources")
}

#[test]
fn rooms_form_no_cycle() {
    rules::assert_none(&rules::cycles(&sources(), &[]));
}

#[test]
fn rooms_keep_their_promises() {
    rules::assert_none(&rules::broken_promises(&sources(), PROMISES));
}

#[test]
fn type_names_are_unique() {
    rules::assert_none(&rules::repeated_types(&sources(), &[]));
}

#[test]
fn functions_are_short() {
    rules::assert_none(&rules::long_functions(&sources(), &[]));
}

#[test]
fn files_are_short() {
    rules::assert_none(&rules::long_files(&sources(), &[]));
}

#[test]
fn files_say_what_they_own() {
    rules::assert_none(&rules::files_without_head(&sources()));
    rules::assert_none(&rules::vague_files(&sources()));
}

#[test]
fn no_file_is_changed() {
    rules::assert_none(&rules::file_changes_outside(&sources(), None));
}

/// What is named in a file that is only opened must not run.
#[test]
fn no_program_is_started() {
    for file in sources().shipped() {
        assert!(!file.code().contains("process::Command"), "{}", file.path);
    }
}
