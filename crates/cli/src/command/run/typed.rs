//! The command line, to be typed again.

use evalrig_run::record::PlanOptions;

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

/// The options that decide which cases there are.
pub(super) fn of_plan(options: &PlanOptions) -> String {
    let named = |name: &'static str, values: &[String]| -> Vec<String> {
        let words = values
            .iter()
            .map(|value| format!("{name} {}", quoted(value)));
        words.collect()
    };
    let number = |name: &str, value: Option<u64>| value.map(|value| format!("{name} {value}"));
    let mut words = named("--target", &options.targets);
    words.extend(named("--filter", &options.filters));
    words.extend(named("--tag", &options.tags));
    words.extend(number("--trials", options.trials.map(u64::from)));
    words.extend(number("--sample", options.sample));
    words.extend(number("--seed", options.seed.filter(|seed| *seed != 0)));
    words.extend(named("--shard", options.shard.as_slice()));
    words.join(" ")
}

pub(in super::super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_a_plan_are_shown_as_they_are_typed() {
        let options = PlanOptions {
            targets: vec!["a".to_owned(), "b c".to_owned()],
            trials: Some(5),
            seed: Some(0),
            sample: Some(3),
            shard: Some("1/2".to_owned()),
            filters: vec!["!x*".to_owned()],
            tags: Vec::new(),
        };
        assert_eq!(
            of_plan(&options),
            "--target a --target 'b c' --filter '!x*' --trials 5 --sample 3 --shard 1/2"
        );
        assert_eq!(of_plan(&PlanOptions::default()), "");
    }

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
