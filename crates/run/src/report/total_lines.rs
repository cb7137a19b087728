//! The numbers of a run in words, for the reports that people read.

use evalrig_core::model::Outcome;
use evalrig_core::stats::mean_between;

use super::tally::Tally;
use super::{ReportedRun, comparison};
use crate::results::PartialSum;
use crate::text::{self, numbers, paint::outcome_phrase};

/// What the whole run came to, in one line, and how it is to be taken.
pub fn headline(tally: &Tally, end: &ReportedRun) -> (Outcome, String) {
    let counts = &tally.deciding.counts;
    let allowed = tally.verdicts.allowed();
    let (one, many) = tally.nouns();
    let passed = counts.of(Outcome::Passed);
    let mut parts = Vec::new();
    if counts.total() == 0 {
        parts.push("nothing was run".to_owned());
    } else if counts.judged() == 0 {
        parts.push("no test could be graded".to_owned());
    } else if passed == counts.judged()
        && tally.totals.counts.of(Outcome::Errored) == 0
        && end.stopped.is_none()
        && end.gaps.is_empty()
    {
        let all = match passed {
            1 => format!("1 {one} passed"),
            n => format!("all {} {many} passed", numbers::count(n)),
        };
        parts.push(match tally.sample.shown_rate() {
            Some(interval) => format!("{all} {}", numbers::interval_text(passed, passed, interval)),
            None => all,
        });
    } else {
        let interval = tally.sample.shown_rate();
        parts.push(numbers::share(passed, counts.judged(), interval));
    }
    for outcome in [Outcome::Failed, Outcome::Borderline, Outcome::Errored, Outcome::Skipped] {
        if let n @ 1.. = counts.without(&allowed).of(outcome) {
            parts.push(format!("{} {}", numbers::count(n), outcome_phrase(outcome)));
        }
    }
    if let n @ 1.. = allowed.total() {
        parts.push(numbers::counted(n, "failed trial allowed", "failed trials allowed"));
    }
    parts.extend(baseline_arm(tally));
    let mut took = String::new();
    if let Some(ms) = end.duration_ms {
        took = format!(" · {}", numbers::duration(ms));
    }
    let mut text = format!("{}{took}", parts.join(", "));
    if let Some(stopped) = end.stopped {
        text = format!("{}; {text}", stopped_text(stopped, tally, end));
    } else if let Some(gaps) = end.gaps.headline() {
        text = format!("{gaps}; {text}");
    }
    let found = verdict(tally, end);
    match unexplained_exit(found, end) {
        Some(code) => (Outcome::Errored, format!("{text}; exit code {code}")),
        None => (found, text),
    }
}

/// What came of the cases that the counts leave out.
fn baseline_arm(tally: &Tally) -> Option<String> {
    let counts = tally.totals.counts.without(&tally.deciding.counts);
    let mut parts = Vec::new();
    if counts.judged() > 0 {
        let [passed, judged] = [counts.of(Outcome::Passed), counts.judged()].map(numbers::count);
        parts.push(format!("{passed} of {judged} passed"));
    }
    if let n @ 1.. = counts.of(Outcome::Errored) {
        parts.push(format!("{} {}", numbers::count(n), outcome_phrase(Outcome::Errored)));
    }
    (!parts.is_empty()).then(|| format!("baseline arm: {}", parts.join(", ")))
}

/// A code that the cases do not explain, such as that of a record that could not be kept. The line
/// of a gate says its own code.
fn unexplained_exit(found: Outcome, end: &ReportedRun) -> Option<u8> {
    let code = end.exit_code.filter(|code| *code != 0 && found == Outcome::Passed)?;
    comparison::gate(end).is_none().then_some(code)
}

/// Why a run ended before its plan did, and how far it got.
pub fn stopped_text(stopped: super::Stopped, tally: &Tally, end: &ReportedRun) -> String {
    let total = tally.deciding.counts.total();
    match end.planned.filter(|planned| *planned > total) {
        Some(planned) => format!(
            "{} after {} of {}",
            stopped.sentence(),
            numbers::count(total),
            numbers::counted(planned, tally.nouns().0, tally.nouns().1)
        ),
        None => stopped.sentence().to_owned(),
    }
}

/// The worst that happened, without trials that a test which passes may lose.
fn verdict(tally: &Tally, end: &ReportedRun) -> Outcome {
    let counts = tally.deciding.counts.without(&tally.verdicts.allowed());
    let found = [Outcome::Failed, Outcome::Borderline, Outcome::Errored]
        .into_iter()
        .find(|outcome| counts.of(*outcome) > 0);
    match found {
        Some(outcome) => outcome,
        None if tally.totals.counts.of(Outcome::Errored) > 0 => Outcome::Errored,
        None if end.stopped.is_some() || !end.gaps.is_empty() => Outcome::Errored,
        None if tally.deciding.counts.judged() == 0 => Outcome::Skipped,
        None => Outcome::Passed,
    }
}

/// `mean 0.87 (95 % CI 0.74–0.94, 22 cases)`.
pub fn average(tally: &Tally) -> Option<String> {
    let average = numbers::average(tally.deciding.average_score()?);
    let (one, many) = tally.nouns();
    let scored = numbers::counted(tally.deciding.scores.reported, one, many);
    Some(match tally.sample.shown_average() {
        Some(interval) => format!("mean {average} ({}, {scored})", mean_between(interval)),
        None => format!("mean {average} ({scored})"),
    })
}

pub fn tokens(tally: &Tally) -> Option<String> {
    if !tally.totals.input.has_addends() {
        return None;
    }
    let known = |sum: &PartialSum| numbers::count(sum.known as u64);
    let all = &tally.totals.all_tokens;
    if all.unreported < tally.totals.input.unreported {
        // Of some cases only the sum is known.
        return Some(with_gaps(all, format!("{} in all", known(all)), tally.nouns().1));
    }
    let mut text =
        format!("{} in, {} out", known(&tally.totals.input), known(&tally.totals.output));
    if tally.totals.cached.known > 0.0 {
        text.push_str(&format!(" ({} from cache)", known(&tally.totals.cached)));
    }
    Some(with_gaps(&tally.totals.input, text, tally.nouns().1))
}

pub fn cost(tally: &Tally) -> Option<String> {
    if !tally.totals.cost.has_addends() {
        return None;
    }
    Some(with_gaps(&tally.totals.cost, numbers::money(tally.totals.cost.known), tally.nouns().1))
}

/// How many answers an earlier run had paid for.
pub fn reused(tally: &Tally) -> Option<String> {
    let (one, many) = tally.nouns();
    match tally.totals.reused {
        0 => None,
        reused => Some(format!(
            "{} of {} answered from the cache",
            numbers::count(reused),
            numbers::counted(tally.totals.counts.total(), one, many)
        )),
    }
}

/// A sum with gaps is a lower bound and says so.
fn with_gaps(sum: &PartialSum, text: String, many: &str) -> String {
    let all = sum.reported + sum.unreported;
    match (sum.reported, sum.unreported) {
        (_, 0) => text,
        (0, _) => "unknown".to_owned(),
        (_, gaps) => format!(
            "unknown, at least {text}: {} of {} {many} did not report it",
            numbers::count(gaps),
            numbers::count(all)
        ),
    }
}

pub fn judges(tally: &Tally) -> Option<String> {
    let judges = &tally.totals.judges;
    if judges.calls == 0 {
        return None;
    }
    let mut text = numbers::counted(judges.calls, "call", "calls");
    match (judges.input.whole(), judges.output.whole()) {
        (Some(input), Some(output)) => text.push_str(&format!(
            ", {} tokens in, {} out",
            numbers::count(input as u64),
            numbers::count(output as u64)
        )),
        _ => text.push_str(", tokens unknown"),
    }
    text.push_str(&match judges.cost.whole() {
        Some(cost) => format!(", {}", numbers::money(cost)),
        None => ", cost unknown".to_owned(),
    });
    Some(text)
}

/// The code, where the outcomes of cases would make one expect another, and why.
pub fn exit(tally: &Tally, end: &ReportedRun) -> Option<String> {
    let verdict = verdict(tally, end);
    let expected = match verdict {
        Outcome::Passed => 0,
        Outcome::Failed | Outcome::Borderline => 1,
        Outcome::Errored => 3,
        Outcome::Skipped => 4,
    };
    let code = end.exit_code.filter(|code| *code != expected)?;
    if unexplained_exit(verdict, end).is_some() {
        // The headline says it.
        return None;
    }
    Some(match code {
        0 if verdict == Outcome::Borderline => {
            "code 0, because borderline counts as passed".to_owned()
        }
        code => format!("code {code}"),
    })
}

/// A path is there to be copied; it stays as it is unless that would do harm.
pub fn path_text(path: &str) -> String {
    if path.contains(text::is_harmful) { text::line(path, 4_096) } else { path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    fn tally(costs: &[Option<f64>]) -> Tally {
        let mut tally = Tally::default();
        for cost in costs {
            let mut row = fixture::row("a", Outcome::Passed, Some(0.9));
            row.cost_usd = *cost;
            tally.add(&row);
        }
        tally
    }

    #[test]
    fn an_unknown_cost_is_not_zero() {
        let text = |costs: &[Option<f64>]| cost(&tally(costs)).unwrap();
        assert_eq!(text(&[Some(0.25), Some(0.25)]), "$0.5000");
        assert_eq!(text(&[None, None]), "unknown");
        assert_eq!(
            text(&[Some(0.25), None]),
            "unknown, at least $0.2500: 1 of 2 tests did not report it"
        );
    }

    #[test]
    fn an_average_says_of_how_many() {
        assert_eq!(average(&tally(&[None])).unwrap(), "mean 0.90 (95 % CI 0.17–1.00, 1 test)");
        assert_eq!(
            average(&tally(&[None, None])).unwrap(),
            "mean 0.90 (95 % CI 0.28–1.00, 2 tests)"
        );
        assert_eq!(average(&Tally::default()), None);
    }

    #[test]
    fn errors_of_the_baseline_arm_are_in_the_headline() {
        let mut tally = tally(&[None, None]);
        let mut errored = fixture::row("a", Outcome::Errored, None);
        errored.baseline_arm = true;
        tally.add(&errored);
        let end = ReportedRun { exit_code: Some(3), ..ReportedRun::default() };
        let (outcome, text) = headline(&tally, &end);
        assert_eq!(outcome, Outcome::Errored);
        assert!(!text.contains("all 2"), "{text}");
        assert!(text.ends_with(", baseline arm: 1 could not be measured"), "{text}");
        assert_eq!(exit(&tally, &end), None);
    }

    #[test]
    fn the_baseline_arm_is_counted_apart() {
        let mut tally = tally(&[None, None]);
        for outcome in [Outcome::Failed, Outcome::Passed] {
            let mut row = fixture::row("a", outcome, Some(0.5));
            row.baseline_arm = true;
            tally.add(&row);
        }
        let end = ReportedRun { exit_code: Some(0), ..ReportedRun::default() };
        let (outcome, text) = headline(&tally, &end);
        assert_eq!(outcome, Outcome::Passed);
        assert!(text.ends_with(", baseline arm: 1 of 2 passed"), "{text}");
    }

    #[test]
    fn an_exit_code_that_no_case_explains_is_in_the_headline() {
        let end = ReportedRun { exit_code: Some(3), ..ReportedRun::default() };
        let (outcome, text) = headline(&tally(&[None]), &end);
        assert_eq!(outcome, Outcome::Errored);
        assert!(text.ends_with("; exit code 3"), "{text}");
    }

    #[test]
    fn an_interrupted_run_is_not_well() {
        let end = ReportedRun {
            stopped: Some(super::super::Stopped::Signal),
            planned: Some(40),
            ..ReportedRun::default()
        };
        assert_eq!(
            headline(&tally(&[None, None]), &end),
            (
                Outcome::Errored,
                "interrupted after 2 of 40 tests; 2 of 2 passed (100 %, 95 % CI 34–100 %)"
                    .to_owned()
            )
        );
    }
}
