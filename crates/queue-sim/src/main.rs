//! `cargo xtask simulate-queue`: predicts runs over many workers, prints the tables of the docs, and
//! compares predictions with measured runs.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod arguments;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use queue_sim::{Bounds, Measurement, Scenario, compare, duration_text, picture, simulate, table};

use arguments::Arguments;

/// The page with the tables, and the folder of the picture.
const PAGE: &str = "docs/explanation/many-machines.md";
const IMAGES: &str = "docs/images";

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = if let Some(file) = &arguments.validate {
        validate(file, arguments.tolerance)
    } else if arguments.workers.is_empty() {
        tables(&arguments)
    } else {
        predict(&arguments)
    };
    match done {
        Ok(code) => code,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// One scenario, with each number of workers.
fn predict(arguments: &Arguments) -> Result<ExitCode, String> {
    for workers in &arguments.workers {
        let scenario = Scenario { workers: *workers, ..arguments.scenario()? };
        let found = simulate(&scenario)?;
        if arguments.json {
            println!("{}", serde_json::to_string(&found).map_err(|error| error.to_string())?);
            continue;
        }
        let bounds = Bounds::of(&scenario);
        let time = |seconds| duration_text::rounded(std::time::Duration::from_secs_f64(seconds));
        println!("{workers} workers with {} slots, {} cases", scenario.slots, scenario.cases);
        println!("{:<26} {}", "makespan by formula", time(bounds.makespan()));
        if let Some(knee) = bounds.knee_workers() {
            println!("{:<26} {knee:.1}", "workers at the knee");
        }
        println!("{found}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Exits with 1 if a prediction is further off than `tolerance`.
fn validate(file: &Path, tolerance: f64) -> Result<ExitCode, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let measurements =
        Measurement::read(&text).map_err(|error| format!("{}: {error}", file.display()))?;
    if measurements.is_empty() {
        return Err(format!("{}: there are no measurements", file.display()));
    }
    let compared = compare(&measurements)?;
    println!("| workers | slots | cases | measured | predicted | error |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for one in &compared {
        println!(
            "| {} | {} | {} | {:.2} s | {:.2} s | {:+.1} % |",
            one.workers,
            one.slots,
            one.cases,
            one.measured,
            one.predicted,
            one.error() * 100.0
        );
    }
    let mut errors: Vec<f64> = compared.iter().map(|one| one.error().abs()).collect();
    errors.sort_by(f64::total_cmp);
    let (median, largest) = (errors[errors.len() / 2], errors[errors.len() - 1]);
    println!("\nmedian error {:.1} %, largest {:.1} %", median * 100.0, largest * 100.0);
    Ok(if largest <= tolerance { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints the tables; with `--write`, replaces those of the page and draws its picture.
fn tables(arguments: &Arguments) -> Result<ExitCode, String> {
    let page = workspace().join(PAGE);
    let mut text = String::new();
    if arguments.write {
        text = fs::read_to_string(&page).map_err(|error| format!("{PAGE}: {error}"))?;
    }
    for (key, title, make) in table::ALL {
        if arguments.only.as_ref().is_some_and(|only| only != key) {
            continue;
        }
        let markdown = make()?.markdown();
        println!("## {title} [{key}]\n\n{markdown}");
        if arguments.write {
            text = replaced(&text, key, &markdown)?;
        }
    }
    if arguments.write {
        fs::write(&page, text).map_err(|error| format!("{PAGE}: {error}"))?;
        let image = workspace().join(IMAGES).join(picture::FILE);
        fs::write(image, picture::workers()?).map_err(|error| format!("{IMAGES}: {error}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The page with another table between the two markers of a key.
fn replaced(page: &str, key: &str, text: &str) -> Result<String, String> {
    let (open, close) = (format!("<!-- simulated: {key} -->\n"), "<!-- end -->");
    let missing = || format!("{PAGE} has no `{}`", open.trim_end());
    let start = page.find(&open).ok_or_else(missing)? + open.len();
    let end = start + page[start..].find(close).ok_or_else(missing)?;
    Ok(format!("{}\n{text}\n{}", &page[..start], &page[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_the_tables_and_the_picture_that_the_simulation_makes() {
        let page = fs::read_to_string(workspace().join(PAGE)).unwrap();
        let mut fresh = page.clone();
        for (key, _, make) in table::ALL {
            fresh = replaced(&fresh, key, &make().unwrap().markdown()).unwrap();
        }
        assert!(fresh == page, "run `cargo xtask simulate-queue --write`");
        let image = fs::read_to_string(workspace().join(IMAGES).join(picture::FILE)).unwrap();
        assert!(image == picture::workers().unwrap(), "run `cargo xtask simulate-queue --write`");
    }

    #[test]
    fn a_page_without_a_place_for_a_table_is_an_error() {
        let page = "a\n<!-- simulated: x -->\nold\n<!-- end -->\nb\n";
        let once = replaced(page, "x", "new\n").unwrap();
        assert_eq!(once, "a\n<!-- simulated: x -->\n\nnew\n\n<!-- end -->\nb\n");
        assert_eq!(replaced(&once, "x", "new\n").unwrap(), once);
        assert!(replaced(page, "y", "").is_err());
    }
}
