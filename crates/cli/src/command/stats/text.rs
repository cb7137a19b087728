//! The noise of stored runs as text.

use std::fmt::Write as _;

use evalrig_core::stats::StandardError;
use evalrig_run::session::{DollarChoice, NoiseReport, TestName};
use evalrig_run::text::paint::{Paint, Tone};
use evalrig_run::text::{self, numbers, wrap};

use crate::args::MeasureOption;

const LABEL: usize = 12;

pub(super) fn report(found: &NoiseReport, measure: MeasureOption, paint: &Paint) -> String {
    let page = NoisePage { found, measure, paint };
    let mut out = String::new();
    page.size(&mut out);
    page.noise(&mut out);
    page.choices(&mut out);
    page.unvarying(&mut out);
    page.largest("slowest", &found.slowest, &|ms| numbers::duration(ms as u64), &mut out);
    page.largest("dearest", &found.dearest, &numbers::money, &mut out);
    for gap in &found.gaps {
        page.fact("incomplete", gap, &mut out);
    }
    out
}

struct NoisePage<'a> {
    found: &'a NoiseReport,
    measure: MeasureOption,
    paint: &'a Paint,
}

impl NoisePage<'_> {
    fn fact(&self, label: &str, said: &str, out: &mut String) {
        let room = self.paint.columns().saturating_sub(LABEL);
        for (at, line) in self.paint.wrap(&text::line(said, 500), room).iter().enumerate() {
            let label = if at == 0 { label } else { "" };
            let label = self.paint.tone(Tone::Faint, &format!("{label:LABEL$}"));
            let _ = writeln!(out, "{label}{line}");
        }
    }

    fn size(&self, out: &mut String) {
        let found = self.found;
        let mut said = format!(
            "{}, {}, {}",
            numbers::counted(found.runs, "run", "runs"),
            numbers::counted(found.tests, "test", "tests"),
            numbers::counted(found.cases, "measured case", "measured cases"),
        );
        if found.unmeasured > 0 {
            let count = numbers::counted(found.unmeasured, "case", "cases");
            said += &format!("; {count} could not be measured");
        }
        self.fact("size", &said, out);
        if found.older.tests > 0 {
            let said = format!(
                "{} of {} are left out, from before the test was edited",
                numbers::counted(found.older.cases, "measured case", "measured cases"),
                numbers::counted(found.older.tests, "test", "tests"),
            );
            self.fact("", &said, out);
        }
        let of = match self.measure {
            MeasureOption::Pass => "pass rate",
            MeasureOption::Score => "mean score",
        };
        let said = match found.error {
            Some(error) => format!("of the {of}: {}", error_text(error)),
            None => format!("of the {of}: unknown; no test has two trials in one run"),
        };
        self.fact("std error", &said, out);
        out.push('\n');
    }

    /// Standard deviations, and the share of each in the variance of a single case.
    fn noise(&self, out: &mut String) {
        let noise = &self.found.noise;
        // The noise of judges is part of the trials.
        let own = noise.trial.map(|trial| {
            let judge = self.found.judge.unwrap_or(0.0) / self.found.effort.readings;
            (trial - judge).max(0.0)
        });
        let parts = [
            ("tests", noise.test, "variation between tests", "more than one test"),
            ("runs", noise.run, "variation between runs of a test", "several runs with trials"),
            ("trials", own, "variation between trials of a run", "two trials in one run"),
            (
                "judges",
                self.found.judge,
                "variation between readings of an answer; one reading",
                "votes, or answers that were graded again",
            ),
        ];
        let total: f64 = parts.iter().filter_map(|(_, value, ..)| *value).sum();
        let _ = writeln!(out, "{}", self.paint.tone(Tone::Strong, "sources of variance"));
        for (name, value, meaning, needs) in parts {
            let label = self.paint.tone(Tone::Faint, &format!("  {name:10}"));
            let said = match value {
                Some(value) => {
                    let share = if total > 0.0 { value / total * 100.0 } else { 0.0 };
                    format!("±{:.2}  {share:>3.0} %  {meaning}", value.sqrt())
                }
                None => format!("unknown; needs {needs}"),
            };
            let _ = writeln!(out, "{label}{}", self.paint.text(&said));
        }
        out.push('\n');
    }

    fn choices(&self, out: &mut String) {
        let Some(now) = self.found.error else { return };
        let title = "what one more dollar would buy (standard error in points)";
        let _ = writeln!(out, "{}", self.paint.tone(Tone::Strong, title));
        for choice in &self.found.choices {
            self.fact(&format!("  {}", choice.what), &choice_text(choice, now), out);
        }
        out.push('\n');
    }

    fn unvarying(&self, out: &mut String) {
        let found = self.found;
        if found.repeated == 0 {
            return;
        }
        let same = found.always_count + found.never_count;
        let said = format!(
            "{} of {} had the same outcome in every trial: {} passed, {} did not",
            numbers::count(same),
            numbers::counted(found.repeated, "test", "tests"),
            numbers::count(found.always_count),
            numbers::count(found.never_count),
        );
        self.fact("unvarying", &said, out);
        if found.never_count > 0 {
            self.fact(
                "",
                &format!("never passed: {}", self.names(&found.never, found.never_count)),
                out,
            );
        }
        if same > 0 {
            let keep = "keep tests that always pass; they catch regressions";
            self.fact("", keep, out);
        }
    }

    fn names(&self, named: &[TestName], count: u64) -> String {
        let mut names: Vec<String> = named.iter().map(|name| self.name(name)).collect();
        if let more @ 1.. = count.saturating_sub(named.len() as u64) {
            names.push(format!("and {} more", numbers::count(more)));
        }
        names.join(", ")
    }

    fn name(&self, name: &TestName) -> String {
        let all = self.found.slowest.iter().chain(&self.found.dearest).map(|(name, _)| name);
        let all = || all.clone().chain(&self.found.never).chain(&self.found.always);
        let mut said = text::line(&name.test, 60);
        if all().any(|other| other.suite != name.suite) {
            said = format!("{}/{said}", text::line(&name.suite, 40));
        }
        if all().any(|other| other.target != name.target) {
            said += &format!(" @{}", text::line(&name.target, 40));
        }
        said
    }

    fn largest(
        &self,
        label: &str,
        tests: &[(TestName, f64)],
        shown: &dyn Fn(f64) -> String,
        out: &mut String,
    ) {
        let names: Vec<String> = tests.iter().map(|(name, _)| self.name(name)).collect();
        let widest = names.iter().map(|name| wrap::width(name)).max().unwrap_or(0);
        for (at, (name, (_, value))) in names.iter().zip(tests).enumerate() {
            let label = if at == 0 { label } else { "" };
            let label = self.paint.tone(Tone::Faint, &format!("{label:LABEL$}"));
            let pad = widest - wrap::width(name);
            let _ = writeln!(out, "{label}{}{:pad$}  {}", self.paint.text(name), "", shown(*value));
        }
    }
}

/// `±4.1 points for these tests, ±7.9 for tests like these`
fn error_text(error: StandardError) -> String {
    let such = error.such_tests;
    let such = such.map(|such| format!(", ±{:.1} for tests like these", such * 100.0));
    format!("±{:.1} points for these tests{}", error.these_tests * 100.0, such.unwrap_or_default())
}

fn choice_text(choice: &DollarChoice, now: StandardError) -> String {
    let Some(unit) = choice.unit_usd else {
        return "unknown: the cost is not reported".to_owned();
    };
    let one = match choice.what {
        "trials" => "a trial of one test costs",
        "tests" => "one more test, measured as often as the others, costs",
        _ => "one more reading of one answer costs",
    };
    let one = format!("{one} {}", numbers::money(unit));
    let Some(after) = choice.after else {
        return format!("unknown: readings of one answer were not compared; {one}");
    };
    let change = |now: f64, after: f64| {
        let (now, after) = (now * 100.0, after * 100.0);
        if (now - after).abs() < 0.005 {
            format!("±{now:.2} as before")
        } else {
            format!("±{now:.2} → ±{after:.2}")
        }
    };
    let such = now.such_tests.zip(after.such_tests);
    let such = such.map(|(now, after)| format!(", tests like these {}", change(now, after)));
    format!(
        "these tests {}{}; {one}",
        change(now.these_tests, after.these_tests),
        such.unwrap_or_default(),
    )
}
