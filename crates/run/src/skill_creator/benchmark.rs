//! `benchmark.json` and `benchmark.md`: what the runs of each configuration have in common.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::configuration::rank;
use super::documents::{Benchmark, BenchmarkMetadata, BenchmarkRun, rounded};

/// A figure of a configuration over its runs.
#[derive(Debug, Clone, Copy, PartialEq)]
struct FigureStats {
    mean: f64,
    stddev: f64,
    min: f64,
    max: f64,
}

impl FigureStats {
    /// `None` unless every run has the figure: an average of some would look like one of all.
    fn of(values: impl Iterator<Item = Option<f64>>) -> Option<Self> {
        let values: Vec<f64> = values.collect::<Option<_>>()?;
        let (first, count) = (*values.first()?, values.len() as f64);
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let stddev = if values.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 };
        Some(Self {
            mean,
            stddev,
            min: values.iter().copied().fold(first, f64::min),
            max: values.iter().copied().fold(first, f64::max),
        })
    }

    fn to_json(self) -> Value {
        json!({
            "mean": rounded(self.mean),
            "stddev": rounded(self.stddev),
            "min": rounded(self.min),
            "max": rounded(self.max),
        })
    }
}

/// The figures of one configuration.
#[derive(Debug, Clone)]
struct ConfigurationStats {
    name: String,
    runs: usize,
    pass_rate: Option<FigureStats>,
    time_seconds: Option<FigureStats>,
    tokens: Option<FigureStats>,
}

impl ConfigurationStats {
    fn of(name: &str, all: &[BenchmarkRun]) -> Self {
        let runs = || all.iter().filter(|run| run.configuration == name).map(|run| &run.result);
        Self {
            name: name.to_owned(),
            runs: runs().count(),
            pass_rate: FigureStats::of(runs().map(|run| Some(run.pass_rate))),
            time_seconds: FigureStats::of(runs().map(|run| run.time_seconds)),
            tokens: FigureStats::of(runs().map(|run| run.tokens.map(|tokens| tokens as f64))),
        }
    }

    fn figures(&self) -> [(&'static str, Option<FigureStats>); 3] {
        [
            ("pass_rate", self.pass_rate),
            ("time_seconds", self.time_seconds),
            ("tokens", self.tokens),
        ]
    }
}

/// The benchmark of one suite, and its page.
pub(super) fn benchmark_files(
    metadata: BenchmarkMetadata,
    mut runs: Vec<BenchmarkRun>,
    notes: Vec<String>,
) -> (Benchmark, String) {
    runs.sort_by(|one, other| {
        let key = |run: &BenchmarkRun| {
            (run.eval_id, rank(&run.configuration), run.configuration.clone(), run.run_number)
        };
        key(one).cmp(&key(other))
    });
    let mut names: Vec<&str> = runs.iter().map(|run| run.configuration.as_str()).collect();
    names.sort_by_key(|name| (rank(name), *name));
    names.dedup();
    let stats: Vec<ConfigurationStats> =
        names.iter().map(|name| ConfigurationStats::of(name, &runs)).collect();
    let mut run_summary = Map::new();
    for one in &stats {
        let figures = one.figures().into_iter();
        let figures = figures.filter_map(|(key, stats)| Some((key.to_owned(), stats?.to_json())));
        run_summary.insert(one.name.clone(), Value::Object(figures.collect()));
    }
    if let [first, second, ..] = &stats[..] {
        run_summary.insert("delta".to_owned(), delta(first, second));
    }
    let page = page(&metadata, &stats, &notes);
    (Benchmark { metadata, runs, run_summary, notes }, page)
}

/// First minus second, as texts with a sign.
fn delta(first: &ConfigurationStats, second: &ConfigurationStats) -> Value {
    let differences = first.figures().into_iter().zip(second.figures());
    let texts = differences.filter_map(|((key, first), (_, second))| {
        let difference = first?.mean - second?.mean;
        Some((key.to_owned(), Value::String(signed(key, difference))))
    });
    Value::Object(texts.collect())
}

fn signed(key: &str, difference: f64) -> String {
    match key {
        "pass_rate" => format!("{difference:+.2}"),
        "time_seconds" => format!("{difference:+.1}"),
        _ => format!("{difference:+.0}"),
    }
}

fn page(metadata: &BenchmarkMetadata, stats: &[ConfigurationStats], notes: &[String]) -> String {
    let mut text = format!("# Skill Benchmark: {}\n\n", metadata.skill_name);
    if let Some(model) = &metadata.executor_model {
        let _ = writeln!(text, "**Model**: {model}  ");
    }
    let ids: Vec<String> = metadata.evals_run.iter().map(u64::to_string).collect();
    let _ = writeln!(text, "**Date**: {}  \n**Evals**: {}\n", metadata.timestamp, ids.join(", "));
    text.push_str("## Summary\n\n| Configuration | Runs | Pass rate | Time (s) | Tokens |\n");
    text.push_str("|---|---|---|---|---|\n");
    let shown = |figure: Option<FigureStats>, factor: f64, digits: usize, unit: &str| match figure {
        Some(FigureStats { mean, stddev, .. }) => {
            let (mean, stddev) = (mean * factor, stddev * factor);
            format!("{mean:.digits$}{unit} ± {stddev:.digits$}{unit}")
        }
        None => "unknown".to_owned(),
    };
    for one in stats {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} |",
            cell(&one.name),
            one.runs,
            shown(one.pass_rate, 100.0, 0, "%"),
            shown(one.time_seconds, 1.0, 1, ""),
            shown(one.tokens, 1.0, 0, "")
        );
    }
    if let [first, second, ..] = stats {
        let delta = delta(first, second);
        let part = |key: &str| delta[key].as_str().unwrap_or("unknown").to_owned();
        let _ = writeln!(
            text,
            "| **{} − {}** | | {} | {} | {} |",
            cell(&first.name),
            cell(&second.name),
            part("pass_rate"),
            part("time_seconds"),
            part("tokens")
        );
    }
    if !notes.is_empty() {
        text.push_str("\n## Notes\n\n");
        for note in notes {
            let _ = writeln!(text, "- {}", note.replace(['\n', '\r'], " "));
        }
    }
    text
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::super::documents::RunFigures;
    use super::*;

    fn run(configuration: &str, passed: usize, seconds: Option<f64>) -> BenchmarkRun {
        BenchmarkRun {
            eval_id: 1,
            eval_name: "a".to_owned(),
            configuration: configuration.to_owned(),
            run_number: 1,
            result: RunFigures {
                pass_rate: passed as f64 / 2.0,
                passed,
                failed: 2 - passed,
                total: 2,
                time_seconds: seconds,
                tokens: None,
                tool_calls: None,
                errors: 0,
            },
            expectations: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn metadata() -> BenchmarkMetadata {
        BenchmarkMetadata {
            skill_name: "csv".to_owned(),
            executor_model: None,
            timestamp: "2026-01-02T03:04:05Z".to_owned(),
            evals_run: vec![1],
            runs_per_configuration: 2,
        }
    }

    #[test]
    fn the_skill_is_compared_with_its_absence() {
        let runs = vec![
            run("without_skill", 0, Some(10.0)),
            run("with_skill", 2, Some(20.0)),
            run("with_skill", 1, Some(22.0)),
        ];
        let (made, page) = benchmark_files(metadata(), runs, vec!["one\nnote".to_owned()]);
        let keys: Vec<&String> = made.run_summary.keys().collect();
        assert_eq!(keys, ["with_skill", "without_skill", "delta"]);
        assert_eq!(
            made.run_summary["with_skill"]["pass_rate"],
            json!({"mean": 0.75, "stddev": 0.3536, "min": 0.5, "max": 1.0})
        );
        assert_eq!(
            made.run_summary["delta"],
            json!({"pass_rate": "+0.75", "time_seconds": "+11.0"})
        );
        assert!(page.contains("| with_skill | 2 | 75% ± 35% | 21.0 ± 1.4 | unknown |"), "{page}");
        assert!(page.contains("- one note"), "{page}");
    }

    #[test]
    fn a_figure_that_some_runs_lack_is_unknown() {
        let runs = vec![run("claude", 1, Some(1.0)), run("claude", 1, None)];
        let (made, _) = benchmark_files(metadata(), runs, Vec::new());
        assert_eq!(made.run_summary["claude"].get("time_seconds"), None);
        assert_eq!(made.run_summary.get("delta"), None);
    }
}
