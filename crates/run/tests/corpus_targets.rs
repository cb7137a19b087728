//! Targets files of public repositories: none makes the reader panic, and the counts are printed
//! (`cargo test -p evalrig-run --test corpus_targets -- --nocapture`).
#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use camino::Utf8Path;
use evalrig_core::diagnostic::{Diagnostics, Severity};
use evalrig_core::reader::World;
use evalrig_core::source::{MemoryFiles, Reach, Sources, Variables};
use evalrig_run::target::read_targets;

fn corpus() -> PathBuf {
    match env::var_os("EVALRIG_CORPUS") {
        Some(directory) => directory.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"),
    }
}

fn targets_files(directory: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => targets_files(&path, found),
            Ok(_) if entry.file_name() == "targets.yaml" => found.push(path),
            _ => {}
        }
    }
}

#[test]
fn targets_files_of_public_repositories_are_read() {
    let directory = corpus();
    if !directory.is_dir() {
        println!("skipped: no corpus at {}", directory.display());
        return;
    }
    let mut paths = Vec::new();
    targets_files(&directory, &mut paths);
    paths.sort();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let (mut without_error, mut clean) = (0, 0);
    for path in &paths {
        let out = diagnostics_of(&fs::read(path).unwrap());
        without_error += usize::from(out.errors() == 0);
        clean += usize::from(out.is_empty());
        for found in out.iter() {
            let level = match found.level.severity() {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => "note",
            };
            *counts
                .entry(format!("{level}[{}] {}", found.code.name, found.message))
                .or_default() += 1;
        }
    }
    println!("{} files, {without_error} without error, {clean} clean", paths.len());
    for (line, count) in counts {
        println!("{count:5}  {line}");
    }
}

fn diagnostics_of(bytes: &[u8]) -> Diagnostics {
    let path = Utf8Path::new("/p/.agentv/targets.yaml");
    let files = MemoryFiles::new().with(path.as_str(), bytes);
    let environment = Variables::default();
    let world = World { files: &files, environment: &environment, working_directory: "/p".into() };
    let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
    read_targets(world, &mut sources, &mut out, path, "/p".into(), Reach::Anywhere);
    out
}
