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
    /// Arguments for the binary that read a file, which is also its standard input; empty if none does.
    pub arguments: &'static [&'static str],
    /// The path of that file.
    pub file: &'static str,
}

/// Files beside the one that is read.
pub const BESIDE: &[(&str, &str)] = &[
    (
        "beside.eval.yaml",
        "name: beside\ntests:\n  - {id: a, criteria: \"${{ KEY }}\", input: hi, assert: [{type: contains, value: hello}]}\n",
    ),
    (".evalrig/targets.yaml", "targets: [{name: default, provider: mock, response: hello}]\n"),
    ("j.jsonl", include_str!("../../../fuzz/seeds/rows/passed.jsonl")),
    ("skills/csv/evals/EVAL.yaml", "name: csv\ntests:\n  - {id: a, criteria: c, input: hi}\n"),
];

/// Readers of files and messages that untrusted authors may have written. Not among them: stored answers of
/// `run --cache`, states of rate limits, folders of skill-creator, and calls of tools of `mcp`.
pub static READERS: &[InputReader] = &[
    reader("yaml", suite::yaml, &["validate", "EVAL.yaml"], "EVAL.yaml"),
    reader("jsonl", suite::jsonl, &["list", "d.jsonl"], "d.jsonl"),
    reader("evals_json", suite::evals_json, &["convert", "evals.json", "--stdout"], "evals.json"),
    reader(
        "foreign",
        foreign::every_format,
        &["convert", "promptfooconfig.yaml", "--stdout"],
        "promptfooconfig.yaml",
    ),
    reader("export", suite::export, &["show", "EVAL.yaml"], "EVAL.yaml"),
    reader("fix", suite::fix, &["validate", "EVAL.yaml", "--fix", "--diff"], "EVAL.yaml"),
    reader("env", suite::env, &["validate", "beside.eval.yaml"], ".env"),
    reader("targets", stored::targets, &["validate", "targets.yaml"], "targets.yaml"),
    reader("rows", stored::rows, &["report", "r.jsonl"], "r.jsonl"),
    reader(
        "journal",
        stored::journal,
        &["run", "beside.eval.yaml", "--resume=j.jsonl", "--no-record", "--quiet"],
        "j.jsonl.journal",
    ),
    reader("labels", stored::labels, &["judge", "check", "j.jsonl"], ".evalrig/labels.jsonl"),
    reader(
        "runlog",
        stored::runlog,
        &["convert", ".co/evals/a.yaml", "--stdout"],
        ".co/evals/a.yaml",
    ),
    reader("session", stored::session, &["log", "record", "--input", "Hi"], "session.jsonl"),
    reader("stream", streams::stream, &[], ""),
    reader("acp", streams::acp, &[], ""),
    reader("reply", stored::reply, &[], ""),
    reader("lsp", protocol::lsp, &["lsp"], "messages"),
    reader("bundle", protocol::bundle, &[], ""),
    reader("config", settings::config, &["validate", "beside.eval.yaml"], "evalrig.toml"),
    reader("skill", settings::skill, &["list", "skills/csv"], "skills/csv/SKILL.md"),
    reader("task", foreign::task, &["convert", "task.toml", "--stdout"], "task.toml"),
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
