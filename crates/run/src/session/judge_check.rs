//! `judge check`: judges against labels, from stored rows. Only readings that are asked for call a judge.

use camino::Utf8PathBuf;
use evalrig_core::judge_check::{JudgeFinding, JudgedAnswer, RunRate, check_judges, run_rates};
use evalrig_core::stats::Interval;

use crate::results::{JudgeTotals, Labels, Rows, RunTotals};

use super::error::SessionError;
use super::judged_rows::{LabelCounts, LabelIndex, judged_answer};
use super::resume::root_of_results;
use super::spec::LoadOptions;

/// Seed of the permutations, so that the same rows give the same numbers.
const SEED: u64 = 21;

/// What is checked.
#[derive(Debug, Clone)]
pub struct JudgeCheckSpec {
    pub loading: LoadOptions,
    /// The results files of each run, absolute.
    pub runs: Vec<Vec<Utf8PathBuf>>,
    /// Of each run, results of the same answers, graded again only to see whether the judge changes its
    /// mind. Two runs have the same cases.
    pub rereadings: Vec<Vec<Utf8PathBuf>>,
    /// A file with labels, absolute; `None`: that of the repository.
    pub labels: Option<Utf8PathBuf>,
}

/// What is known of the judges.
#[derive(Debug)]
pub struct JudgeCheckFinding {
    /// The file with the labels, as it is shown.
    pub labels_file: Utf8PathBuf,
    pub labels: LabelCounts,
    /// Faults of lines with labels, and what the results lack.
    pub damaged: Vec<String>,
    pub gaps: Vec<String>,
    pub judges: Vec<JudgeFinding>,
    pub rates: Vec<RunRate>,
    /// Between two runs, of the corrected rates.
    pub difference: Option<(f64, Interval)>,
    /// Of the runs, without readings that were asked for now.
    pub cost: JudgeTotals,
    /// Cases whose judges were asked.
    pub judged_cases: u64,
}

pub fn check_stored_judges(spec: &JudgeCheckSpec) -> Result<JudgeCheckFinding, SessionError> {
    let (labels_file, labels) = read_labels(spec)?;
    let mut index = LabelIndex::of(&labels);
    let mut stored = StoredAnswers::default();
    for (run, files) in spec.runs.iter().enumerate() {
        stored.read(spec, files, (run, false), &mut index)?;
    }
    for (run, files) in spec.rereadings.iter().enumerate() {
        stored.read(spec, files, (run, true), &mut index)?;
    }
    let is_judged = |answer: &JudgedAnswer| answer.judges.len() > 1;
    if !stored.answers.iter().any(is_judged) {
        let text = "no answer in the results was graded by `rubrics` or `llm-judge`";
        // The answers may be in what is missing.
        return Err(if stored.gaps.is_empty() {
            SessionError::NoRow(text.to_owned())
        } else {
            SessionError::Incomplete(format!("{text}: {}", stored.gaps.join("; ")))
        });
    }
    let own: Vec<JudgedAnswer> =
        stored.answers.iter().filter(|answer| !answer.is_reread).cloned().collect();
    let counts = index.counts(&own);
    let (rates, difference) = run_rates(&own);
    let shown = |line: &crate::results::DamagedLine| {
        format!("{}:{}: {}", spec.loading.shown(&line.file), line.line, line.reason)
    };
    Ok(JudgeCheckFinding {
        damaged: labels.damaged().iter().map(shown).collect(),
        labels_file,
        labels: counts,
        gaps: stored.gaps,
        judges: check_judges(&stored.answers, SEED),
        rates,
        difference,
        cost: stored.totals.judges,
        judged_cases: stored.judged_cases,
    })
}

fn read_labels(spec: &JudgeCheckSpec) -> Result<(Utf8PathBuf, Labels), SessionError> {
    if let Some(path) = &spec.labels {
        let shown = spec.loading.shown(path);
        let labels = Labels::open(path).map_err(|error| error.renamed(&shown))?;
        return Ok((shown, labels));
    }
    let first = spec.runs.iter().flatten().next();
    let root = match first {
        Some(first) => root_of_results(&spec.loading, first),
        None => spec.loading.working_directory.clone(),
    };
    Ok((spec.loading.shown(&Labels::path(&root)), Labels::read(&root)?))
}

#[derive(Default)]
struct StoredAnswers {
    answers: Vec<JudgedAnswer>,
    gaps: Vec<String>,
    totals: RunTotals,
    judged_cases: u64,
}

impl StoredAnswers {
    fn read(
        &mut self,
        spec: &JudgeCheckSpec,
        files: &[Utf8PathBuf],
        (run, is_reread): (usize, bool),
        labels: &mut LabelIndex<'_>,
    ) -> Result<(), SessionError> {
        let mut rows = Rows::open_all(files)?;
        for row in rows.by_ref() {
            let row = row?;
            if !is_reread {
                self.totals.add(&row);
                self.judged_cases += u64::from(row.judge_usage.is_some());
            }
            self.answers.extend(judged_answer(&row, run, is_reread, labels));
        }
        let gaps = rows.gaps_shown(None, |path| spec.loading.shown(path));
        self.gaps.extend(gaps.sentences());
        Ok(())
    }
}
