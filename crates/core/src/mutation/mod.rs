//! Damages answers on purpose, to find checks that do not notice. Each kind of damage has a file; this
//! one has the list. Pure and seeded: the same answer and the same seed give the same mutants.

mod answer_text;
mod call_arguments;
mod calls_dropped;
mod calls_reordered;
mod case_trial;
mod cut;
mod damaged_files;
mod empty;
mod files_renamed;
mod files_reverted;
mod json_answer;
mod json_keys;
mod json_values;
mod key_facts;
mod mutant;
mod negated;
mod numbers;
mod original;
mod other_answer;
mod refusal;
mod sample;
mod survey;
mod survivor;
#[cfg(test)]
mod testing;
mod word_diff;

pub use case_trial::{CaseTrial, CheckBaseline, GradedMutant, MutantGrade, try_case};
pub use damaged_files::DamagedFiles;
pub use mutant::{Damage, Mutant, MutationKind};
pub use original::{Original, OtherAnswer};
pub use sample::sample_mutants;
pub use survey::{CheckFinding, CheckId, CheckTally, Survey, UncheckedTest, Untried, Weakness};
pub use survivor::Survivor;
pub use word_diff::{WordChange, word_diff};

/// Every kind, in the order in which reports list them.
pub static KINDS: &[&MutationKind] = &[
    &empty::KIND,
    &cut::KIND,
    &refusal::KIND,
    &other_answer::KIND,
    &key_facts::KIND,
    &numbers::KIND,
    &negated::KIND,
    &json_keys::KIND,
    &json_values::KIND,
    &calls_dropped::KIND,
    &calls_reordered::KIND,
    &call_arguments::KIND,
    &files_reverted::KIND,
    &files_renamed::KIND,
];

/// Every mutant of an answer, without those that say the same as the answer or as one another.
pub fn mutants(original: &Original<'_>) -> Vec<Mutant> {
    let mut found: Vec<Mutant> = Vec::new();
    for kind in KINDS {
        for mutant in (kind.make)(original) {
            let is_new = !found.iter().any(|known| known.says_the_same(&mutant));
            if is_new && !original.says_the_same(&mutant) {
                found.push(mutant);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::testing::answered;
    use super::*;

    #[test]
    fn every_file_of_a_kind_is_in_the_list() {
        let listed: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        let files = [
            "empty",
            "cut",
            "refusal",
            "other-answer",
            "key-facts",
            "numbers",
            "negated",
            "json-keys",
            "json-values",
            "calls-dropped",
            "calls-reordered",
            "call-arguments",
            "files-reverted",
            "files-renamed",
        ];
        assert_eq!(listed, files);
        assert!(KINDS.iter().all(|kind| !kind.doc.is_empty() && !kind.doc.ends_with('.')));
    }

    #[test]
    fn mutants_differ_from_the_answer_and_from_each_other() {
        for text in ["", " ", "Paris", "Yes.", "{}", "[]", "7", "é", "{\"a\": 1}", "a\n\nb"] {
            let all = answered(text, mutants);
            for (at, one) in all.iter().enumerate() {
                assert_ne!(one.transcript.answer.trim(), text.trim(), "{}", one.kind.name);
                assert!(all[..at].iter().all(|other| !other.says_the_same(one)));
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_mutants() {
        let text = "The best month was November with $22,500, and 3 others were above 20,000.";
        let once = || answered(text, mutants);
        let texts = |all: Vec<Mutant>| -> Vec<String> {
            all.into_iter().map(|one| one.transcript.answer).collect()
        };
        assert_eq!(texts(once()), texts(once()));
    }
}
