//! The option `votes` of judges (spec 21.3).

use crate::diagnostic::Diagnostic;
use crate::model::Votes;
use crate::reader::{Options, ReadResult};
use crate::syntax::fields::{Entry, Field, INVALID_OPTION, Shape, unknown_field};

use super::rubrics::TARGET;

pub(super) const VOTES: Field = Field::new(
    "votes",
    Shape::Integer { min: 1, max: Votes::MOST },
    "how often the judge reads the answer, an odd number; the majority counts, of scores the median",
);

/// The same option in a mapping.
pub(super) const JUDGE: Field =
    Field::new("judge", Shape::Fields(JUDGE_FIELDS), "`{votes: 3}` is the same as `votes: 3`");

const JUDGE_FIELDS: &[Field] = &[VOTES];

/// `votes`, or `votes` of `judge`.
pub(super) fn read_votes(options: &mut Options<'_, '_, '_>) -> ReadResult<Option<Votes>> {
    let own = read_number(options)?;
    let Some(judge) = options.get(JUDGE.name) else {
        return Ok(own);
    };
    if !judge.value.is_mapping() {
        let fault = unknown_field(judge.key, &[&[TARGET, VOTES]]);
        options.report(fault.help("name the judge with `target`"));
        return Ok(own);
    }
    let nested = options.nested(JUDGE.name, JUDGE_FIELDS, read_number)?;
    match (options.get(VOTES.name), nested.flatten()) {
        (Some(votes), Some(_)) => Err(options.spelled_twice(&votes, &judge)),
        (_, nested) => Ok(own.or(nested)),
    }
}

fn read_number(options: &mut Options<'_, '_, '_>) -> ReadResult<Option<Votes>> {
    let number = options.integer(VOTES.name, 1, Votes::MOST)?;
    let entry = options.get(VOTES.name);
    number.zip(entry).map(|(number, entry)| odd(options, number, &entry)).transpose()
}

fn odd(options: &mut Options<'_, '_, '_>, number: u64, entry: &Entry<'_>) -> ReadResult<Votes> {
    Votes::new(number).ok_or_else(|| {
        let message = format!("`votes` is {number}, an even number, which can have no majority");
        let help = format!("write {} or {}", number.saturating_sub(1), number + 1);
        let span = entry.value.span();
        options.report(Diagnostic::new(&INVALID_OPTION, span, message).help(help))
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Trial, read};
    use crate::model::{JudgeReadings, Transcript, Votes};

    #[test]
    fn both_spellings_are_one_option() {
        for options in ["votes: 3", "judge: {votes: 3}"] {
            let rubrics = read(&format!("- {{type: rubrics, criteria: a, {options}}}"));
            assert!(rubrics.options().ends_with(r#","votes":3}"#), "{}", rubrics.options());
            let judge = read(&format!("- {{type: llm-judge, prompt: a b, {options}}}"));
            assert_eq!(judge.options(), r#"{"prompt":"a b","votes":3}"#);
        }
        assert!(!read("- {type: rubrics, criteria: a}").options().contains("votes"));
    }

    #[test]
    fn what_can_have_no_majority_is_refused() {
        for (options, fault) in [
            ("votes: 2", "invalid-option"),
            ("votes: 0", "out-of-range"),
            ("votes: 101", "out-of-range"),
            ("votes: many", "wrong-type"),
            ("judge: {votes: 4}", "invalid-option"),
            ("judge: {vote: 3}", "unknown-field"),
            ("judge: gpt", "unknown-field"),
            ("votes: 3, judge: {votes: 3}", "conflicting-fields"),
        ] {
            let yaml = format!("- {{type: rubrics, criteria: a, {options}}}");
            assert_eq!(read(&yaml).names(), [fault], "{options}");
        }
        let even = read("- {type: rubrics, criteria: a, votes: 2}");
        assert_eq!(even.messages(), ["`votes` is 2, an even number, which can have no majority"]);
        assert_eq!(even.diagnostics[0].help.as_deref(), Some("write 1 or 3"));
    }

    #[test]
    fn what_only_one_reading_would_judge_is_a_loss() {
        let losses = |yaml: &str| read(yaml).only().check.losses("rubrics");
        assert_eq!(losses("- {type: rubrics, criteria: a, votes: 1}"), []);
        let lost = losses("- {type: rubrics, criteria: a, votes: 3}");
        assert_eq!(lost, [("votes", "that `rubrics` counts 3 votes is left out".to_owned())]);
    }

    /// A judge that always reads five times.
    #[derive(Debug)]
    struct Five;

    impl JudgeReadings for Five {
        fn votes(&self, judge: Option<&str>, written: Option<Votes>) -> Votes {
            assert_eq!(judge, Some("big"));
            written.or(Votes::new(5)).expect("votes")
        }
    }

    #[test]
    fn the_run_may_say_how_often_a_judge_reads() {
        for (options, count) in [("", 5), (", votes: 3", 3)] {
            let yaml = format!("- {{type: rubrics, criteria: a, target: big{options}}}");
            let mut trial = Trial::new(&yaml, Transcript::of_text("x"));
            trial.options.readings = Some(&Five);
            let mut asked = 0;
            trial.grades(|_| {
                asked += 1;
                let reply = r#"{"checks": [{"id": "rubric-1", "satisfied": true}]}"#;
                crate::model::Answer::Judge(reply.to_owned())
            });
            assert_eq!(asked, count);
        }
    }
}
