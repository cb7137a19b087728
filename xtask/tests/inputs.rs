//! No reader panics on the seeds of the fuzz targets, nor on a few thousand changes of them.

use camino::Utf8PathBuf;
use xtask::inputs::campaign::{self, Plan};
use xtask::inputs::{READERS, STREAM_READERS, reader_named, seeds};
use xtask::workspace;

#[test]
fn every_seed_can_be_read() {
    for reader in READERS {
        let seeds = seeds(workspace(), reader.name).expect("the seeds of a reader");
        assert!(seeds.len() > 2, "`{}` has too few seeds", reader.name);
        for (_, bytes) in seeds {
            (reader.read)(&bytes);
        }
    }
}

#[test]
fn every_reader_has_a_fuzz_target() {
    let manifest = std::fs::read_to_string(workspace().join("fuzz/Cargo.toml")).expect("a file");
    for reader in READERS {
        let target = workspace().join(format!("fuzz/fuzz_targets/{}.rs", reader.name));
        assert!(target.is_file(), "{target} is missing");
        assert!(manifest.contains(&format!("name = \"{}\"", reader.name)), "{}", reader.name);
    }
}

/// The others have no file and no message that a command reads.
#[test]
fn readers_of_files_have_arguments_for_the_binary() {
    let without = READERS.iter().filter(|reader| reader.arguments.is_empty());
    let names: Vec<_> = without.map(|reader| reader.name).collect();
    assert_eq!(names, ["stream", "acp", "reply", "bundle"]);
}

#[test]
fn mutated_inputs_neither_panic_nor_take_long_or_much() {
    let directory = tempfile::tempdir().expect("a directory");
    let kept = Utf8PathBuf::from_path_buf(directory.path().join("kept")).expect("UTF-8");
    let readers = READERS.iter().collect();
    let plan = Plan { inputs: 3_000, seed: 12, readers, binary: None, kept };
    let outcome = campaign::run(workspace(), &plan, &mut |_| {}).expect("the seeds");
    assert!(outcome.findings.is_empty(), "{:?}", outcome.findings);
    assert_eq!(outcome.inputs, 3_000);
}

#[test]
fn mutated_streams_do_not_panic_and_are_no_answer_where_they_are_cut() {
    let directory = tempfile::tempdir().expect("a directory");
    let kept = Utf8PathBuf::from_path_buf(directory.path().join("kept")).expect("UTF-8");
    let readers = STREAM_READERS.iter().filter_map(|name| reader_named(name)).collect();
    let plan = Plan { inputs: 1_500, seed: 7, readers, binary: None, kept };
    let outcome = campaign::run(workspace(), &plan, &mut |_| {}).expect("the seeds");
    assert!(outcome.findings.is_empty(), "{:?}", outcome.findings);
}
