//! The command line, to be typed again.

/// Options with a value that say what a run is compared with.
const COMPARING: &[&str] = &["--baseline", "--margin", "--measure"];

/// The command line without what belongs to this run alone. Somebody who runs a part of it again
/// does not ask the same of the baseline; somebody who goes on with it does.
pub(super) fn typed(is_over: bool) -> String {
    again(std::env::args().skip(1), is_over)
}

fn again(given: impl Iterator<Item = String>, is_over: bool) -> String {
    let mut words = vec!["evalrig".to_owned()];
    let mut given = given;
    while let Some(word) = given.next() {
        let option = word.split('=').next().unwrap_or("");
        let is_comparing = is_over && COMPARING.contains(&option);
        if is_comparing && option == word {
            given.next();
        }
        let is_own = matches!(option, "--failed" | "--resume") || (is_over && option == "--gate");
        if !is_own && !is_comparing {
            words.push(quoted(&word));
        }
    }
    words.join(" ")
}

pub(in super::super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_one_run_alone_is_not_typed_again() {
        let given = "run evals --baseline main.jsonl --gate --margin=0.2 --failed=x -q";
        let words = || given.split(' ').map(str::to_owned);
        assert_eq!(again(words(), true), "evalrig run evals -q");
        assert_eq!(
            again(words(), false),
            "evalrig run evals --baseline main.jsonl --gate --margin=0.2 -q"
        );
    }
}
