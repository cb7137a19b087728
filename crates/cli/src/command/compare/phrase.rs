//! What text and Markdown say alike: why a verdict is what it is, and the result of `--selftest`.

use evalrig_core::compare::{SelfTest, SelfTestMethod, SuiteChange};
use evalrig_core::stats::{between, rate_text};
use evalrig_run::report::comparison::{self as words, points};
use evalrig_run::text::numbers::counted;

use super::Shown;

/// Why the verdict is what it is, unless there was nothing to decide.
pub fn reason(shown: &Shown, suite: &SuiteChange) -> String {
    if shown.is_same {
        return "base and candidate are the same results, so nothing was compared; name two different \
                runs"
            .to_owned();
    }
    words::reason(shown.comparison, suite)
}

/// What was compared: `12 tests, split 1000 times into halves of 2 trials each`.
pub fn method(found: &SelfTest) -> String {
    let tests = counted(found.tests as u64, "test", "tests");
    match found.method {
        SelfTestMethod::Halves { trials } => {
            let trials = (trials * 10.0).round() / 10.0;
            let word = if trials == 1.0 { "trial" } else { "trials" };
            format!(
                "{tests}, one run split {} times into halves of {trials} {word} each",
                found.comparisons
            )
        }
        SelfTestMethod::Runs { runs, .. } => {
            format!("{tests}, each of {runs} runs compared with the others")
        }
    }
}

/// The false alarms, what is known about drift, and the smallest drop.
pub fn selftest(found: &SelfTest) -> Vec<String> {
    let verb = match found.method {
        SelfTestMethod::Halves { .. } => "splits called worse",
        SelfTestMethod::Runs { .. } => "runs called worse",
    };
    let alarms = rate_text(found.alarms, found.comparisons, verb);
    let alarms = if alarms.contains("95 % CI") {
        alarms
    } else {
        format!("{alarms}, {}", between(found.interval))
    };
    let mut lines = vec![format!("false alarms: {alarms}")];
    match found.method {
        SelfTestMethod::Halves { .. } => lines.push(
            "halves of one run cannot show what changes between runs; store several runs to see it"
                .to_owned(),
        ),
        SelfTestMethod::Runs { single: (comparisons, alarms), drift, .. } => {
            lines.push(format!(
                "with one baseline run instead: {alarms} of {comparisons} called worse"
            ));
            lines.push(if drift.factor() > 1.0 {
                format!("runs differ {:.1}× as much as by chance", drift.factor())
            } else {
                "runs differ no more than by chance".to_owned()
            });
        }
    }
    let drop = match found.smallest_drop {
        Some(drop) => format!("{} points", points(drop).trim_start_matches('+')),
        None => "none: even a drop to 0 would be missed".to_owned(),
    };
    let of = match found.method {
        SelfTestMethod::Halves { .. } => "comparisons of two such runs",
        SelfTestMethod::Runs { .. } => "comparisons with these runs",
    };
    lines.push(format!("smallest drop caught in 9 of 10 {of}: {drop}"));
    lines
}
