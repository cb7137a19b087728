//! What is known of judges, as text.

use std::fmt::Write as _;

use evalrig_core::judge_check::{FEWEST_LABELS, JudgeFinding, LabelShare, RunRate};
use evalrig_core::stats::{between, share_percent};
use evalrig_run::report::Detail;
use evalrig_run::session::{JudgeCheckFinding, LabelCounts};
use evalrig_run::text::{self, numbers};

/// Stale labels that are named.
const NAMED: usize = 5;
/// Below this, an effect is more than chance.
const CHANCE: f64 = 0.05;

pub(super) fn finding(found: &JudgeCheckFinding, runs: &[String], detail: Detail) -> String {
    let mut out = String::new();
    push_labels(found, &mut out);
    for text in found.damaged.iter().chain(&found.gaps) {
        fact("incomplete", text, &mut out);
    }
    for judge in &found.judges {
        let is_item = judge.judge.item.is_some();
        if detail == Detail::Quiet || is_item && detail == Detail::Normal && !is_telling(judge) {
            continue;
        }
        push_judge(judge, &mut out);
    }
    out.push('\n');
    for rate in &found.rates {
        push_rate(rate, runs, &mut out);
    }
    if let Some((difference, interval)) = found.difference {
        let text = format!(
            "{} points, 95 % CI {} to {}, the second run less the first",
            points(difference),
            points(interval.low),
            points(interval.high)
        );
        fact("corrected", &text, &mut out);
    }
    fact("judges", &cost(found), &mut out);
    out
}

fn fact(label: &str, text: &str, out: &mut String) {
    let _ = writeln!(out, "{label:<12}{}", text::single_line(text));
}

fn detail_line(label: &str, text: &str, out: &mut String) {
    let _ = writeln!(out, "  {label:<14}{}", text::single_line(text));
}

/// Items without labels and without repeated readings have nothing to say.
fn is_telling(judge: &JudgeFinding) -> bool {
    judge.labels > 0 || judge.repeats.disputed > 0
}

fn push_labels(found: &JudgeCheckFinding, out: &mut String) {
    let LabelCounts { used, disputed, stale, elsewhere } = &found.labels;
    let mut parts = vec![format!("{used} for these answers")];
    let mut add = |count: usize, what: &str| {
        if count > 0 {
            parts.push(format!("{count} {what}"));
        }
    };
    add(*disputed, "disputed");
    add(stale.len(), "stale");
    add(*elsewhere, "for other tests");
    fact("labels", &format!("{}: {}", found.labels_file, parts.join(", ")), out);
    let names: Vec<String> = stale
        .iter()
        .take(NAMED)
        .map(|label| format!("{} ({})", label.test, label.answer_hash))
        .collect();
    if !names.is_empty() {
        let more = stale.len() - names.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        fact("stale", &format!("{}{more}; the answers have changed since", names.join(", ")), out);
    }
}

fn push_judge(judge: &JudgeFinding, out: &mut String) {
    let name = &judge.judge;
    let title = match (&name.assertion, &name.item) {
        (None, _) => format!("verdict of {}", name.suite),
        (Some(assertion), None) => format!("{} › {assertion}", name.suite),
        (Some(assertion), Some(item)) => format!("{} › {assertion} › {item}", name.suite),
    };
    let _ = writeln!(out, "\n{}", text::line(&title, 200));
    if judge.has_enough_labels() {
        let whole = if judge.has_whole_labels { "; labels are about the whole answer" } else { "" };
        detail_line("agreement", &format!("{}{whole}", share(&judge.agreement)), out);
        let pass = format!("passes answers labelled right: {}", share(&judge.sensitivity));
        detail_line("sensitivity", &pass, out);
        let fail = format!("fails answers labelled wrong: {}", share(&judge.specificity));
        detail_line("specificity", &fail, out);
    } else {
        detail_line("agreement", &too_few(judge.labels), out);
    }
    detail_line("repeats", &repeats(judge), out);
    detail_line("order", &order(judge), out);
    detail_line("length", &length(judge), out);
}

fn too_few(labels: usize) -> String {
    let missing = FEWEST_LABELS - labels;
    format!(
        "not enough data: {labels} of {FEWEST_LABELS} labelled answers; label {missing} more with \
         `evalrig view`"
    )
}

fn share(share: &LabelShare) -> String {
    match share.interval {
        Some(interval) => format!(
            "{} of {} {}",
            share.hits,
            share.of,
            numbers::interval_text(share.hits, share.of, interval)
        ),
        None => "not enough data, no such label".to_owned(),
    }
}

fn repeats(judge: &JudgeFinding) -> String {
    let repeats = &judge.repeats;
    let Some((rate, interval)) = repeats.flip_rate else {
        return "not enough data: no answer has two readings; use `votes`, or `--readings 3`"
            .to_owned();
    };
    format!(
        "readings differ on {} of {}; two readings of an answer differ in {} % ({})",
        repeats.disputed,
        numbers::counted(repeats.answers, "answer", "answers"),
        share_percent(rate),
        between(interval)
    )
}

/// Items always have the same places, so only votes have an order that can be looked at.
fn order(judge: &JudgeFinding) -> String {
    let votes = match judge.repeats.order {
        None => "of votes: not enough data, no votes differ".to_owned(),
        Some(order) => {
            let chance = if order.p < CHANCE { "more than chance" } else { "no more than chance" };
            let more = if order.difference < 0.0 { "less" } else { "more" };
            format!(
                "of votes: the first passes {:.0} points {more} often than the others, {chance} ({})",
                (order.difference * 100.0).abs(),
                probability(order.p)
            )
        }
    };
    match judge.judge.item {
        Some(_) => format!("{votes}; of items: unknown, their order never varies"),
        None => votes,
    }
}

fn length(judge: &JudgeFinding) -> String {
    let Some(effect) = judge.length.filter(|_| judge.has_enough_labels()) else {
        return if judge.has_enough_labels() {
            "not enough data: answers with the same label have the same verdict".to_owned()
        } else {
            "not enough data: too few labels".to_owned()
        };
    };
    let chance = if effect.p < CHANCE { "more than chance" } else { "no more than chance" };
    format!(
        "of two answers with the same label, the longer one passes in {} %, {chance} ({}, {} cases)",
        share_percent(effect.longer_passes),
        probability(effect.p),
        effect.cases
    )
}

fn push_rate(rate: &RunRate, runs: &[String], out: &mut String) {
    let run = match runs {
        [_] => String::new(),
        _ => format!("{}: ", runs.get(rate.run).map_or("", String::as_str)),
    };
    let raw = numbers::share(rate.passes, rate.judged, rate.interval);
    fact("judged", &format!("{run}{raw}"), out);
    let corrected = match &rate.corrected {
        Some(corrected) => format!(
            "{run}{} % ({}), from {} labelled cases",
            share_percent(corrected.rate),
            between(corrected.interval),
            corrected.labels
        ),
        None if rate.labels < FEWEST_LABELS => {
            format!("{run}not enough data: {} of {FEWEST_LABELS} labelled cases", rate.labels)
        }
        None => format!("{run}not enough data: only one test has labels"),
    };
    fact("corrected", &corrected, out);
}

fn cost(found: &JudgeCheckFinding) -> String {
    let calls = numbers::counted(found.cost.calls, "call", "calls");
    let cases = numbers::counted(found.judged_cases, "case", "cases");
    match found.cost.cost.whole() {
        Some(cost) => format!("{calls} for {cases}, {}", numbers::money(cost)),
        None => format!("{calls} for {cases}, cost unknown"),
    }
}

/// `+12`, `−3`.
fn points(difference: f64) -> String {
    let rounded = (difference * 100.0).round();
    if rounded < 0.0 { format!("−{:.0}", -rounded) } else { format!("+{:.0}", rounded + 0.0) }
}

fn probability(p: f64) -> String {
    if p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p:.3}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probability_has_one_relation() {
        assert_eq!(probability(0.000_2), "p < 0.001");
        assert_eq!(probability(0.012_3), "p = 0.012");
    }
}
