//! What a command that continues or repeats this run needs besides `--resume` or `--failed`: the
//! options that results files do not keep.

use evalrig_run::session::{RerunWords, quoted};

/// Where things are, which results files of others must not decide.
const PLACES: &[&str] = &[
    "--root",
    "--allow-outside-root",
    "--env-file",
    "--no-env-file",
    "--store",
    "--keep-runs",
    "--profile",
];
/// Where cases are executed.
const SERVERS: &[&str] = &[
    "--queue",
    "--queue-creds",
    "--queue-ca",
    "--insecure",
    "--replicas",
    "--lease",
    "--queue-patience",
];
/// An interrupted run keeps its baseline; of a complete run only failed tests are repeated, which
/// cannot be compared.
const COMPARISON: &[&str] = &["--baseline", "--baseline-runs", "--margin", "--measure", "--gate"];
/// Where answers come from. Tests that failed on stored answers would fail on them again.
const ANSWERS: &[&str] = &["--cache"];
/// Options of these lists without a value.
const FLAGS: &[&str] =
    &["--allow-outside-root", "--no-env-file", "--gate", "--cache", "--insecure"];

pub(super) fn rerun_words() -> RerunWords {
    let typed = || std::env::args().skip(1);
    let resumed = [PLACES, SERVERS, COMPARISON, ANSWERS];
    RerunWords {
        failed: kept(typed(), |option| PLACES.contains(&option) || SERVERS.contains(&option)),
        resume: kept(typed(), |option| resumed.iter().any(|list| list.contains(&option))),
    }
}

/// Whether an option is on the command line, and not only in a file or a variable.
pub(super) fn is_typed(option: &str) -> bool {
    typed_option(option).is_some()
}

/// The last word of the command line with this option, and its value if that is joined by `=`.
pub(super) fn typed_option(option: &str) -> Option<String> {
    let typed = std::env::args().skip(1).take_while(|word| word != "--");
    typed.filter(|word| word.split('=').next() == Some(option)).last()
}

/// The command line as it was typed.
pub(crate) fn command_line() -> String {
    let words = std::env::args().skip(1).map(|word| quoted(&word));
    std::iter::once("evalrig".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// The options that are kept, with their values.
fn kept(mut typed: impl Iterator<Item = String>, is_kept: impl Fn(&str) -> bool) -> String {
    let mut words = Vec::new();
    while let Some(word) = typed.next() {
        let option = word.split('=').next().unwrap_or("");
        if !is_kept(option) {
            continue;
        }
        let has_value = option == word && !FLAGS.contains(&option);
        words.push(quoted(&word));
        words.extend(typed.by_ref().take(usize::from(has_value)).map(|value| quoted(&value)));
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_options_that_results_do_not_keep_are_repeated() {
        let typed = "run evals -n 5 --baseline main.jsonl --gate --margin=0.2 --failed=x -q \
                     --no-env-file --store a?b --output out.jsonl";
        let words = |list: &[&str]| {
            kept(typed.split_whitespace().map(str::to_owned), |option| list.contains(&option))
        };
        assert_eq!(words(PLACES), "--no-env-file --store 'a?b'");
        assert_eq!(words(COMPARISON), "--baseline main.jsonl --gate --margin=0.2");
    }
}
