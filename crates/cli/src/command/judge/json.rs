//! What is known of judges, as JSON.

use evalrig_core::judge_check::{FEWEST_LABELS, JudgeFinding, LabelShare, RunRate};
use evalrig_core::stats::Interval;
use evalrig_run::session::JudgeCheckFinding;
use evalrig_run::text::numbers::rounded;
use serde_json::{Value, json};

pub(super) fn finding(found: &JudgeCheckFinding, runs: &[String]) -> String {
    let stale = found.labels.stale.iter().map(
        |label| json!({"suite": label.suite, "test": label.test, "answerHash": label.answer_hash}),
    );
    let mut value = json!({
        "schemaVersion": 1,
        "results": runs,
        "labels": {
            "file": found.labels_file.as_str(),
            "used": found.labels.used,
            "disputed": found.labels.disputed,
            "elsewhere": found.labels.elsewhere,
            "stale": stale.collect::<Vec<_>>(),
            "needed": FEWEST_LABELS,
        },
        "judges": found.judges.iter().map(judge).collect::<Vec<_>>(),
        "rates": found.rates.iter().map(|one| rate(one, runs)).collect::<Vec<_>>(),
        "difference": found.difference.map(|(difference, interval)| estimate(difference, interval)),
        "judgeUsage": {
            "calls": found.cost.calls,
            "cases": found.judged_cases,
            "input": found.cost.input.whole(),
            "output": found.cost.output.whole(),
            "costUsd": found.cost.cost.whole().map(rounded),
        },
    });
    for (key, texts) in [("damagedLabels", &found.damaged), ("incomplete", &found.gaps)] {
        if !texts.is_empty() {
            value[key] = json!(texts);
        }
    }
    format!("{value:#}\n")
}

/// What takes more labels is null.
fn judge(judge: &JudgeFinding) -> Value {
    let labelled = |share: &LabelShare| judge.has_enough_labels().then(|| self::share(share));
    let repeats = &judge.repeats;
    let length = judge.length.filter(|_| judge.has_enough_labels());
    json!({
        "suite": judge.judge.suite,
        "assertion": judge.judge.assertion,
        "item": judge.judge.item,
        "judged": judge.judged,
        "unmeasured": judge.unmeasured,
        "labels": judge.labels,
        "labelsAreOfWholeAnswer": judge.has_whole_labels,
        "agreement": labelled(&judge.agreement),
        "sensitivity": labelled(&judge.sensitivity),
        "specificity": labelled(&judge.specificity),
        "repeats": {
            "answers": repeats.answers,
            "readings": repeats.readings,
            "disputed": repeats.disputed,
            "flipRate": repeats.flip_rate.map(|(rate, interval)| estimate(rate, interval)),
        },
        "voteOrder": repeats.order.map(|order| json!({
            "answers": order.answers,
            "firstLessOthers": rounded(order.difference),
            "p": rounded(order.p),
        })),
        "itemOrder": Value::Null,
        "length": length.map(|effect| json!({
            "cases": effect.cases,
            "longerPasses": rounded(effect.longer_passes),
            "p": rounded(effect.p),
        })),
    })
}

fn share(share: &LabelShare) -> Value {
    json!({
        "hits": share.hits,
        "of": share.of,
        "rate": share.share().map(rounded),
        "low": share.interval.map(|interval| rounded(interval.low)),
        "high": share.interval.map(|interval| rounded(interval.high)),
    })
}

fn estimate(value: f64, interval: Interval) -> Value {
    json!({
        "value": rounded(value),
        "low": rounded(interval.low),
        "high": rounded(interval.high),
    })
}

fn rate(rate: &RunRate, runs: &[String]) -> Value {
    json!({
        "results": runs.get(rate.run),
        "passes": rate.passes,
        "judged": rate.judged,
        "rate": (rate.judged > 0).then(|| rounded(rate.passes as f64 / rate.judged as f64)),
        "low": rate.interval.map(|interval| rounded(interval.low)),
        "high": rate.interval.map(|interval| rounded(interval.high)),
        "labels": rate.labels,
        "corrected": rate.corrected.as_ref().map(|one| {
            let mut found = estimate(one.rate, one.interval);
            found["judgeWeight"] = json!(rounded(one.weight));
            found
        }),
    })
}
