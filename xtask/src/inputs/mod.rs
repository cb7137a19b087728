//! Arbitrary bytes for the readers of evalrig. The fuzz targets, the replay of their seeds and
//! `cargo xtask mutate-inputs` all use this list. A reader returns, whatever it is given; what must
//! hold besides is asserted in it.

pub mod campaign;
mod foreign;
mod mutation;
mod protocol;
mod settings;
mod stored;
mod streams;
mod suite;

use std::fs;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};

pub use mutation::Mutator;

/// A reader, and the name of its fuzz target and of the directory with its seeds.
#[derive(Debug)]
pub struct InputReader {
    pub name: &'static str,
    pub read: fn(&[u8]),
    /// Arguments for the binary that read a file, whose path follows; empty if none does.
    pub arguments: &'static [&'static str],
    /// The name of that file.
    pub file: &'static str,
}

/// Readers of files and messages that untrusted authors may have written. Not among them: stored answers of
/// `run --cache`, states of rate limits, folders of skill-creator, and calls of tools of `mcp`.
pub static READERS: &[InputReader] = &[
    reader("yaml", suite::yaml, &["validate"], "EVAL.yaml"),
    reader("jsonl", suite::jsonl, &["list"], "d.jsonl"),
    reader("evals_json", suite::evals_json, &["convert", "--stdout"], "evals.json"),
    reader("foreign", foreign::every_format, &["convert", "--stdout"], "promptfooconfig.yaml"),
    reader("export", suite::export, &["show"], "EVAL.yaml"),
    reader("fix", suite::fix, &["validate", "--fix", "--diff"], "EVAL.yaml"),
    reader("env", suite::env, &[], ""),
    reader("targets", stored::targets, &["validate"], "targets.yaml"),
    reader("rows", stored::rows, &["report"], "r.jsonl"),
    reader("journal", stored::journal, &[], ""),
    reader("labels", stored::labels, &[], ""),
    reader("runlog", stored::runlog, &["convert", "--stdout"], ".co/evals/a.yaml"),
    reader("session", stored::session, &[], ""),
    reader("stream", streams::stream, &[], ""),
    reader("acp", streams::acp, &[], ""),
    reader("reply", stored::reply, &[], ""),
    reader("lsp", protocol::lsp, &[], ""),
    reader("bundle", protocol::bundle, &[], ""),
    reader("config", settings::config, &[], ""),
    reader("skill", settings::skill, &[], ""),
    reader("task", foreign::task, &["convert", "--stdout"], "task.toml"),
];

const fn reader(
    name: &'static str,
    read: fn(&[u8]),
    arguments: &'static [&'static str],
    file: &'static str,
) -> InputReader {
    InputReader { name, read, arguments, file }
}

/// Those who read what agents print.
pub const STREAM_READERS: &[&str] = &["stream", "acp", "session"];

pub fn reader_named(name: &str) -> Option<&'static InputReader> {
    READERS.iter().find(|reader| reader.name == name)
}

/// Gives bytes to one reader. For the fuzz targets.
pub fn read(name: &str, bytes: &[u8]) {
    let found = reader_named(name);
    (found.unwrap_or_else(|| panic!("no reader is named `{name}`")).read)(bytes);
}

/// The seeds of a reader, by path.
pub fn seeds(workspace: &Utf8Path, reader: &str) -> io::Result<Vec<(Utf8PathBuf, Vec<u8>)>> {
    let mut found = Vec::new();
    for entry in workspace.join("fuzz/seeds").join(reader).read_dir_utf8()? {
        let path = entry?.into_path();
        let bytes = fs::read(&path)?;
        found.push((path, bytes));
    }
    found.sort();
    Ok(found)
}
