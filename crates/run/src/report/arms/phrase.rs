//! Arms in words, for terminals and Markdown.

use evalrig_core::compare::ComparisonVerdict;
use evalrig_core::model::Outcome;

use super::super::comparison;
use super::{ArmFinding, SkillMatrix};
use crate::results::PartialSum;
use crate::text::{numbers, paint::outcome_phrase};

/// `17 of 20 passed (85 %, …), 1 errored`.
pub fn counts(arm: &ArmFinding) -> String {
    let mut parts = Vec::new();
    if arm.counts.judged() > 0 {
        let passed = arm.counts.of(Outcome::Passed);
        parts.push(numbers::share(passed, arm.counts.judged(), arm.shown_interval));
    } else {
        parts.push("no verdict".to_owned());
    }
    for outcome in [Outcome::Errored, Outcome::Skipped] {
        if let n @ 1.. = arm.counts.of(outcome) {
            parts.push(format!("{} {}", numbers::count(n), outcome_phrase(outcome)));
        }
    }
    parts.join(", ")
}

/// `$0.0150, 4,210 tokens, 12 s per case`. What is unknown is left out.
pub fn usage(arm: &ArmFinding) -> Option<String> {
    let found = &arm.usage;
    let mean = |sum: &PartialSum| {
        let known = sum.whole().filter(|_| sum.reported > 0)?;
        Some(known / sum.reported as f64)
    };
    let judges = if found.has_judges { " with judges" } else { "" };
    let cost = mean(&found.cost).filter(|cost| *cost > 0.0);
    let cost = cost.map(|cost| format!("{}{judges}", numbers::money(cost)));
    let tokens = mean(&found.tokens).filter(|tokens| *tokens > 0.0);
    let tokens = tokens.map(|tokens| format!("{} tokens", numbers::count(tokens.round() as u64)));
    let time = mean(&found.duration_ms).filter(|ms| *ms > numbers::SHORT);
    let time = time.map(|ms| numbers::duration(ms.round() as u64));
    let parts: Vec<String> = [cost, tokens, time].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("{} per case", parts.join(", ")))
}

/// `better: +26 points (95 % CI +12 to +38), p < 0.001, 20 tests`.
pub fn contrast(arm: &ArmFinding) -> Option<String> {
    let found = arm.contrast.as_ref()?;
    let Some(suite) = &found.suite else {
        return Some("no test was measured in both arms".to_owned());
    };
    let judged = &suite.judged;
    let verdict = match judged.verdict {
        // The word alone sounds like a result.
        ComparisonVerdict::Inconclusive => "inconclusive, more trials are needed",
        verdict => verdict.word(),
    };
    Some(format!(
        "{verdict}: {} points (95 % CI {} to {}), {}, {}",
        comparison::points(judged.delta),
        comparison::points(judged.interval.low),
        comparison::points(judged.interval.high),
        comparison::chance(judged.p),
        numbers::counted(suite.tests as u64, "test", "tests"),
    ))
}

/// As [`contrast`], with the name of the baseline arm where arms have different ones.
pub fn contrast_in_table(arm: &ArmFinding, arms: &[ArmFinding]) -> Option<String> {
    let text = contrast(arm)?;
    let others = arms.iter().filter(|other| other.contrast.is_some());
    let is_one = others.map(|other| &other.bases).all(|bases| *bases == arm.bases);
    Some(if is_one { text } else { format!("against {}: {text}", arm.bases.join(", ")) })
}

/// `4 of 5 cases that want no skill pass`.
pub fn contracts(arm: &ArmFinding) -> Option<String> {
    let (kept, all) = arm.kept_contracts();
    (all > 0).then(|| {
        let [kept, all] = [kept, all].map(numbers::count);
        format!("{kept} of {all} cases that want no skill pass")
    })
}

/// Which skills take the place of others.
pub fn skill_lines(skills: &SkillMatrix) -> Vec<String> {
    if !skills.is_shown() {
        return Vec::new();
    }
    let mut lines: Vec<String> = skills
        .rows()
        .iter()
        .filter_map(|(wanted, of)| {
            let name = (*wanted)?;
            let used = skills.cell(*wanted, *wanted).count;
            let [used, of] = [used, *of].map(numbers::count);
            Some(format!("`{name}` is used in {used} of {of} cases that want it"))
        })
        .collect();
    for cell in skills.steals() {
        let Some(used) = cell.used else { continue };
        let [count, of] = [cell.count, cell.of].map(numbers::count);
        lines.push(match cell.wanted {
            Some(wanted) => {
                format!("`{used}` is used in place of `{wanted}` in {count} of {of} cases")
            }
            None => format!("`{used}` is used in {count} of {of} cases that want no skill"),
        });
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::testing::{arm_row, findings, skill_row};
    use super::*;
    use crate::results::JudgeUsage;

    #[test]
    fn an_arm_says_what_it_costs_as_far_as_that_is_known() {
        let mut rows = vec![
            arm_row("with", "a", 1, Outcome::Passed),
            arm_row("without", "a", 1, Outcome::Failed),
        ];
        rows[0].duration_ms = Some(2000);
        let found = findings(&rows);
        assert_eq!(usage(&found[1]).unwrap(), "$0.0020, 1,550 tokens, 2.0 s per case");
        assert!(counts(&found[0]).starts_with("0 of 1 passed"), "{}", counts(&found[0]));
        rows[0].judge_usage =
            Some(JudgeUsage { calls: 1, cost_usd: Some(0.001), ..JudgeUsage::default() });
        assert!(usage(&findings(&rows)[1]).unwrap().starts_with("$0.0030 with judges, 1,550 "));
        rows[0].judge_usage = None;
        rows[0].cost_usd = None;
        assert_eq!(usage(&findings(&rows)[1]).unwrap(), "1,550 tokens, 2.0 s per case");
    }

    #[test]
    fn too_few_tests_do_not_look_like_a_result() {
        let rows =
            [arm_row("with", "a", 1, Outcome::Passed), arm_row("without", "a", 1, Outcome::Failed)];
        let text = contrast(&findings(&rows)[1]).unwrap();
        assert!(text.starts_with("inconclusive, more trials are needed: +100 points"), "{text}");
        assert!(text.ends_with(", 1 test"), "{text}");
    }

    #[test]
    fn thefts_are_told_with_their_share() {
        let rows = [
            skill_row("a", &["csv"], &["csv-pro"]),
            skill_row("b", &["csv"], &["csv"]),
            skill_row("c", &[], &["git"]),
            arm_row("without", "a", 1, Outcome::Passed),
        ];
        let found = findings(&rows);
        assert_eq!(
            skill_lines(&found[1].skills),
            [
                "`csv` is used in 1 of 2 cases that want it",
                "`git` is used in 1 of 1 cases that want no skill",
                "`csv-pro` is used in place of `csv` in 1 of 2 cases",
            ]
        );
        assert_eq!(skill_lines(&found[0].skills), Vec::<String>::new());
    }
}
