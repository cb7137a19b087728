//! `--failed RESULTS`, `--resume RESULTS` and `--rounds R`: the value may follow after a space. These
//! options work without a value, and suites may follow them, so only a word that names results, or is
//! a number, is taken as one.

use std::ffi::OsString;

use camino::Utf8PathBuf;
use evalrig_run::session::{LoadOptions, names_results};

const OPTIONS: [&str; 2] = ["--failed", "--resume"];
const ROUNDS: &str = "--rounds";

/// The command line with such a value joined to its option by `=`.
pub(super) fn joined(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let here = std::env::current_dir().ok();
    let Some(here) = here.and_then(|here| Utf8PathBuf::from_path_buf(here).ok()) else {
        return words.collect();
    };
    let options = LoadOptions::new(here);
    joined_where(words, |word| names_results(&options, word))
}

fn joined_where(
    words: impl Iterator<Item = OsString>,
    is_results: impl Fn(&str) -> bool,
) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    let mut is_over = false;
    for word in words {
        is_over |= word == "--";
        let before = joined.last();
        let option = OPTIONS.iter().chain([&ROUNDS]).find(|one| before.is_some_and(|b| b == *one));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let fits = |option: &str, text: &str| match option {
            ROUNDS => is_number(text),
            _ => !text.starts_with('-') && is_results(text),
        };
        // Only a word behind an option is looked at: it may be a file that has to be read.
        let option = option.filter(|_| !is_over);
        let whole = option.zip(word.to_str()).filter(|(option, text)| fits(option, text));
        match whole.map(|(option, value)| format!("{option}={value}")) {
            Some(whole) => {
                joined.pop();
                joined.push(whole.into());
            }
            None => joined.push(word),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined_text(line: &str) -> String {
        let words = line.split(' ').map(OsString::from);
        let joined = joined_where(words, |word| word.ends_with(".jsonl") || word == "latest");
        joined.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_value_that_names_results_belongs_to_the_option() {
        for (typed, read) in [
            ("run --failed out.jsonl evals", "run --failed=out.jsonl evals"),
            ("run --resume latest", "run --resume=latest"),
            ("run --failed=out.jsonl more.jsonl", "run --failed=out.jsonl more.jsonl"),
            ("run --rounds 4 evals", "run --rounds=4 evals"),
        ] {
            assert_eq!(joined_text(typed), read);
        }
    }

    #[test]
    fn no_other_word_is_taken_for_a_file() {
        let is_results = |word: &str| panic!("looked at {word}");
        let words = "evalrig validate out.jsonl -- --failed out.jsonl".split(' ');
        assert_eq!(joined_where(words.map(OsString::from), is_results).len(), 6);
    }

    #[test]
    fn suites_and_options_after_it_stay_what_they_are() {
        for typed in [
            "run --failed",
            "run --failed EVAL.yaml",
            "run --rounds evals",
            "run --failed --output out.jsonl",
            "run evals --failed -q",
            "run -- --failed out.jsonl",
        ] {
            assert_eq!(joined_text(typed), typed);
        }
    }
}
