//! `cargo xtask house`: the size and shape of the shipped sources. Per crate and in sum it prints
//! lines by kind, the longest functions, type names that occur twice in a crate, and cycles between
//! rooms. Code lines exclude blank lines, comments, everything behind `#[cfg(test)]`, and the inner
//! lines of string literals (docs of diagnostics and assertion kinds), which are a column apart.

use std::fmt::Write;
use std::io;

use camino::Utf8Path;
use house::{LineCount, Sources};

const CRATES: [&str; 4] = ["core", "run", "lsp", "cli"];

/// How many of the longest functions are printed per crate.
const SHOWN: usize = 5;

/// The measurements as text, for the workspace at `root`.
///
/// # Errors
/// When a source file cannot be read.
pub fn measure(root: &Utf8Path) -> io::Result<String> {
    let mut table = String::from("crate      code  doc texts  comments  blank   tests     all\n");
    let mut details = String::new();
    let mut sum = LineCount::default();
    for name in CRATES {
        let sources = Sources::read(root.join("crates").join(name).join("src").as_std_path())?;
        let count = sources.count_lines();
        sum += count;
        write_row(&mut table, name, count);
        write_details(&mut details, name, &sources);
    }
    write_row(&mut table, "sum", sum);
    Ok(table + &details)
}

fn write_row(out: &mut String, name: &str, count: LineCount) {
    let LineCount { code, doc_text, comment, blank, test } = count;
    let all = count.all();
    let row = format!("{name:5} {code:9} {doc_text:10} {comment:9} {blank:6} {test:7} {all:7}\n");
    out.push_str(&row);
}

fn write_details(out: &mut String, name: &str, sources: &Sources) {
    let functions = sources.functions();
    let _ = writeln!(out, "\n{name}: longest of {} functions", functions.len());
    for (path, function) in functions.iter().take(SHOWN) {
        let _ = writeln!(out, "  {:4}  {} {path}:{}", function.lines, function.name, function.line);
    }
    let repeated = sources.repeated_types();
    let _ = writeln!(out, "{name}: {} type names occur twice", repeated.len());
    for (type_name, files) in repeated {
        let _ = writeln!(out, "  {type_name}: {}", files.join(", "));
    }
    let graph = sources.room_graph();
    let cycles = graph.cycles(&[]);
    let _ = writeln!(out, "{name}: {} cycles between rooms", cycles.len());
    for cycle in cycles {
        let _ = writeln!(out, "  {}", cycle.join(", "));
    }
}
