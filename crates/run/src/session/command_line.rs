//! Formats options and file names for a shell.

use crate::results::PlanOptions;

/// The options that select cases.
pub(super) fn plan_text(options: &PlanOptions) -> String {
    let named = |name: &'static str, values: &[String]| -> Vec<String> {
        let words = values.iter().map(|value| format!("{name} {}", quoted(value)));
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

/// Quotes a word if a shell would change it.
pub fn quoted(word: &str) -> String {
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
    fn the_options_of_a_plan_are_shown_as_they_are_typed() {
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
            plan_text(&options),
            "--target a --target 'b c' --filter '!x*' --trials 5 --sample 3 --shard 1/2"
        );
        assert_eq!(plan_text(&PlanOptions::default()), "");
    }
}
