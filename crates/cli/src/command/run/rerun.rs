//! The command lines that continue or repeat a run.

use evalrig_run::session::{RerunCommands, quoted};

/// Options of the comparison that take a value.
const COMPARING: &[&str] = &["--baseline", "--margin", "--measure"];

/// The command line without the options that apply to this run only. An interrupted run keeps its
/// baseline; after a complete run only the failed tests are repeated, which cannot be compared.
pub(super) fn rerun_commands() -> RerunCommands {
    RerunCommands {
        complete: again(std::env::args().skip(1), true),
        interrupted: again(std::env::args().skip(1), false),
    }
}

/// The command line as it was typed.
pub(crate) fn command_line() -> String {
    let words = std::env::args().skip(1).map(|word| quoted(&word));
    std::iter::once("evalrig".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

fn again(given: impl Iterator<Item = String>, is_complete: bool) -> String {
    let mut words = vec!["evalrig".to_owned()];
    let mut given = given;
    while let Some(word) = given.next() {
        let option = word.split('=').next().unwrap_or("");
        let is_comparing = is_complete && COMPARING.contains(&option);
        if is_comparing && option == word {
            given.next();
        }
        let is_own =
            matches!(option, "--failed" | "--resume") || (is_complete && option == "--gate");
        if !is_own && !is_comparing {
            words.push(quoted(&word));
        }
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_for_one_run_only_are_dropped() {
        let given = "run evals --baseline main.jsonl --gate --margin=0.2 --failed=x -q";
        let words = || given.split(' ').map(str::to_owned);
        assert_eq!(again(words(), true), "evalrig run evals -q");
        assert_eq!(
            again(words(), false),
            "evalrig run evals --baseline main.jsonl --gate --margin=0.2 -q"
        );
    }
}
