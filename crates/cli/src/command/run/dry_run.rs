//! `--dry-run`: prints the plan of a run.

use std::fmt::Write as _;

use evalrig_core::compare::{ArmForecast, ComparisonVerdict, Forecast, MOST_ROUNDS, Outlook};
use evalrig_run::execute::SuiteJob;
use evalrig_run::prepare::{Estimate, EstimateRange};
use evalrig_run::report::comparison::points;
use evalrig_run::session::RunEstimate;
use evalrig_run::text::single_line;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::print_text;

pub(super) fn print_plan(suites: &[SuiteJob], plan: &RunEstimate) -> Result<Exit, CommandError> {
    let estimate = &plan.estimate;
    let mut text = String::new();
    for suite in suites {
        let _ = writeln!(text, "{}", plan_line(suite));
    }
    let _ = writeln!(text, "\ncases         {}", estimate.cases);
    let _ = writeln!(text, "target calls  {}", whole(estimate.target_calls));
    let _ = writeln!(text, "judge calls   {}", whole(estimate.judge_calls));
    let _ = writeln!(text, "cost          {}", cost(estimate));
    if let Some((name, common)) = &plan.baseline {
        let tests = if *common == 1 { "test" } else { "tests" };
        let _ = writeln!(text, "baseline      {}, {common} {tests} in common", single_line(name));
    }
    text += &forecast_table("forecast from the baseline's own results", &plan.forecast);
    for arm in &plan.arms {
        text += &forecast_table(&arm_title(arm), &arm.forecasts);
    }
    print_text(&text)?;
    Ok(Exit::Success)
}

fn arm_title(found: &ArmForecast) -> String {
    let ArmForecast { arm, against, tests, known, .. } = found;
    let arms = format!("forecast of `{}` against `{}`", single_line(arm), single_line(against));
    let half = "assuming that tests pass half of the time";
    match known {
        0 => format!("{arms}, without earlier results, {half}"),
        _ if known == tests => format!("{arms}, from earlier results"),
        _ => format!("{arms}, from earlier results of {known} of {tests} tests, otherwise {half}"),
    }
}

/// The chances of each verdict, and what it costs to get it.
fn forecast_table(title: &str, forecast: &[Forecast]) -> String {
    let Some(first) = forecast.first() else {
        return String::new();
    };
    let trials = first.whole.trials.round();
    let mut text = format!("\n{title}: the verdicts of 100 such runs\n");
    let head: String = COLUMNS.iter().map(|(_, word)| format!("{word:>14}")).collect();
    let _ = writeln!(text, "{:<26}{head}{:>10}", "if the true change is", "cost");
    for one in forecast {
        let points = points(-one.drop);
        let truth =
            if one.drop == 0.0 { "no change".to_owned() } else { format!("{points} points") };
        let noun = if trials == 1.0 { "trial" } else { "trials" };
        outlook_line(&mut text, &format!("{truth}, {trials} {noun}"), &one.whole);
        if (2.0..=f64::from(MOST_ROUNDS)).contains(&trials) {
            outlook_line(&mut text, &format!("{truth}, in rounds"), &one.rounds);
        }
    }
    text
}

const COLUMNS: [(ComparisonVerdict, &str); 5] = [
    (ComparisonVerdict::Equivalent, "equivalent"),
    (ComparisonVerdict::Better, "better"),
    (ComparisonVerdict::NotWorse, "not worse"),
    (ComparisonVerdict::Worse, "worse"),
    (ComparisonVerdict::Inconclusive, "inconclusive"),
];

fn outlook_line(text: &mut String, name: &str, outlook: &Outlook) {
    let chances: String = COLUMNS
        .iter()
        .map(|(verdict, _)| format!("{:>14.0}", 100.0 * outlook.chance(*verdict)))
        .collect();
    let cost = outlook.cost.map_or_else(|| "unknown".to_owned(), |cost| format!("${cost:.2}"));
    let _ = writeln!(text, "{name:<26}{chances}{cost:>10}");
}

fn plan_line(suite: &SuiteJob) -> String {
    let cases: Vec<_> = suite.chains.iter().flatten().collect();
    let mut tests: Vec<usize> = cases.iter().map(|case| case.test).collect();
    tests.sort_unstable();
    tests.dedup();
    let targets = single_line(&suite.targets.join(", "));
    let (tests, cases) = (tests.len(), cases.len());
    let test_noun = if tests == 1 { "test" } else { "tests" };
    let case_noun = if cases == 1 { "case" } else { "cases" };
    format!(
        "{}: {tests} {test_noun} on {targets}, {cases} {case_noun}",
        single_line(&suite.suite.name)
    )
}

pub(in crate::command) fn whole(range: EstimateRange) -> String {
    if range.low == range.high {
        format!("{:.0}", range.low)
    } else {
        format!("{:.0} to {:.0}, with retries and repairs", range.low, range.high)
    }
}

pub(in crate::command) fn cost(estimate: &Estimate) -> String {
    let EstimateRange { low, high } = estimate.cost_usd;
    let known = match (low == 0.0, high == 0.0) {
        (true, true) => "nothing".to_owned(),
        _ if low == high => format!("{low:.4} USD"),
        _ => format!("{low:.4} to {high:.4} USD"),
    };
    if estimate.unpriced.is_empty() {
        known
    } else {
        let names: Vec<String> =
            estimate.unpriced.iter().map(|n| format!("`{}`", single_line(n))).collect();
        let known = if high == 0.0 { "unknown".to_owned() } else { format!("{known} and more") };
        let verb = if names.len() == 1 { "has" } else { "have" };
        format!("{known}: {} {verb} no known price", names.join(", "))
    }
}
