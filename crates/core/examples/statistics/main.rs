//! `cargo xtask statistics`: simulated comparisons. Prints every number that the docs claim about
//! verdicts, marks and intervals, and draws their pictures.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

mod cells;
mod intervals;
mod judges;
mod limits;
mod moving;
mod picture;
mod rounds;
mod simulation;
mod tables;
mod unequal;
mod unseen;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use std::{env, fs};

/// The page with the tables, and the folder of the pictures.
const PAGE: &str = "docs/explanation/guarantees.md";
const IMAGES: &str = "docs/images";

/// Comparisons per cell.
const QUICK: usize = 100;
const FULL: usize = 500;

/// How much is simulated, and what becomes of it.
#[derive(Debug, Clone)]
struct Extent {
    /// Comparisons per cell.
    repeats: usize,
    /// Whether the page and the pictures are written.
    is_written: bool,
    /// Whether the page is held against its limits, and nothing is simulated.
    is_checked: bool,
    /// The tables, if not all.
    keys: Vec<String>,
}

impl Extent {
    /// From the words behind `statistics`.
    fn read(words: &[String]) -> Result<Self, String> {
        let mut extent =
            Self { repeats: QUICK, is_written: false, is_checked: false, keys: Vec::new() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--full" => extent.repeats = FULL,
                "--check" => extent.is_checked = true,
                "--write" => extent.is_written = true,
                "--repeats" => {
                    let count = words.next().and_then(|count| count.parse().ok());
                    extent.repeats = count.filter(|count| *count > 0).ok_or("--repeats N")?;
                }
                "--only" => extent.keys.push(words.next().ok_or("--only TABLE")?.clone()),
                other => return Err(format!("unknown option `{other}`")),
            }
        }
        Ok(extent)
    }
}

/// A table of the page.
#[derive(Debug)]
struct StatisticsTable {
    /// Comparisons of each shape in a cell.
    repeats: usize,
    title: &'static str,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl StatisticsTable {
    fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule = vec!["---".to_owned(); self.header.len()];
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        let table = format!("{}{}{rows}", line(&self.header), line(&rule));
        format!("{}\n{table}", repeats_line(self.repeats))
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    match Extent::read(&words).and_then(|extent| statistics(&workspace(), &extent)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Prints the tables one after another; with `--write`, replaces those of the page.
fn statistics(root: &Path, extent: &Extent) -> Result<(), String> {
    if extent.is_checked {
        let page =
            fs::read_to_string(root.join(PAGE)).map_err(|error| format!("{PAGE}: {error}"))?;
        let missed = limits::missed(&page);
        return if missed.is_empty() { Ok(()) } else { Err(missed.join("\n")) };
    }
    let mut texts = Vec::new();
    for (key, make) in tables::ALL {
        if !extent.keys.is_empty() && !extent.keys.iter().any(|wanted| wanted == key) {
            continue;
        }
        let start = Instant::now();
        let table = make(extent.repeats);
        let text = table.markdown();
        println!("## {} [{key}]\n\n{text}", table.title);
        println!("({:.0} s)\n", start.elapsed().as_secs_f64());
        texts.push((key, text));
    }
    if extent.is_written { write(root, &texts) } else { Ok(()) }
}

/// The tables into the page, and the pictures.
fn write(root: &Path, texts: &[(&str, String)]) -> Result<(), String> {
    let path = root.join(PAGE);
    let mut page = fs::read_to_string(&path).map_err(|error| format!("{PAGE}: {error}"))?;
    for (key, text) in texts {
        page = replaced(&page, key, text)?;
    }
    fs::write(&path, page).map_err(|error| format!("{PAGE}: {error}"))?;
    for (name, text) in picture::all() {
        let written = fs::write(root.join(IMAGES).join(name), text);
        written.map_err(|error| format!("{IMAGES}/{name}: {error}"))?;
    }
    Ok(())
}

/// How exact the numbers of a table are.
fn repeats_line(repeats: usize) -> String {
    let error = |rate: f64| 196.0 * (rate * (1.0 - rate) / repeats as f64).sqrt();
    format!(
        "*{repeats} comparisons per shape and cell: a true 5 % shows as {:.1} to {:.1} %, a true 70 % as {:.0} to \
         {:.0} %.*\n",
        (5.0 - error(0.05)).max(0.0),
        5.0 + error(0.05),
        70.0 - error(0.7),
        70.0 + error(0.7),
    )
}

/// The page with another text between the two markers of a key.
fn replaced(page: &str, key: &str, text: &str) -> Result<String, String> {
    let (open, close) = (format!("<!-- statistics: {key} -->\n"), "<!-- end -->");
    let missing = || format!("{PAGE} has no `{}`", open.trim_end());
    let start = page.find(&open).ok_or_else(missing)? + open.len();
    let end = start + page[start..].find(close).ok_or_else(missing)?;
    Ok(format!("{}\n{text}\n{}", &page[..start], &page[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_between_markers_is_replaced() {
        let page = "a\n<!-- statistics: x -->\nold\n<!-- end -->\nb\n";
        let once = replaced(page, "x", "new\n").unwrap();
        assert_eq!(once, "a\n<!-- statistics: x -->\n\nnew\n\n<!-- end -->\nb\n");
        assert_eq!(replaced(&once, "x", "new\n").unwrap(), once);
        assert!(replaced(page, "y", "").is_err());
    }

    /// What is published was simulated. The page says which limits are missed, and why.
    #[test]
    fn the_page_is_whole_and_keeps_its_limits() {
        let page = fs::read_to_string(workspace().join(PAGE)).unwrap();
        assert!(!page.contains("Not simulated") && !page.contains("| – |"));
        let missed = limits::missed(&page);
        assert!(missed.is_empty(), "{}", missed.join("\n"));
    }

    #[test]
    fn every_table_has_its_place_on_the_page_and_every_picture_is_fresh() {
        let root = workspace();
        let page = fs::read_to_string(root.join(PAGE)).unwrap();
        for (key, make) in tables::ALL {
            let table = make(1);
            let start = page.find(&format!("<!-- statistics: {key} -->")).expect(key);
            let shown = page[start..].split("<!-- end -->").next().unwrap();
            let lines: Vec<&str> = shown.lines().filter(|line| line.starts_with('|')).collect();
            assert_eq!(lines.len(), table.rows.len() + 2, "{key}");
            for (line, row) in lines[2..].iter().zip(&table.rows) {
                assert!(line.starts_with(&format!("| {} |", row[0])), "{key}: {line}");
            }
        }
        let [_, (_, verdicts), _] = picture::all();
        for word in ["equivalent", "better", "not-worse", "worse", "inconclusive"] {
            assert!(verdicts.contains(&format!(">{word}<")), "{word}");
        }
        for (name, text) in picture::all() {
            let stored = fs::read_to_string(root.join(IMAGES).join(name)).unwrap();
            assert_eq!(stored, text, "{name}: run `cargo xtask statistics --write`");
        }
    }
}
