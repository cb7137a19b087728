//! The first and the last line of a results file (spec 11.1): what a run set out to do, and how it
//! ended. The first line names every planned case, so that a missing row can be named.

use evalrig_core::secrets::Secrets;
use evalrig_core::stats::Fnv1a;
use serde::{Deserialize, Serialize};

use super::checksum::seal;
use super::planned_suite::{PlannedSuite, add_case, plan_name};
use super::round_record::{RoundRecord, RoundSettings};
use super::row::{CaseKey, GitState, SCHEMA_VERSION};
use super::run_settings::RunSettings;

/// `kind` of the first line.
pub(super) const RUN: &str = "run";
/// `kind` of the last line.
pub(super) const END: &str = "end";

/// `kind` of the last line of a `jsonl` report whose results were incomplete.
pub(crate) const INCOMPLETE: &str = "incomplete";

/// No run has more; a header that claims more is damaged.
const MOST_CASES: u64 = 10_000_000;

/// What a run set out to do. Enough to resume it without typing everything again, to notice that
/// the suite has changed since, and to name cases without a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunHeader {
    pub schema_version: u32,
    /// The version of evalrig that wrote it.
    pub evalrig: String,
    /// Start of the run, RFC 3339, UTC.
    pub timestamp: String,
    /// The same in all files of a run, and after it was resumed. Older files lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitState>,
    /// The command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Hash of the whole plan; the same for all shards of a run.
    #[serde(default)]
    pub plan: String,
    /// Whether the rows are answers of another run that `grade` graded again. Older files lack it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub regraded: bool,
    /// The plan of the section above that this one replaces, because the run was resumed with a
    /// changed suite; empty if those rows have no header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<String>,
    /// How many cases were planned; of a shard, its own.
    pub cases: u64,
    #[serde(default)]
    pub options: PlanOptions,
    /// Older files lack them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<RunSettings>,
    /// Only of a run in rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<RoundSettings>,
    pub suites: Vec<PlannedSuite>,
}

/// The options that decide which cases there are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PlanOptions {
    pub targets: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arms: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline_arm: Option<String>,
    pub trials: Option<u32>,
    pub seed: Option<u64>,
    pub sample: Option<u64>,
    /// `I/N`.
    pub shard: Option<String>,
    pub filters: Vec<String>,
    pub tags: Vec<String>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Completion {
    /// Every case has a row: nothing is left to resume.
    Complete,
    /// Every case has a row; some of them say that a limit kept the case from starting.
    Limited,
    /// Every case has a row that is of a round which was run; no further round is needed.
    Settled,
    Interrupted,
    /// Results could not be written.
    WriteError,
    /// Cases that were not part of this run have no row: it graded an incomplete run again, or
    /// resumed some of the suites of a file.
    Incomplete,
}

/// What the gate of a run decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateResult {
    Passed,
    Worse,
    /// There is no verdict that passes, or not everything could be measured.
    Inconclusive,
}

impl GateResult {
    /// Whether the run is no baseline for later ones.
    pub fn is_rejected(self) -> bool {
        self != Self::Passed
    }
}

/// The last line of a results file. A resumed run adds another one; the last one counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunEnd {
    pub completion: Completion,
    /// RFC 3339, UTC.
    pub timestamp: String,
    /// Rows since the header.
    pub rows: u64,
    /// Of their checksums, in order.
    pub digest: String,
    /// Damaged lines since the header that a resumed run found and replaced.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub damaged: u64,
    /// Only of a run in rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<RoundRecord>,
    /// Only of a run with a gate that came to a decision, and of one that was graded again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateResult>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde wants")]
fn is_false(value: &bool) -> bool {
    !value
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde wants")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A line with its kind as the first key.
#[derive(Serialize)]
struct KindLine<'a, T> {
    kind: &'a str,
    #[serde(flatten)]
    value: &'a T,
}

/// With its checksum and line break.
pub(super) fn sealed_line<T: Serialize>(kind: &str, value: &T) -> Vec<u8> {
    let line = KindLine { kind, value };
    let mut text = serde_json::to_vec(&line).expect("only texts and numbers");
    seal(&mut text);
    text
}

impl RunHeader {
    pub fn new(timestamp: String, suites: Vec<PlannedSuite>, options: PlanOptions) -> Self {
        let mut hash = Fnv1a::default();
        for suite in &suites {
            hash.add_text(&suite.name);
            match &suite.plan {
                Some(whole) => hash.add_text(whole),
                None => {
                    let cases = suite.cases();
                    cases.for_each(|(test, target, trial)| {
                        add_case(&mut hash, test, target, trial);
                    });
                }
            }
        }
        let cases = suites.iter().map(PlannedSuite::case_count).sum();
        Self {
            schema_version: SCHEMA_VERSION,
            evalrig: env!("CARGO_PKG_VERSION").to_owned(),
            timestamp,
            run: None,
            git: None,
            command: None,
            plan: plan_name(&hash),
            regraded: false,
            continues: None,
            cases,
            options,
            settings: None,
            rounds: None,
            suites,
        }
    }

    /// Whether the rows are answers of another run. Older versions say so only by the command, which
    /// may have options before its name.
    pub fn is_regraded(&self) -> bool {
        let mut words = self.command.iter().flat_map(|line| line.split_whitespace()).skip(1);
        let command = words.find(|word| ["run", "grade"].contains(word));
        self.regraded || command == Some("grade")
    }

    /// The first line of a results file.
    pub(super) fn line(&self, secrets: &Secrets) -> Vec<u8> {
        // A header names every case, so it is copied only if it must be changed.
        if self.texts().all(|text| !secrets.is_in(text)) {
            return sealed_line(RUN, self);
        }
        sealed_line(RUN, &self.clone().redacted(secrets))
    }

    /// The first line of a journal, which need not repeat the cases.
    pub(super) fn journal_line(&self, kind: &str, secrets: &Secrets) -> Vec<u8> {
        sealed_line(kind, &self.without_cases().redacted(secrets))
    }

    fn without_cases(&self) -> Self {
        let suites = self.suites.iter().map(|suite| PlannedSuite {
            name: suite.name.clone(),
            file: suite.file.clone(),
            fingerprint: suite.fingerprint.clone(),
            plan: suite.plan.clone(),
            cases: Vec::new(),
            other_shards: Vec::new(),
        });
        Self {
            schema_version: self.schema_version,
            evalrig: self.evalrig.clone(),
            timestamp: self.timestamp.clone(),
            run: self.run.clone(),
            git: self.git.clone(),
            command: self.command.clone(),
            plan: self.plan.clone(),
            regraded: self.regraded,
            continues: self.continues.clone(),
            cases: self.cases,
            options: self.options.clone(),
            settings: self.settings.clone(),
            rounds: self.rounds.clone(),
            suites: suites.collect(),
        }
    }

    /// The texts that may hold a secret.
    fn texts(&self) -> impl Iterator<Item = &String> {
        let options = &self.options;
        let files = self.suites.iter().map(|suite| &suite.file);
        let texts = options.filters.iter().chain(&options.tags).chain(files);
        let branch = self.git.as_ref().and_then(|git| git.branch.as_ref());
        let settings = self.settings.iter().flat_map(RunSettings::texts);
        texts.chain(&self.command).chain(branch).chain(settings)
    }

    /// The same ones as in [`RunHeader::texts`].
    fn redacted(mut self, secrets: &Secrets) -> Self {
        let options = &mut self.options;
        let files = self.suites.iter_mut().map(|suite| &mut suite.file);
        let texts = options.filters.iter_mut().chain(&mut options.tags).chain(files);
        let branch = self.git.as_mut().and_then(|git| git.branch.as_mut());
        for text in texts.chain(&mut self.command).chain(branch) {
            secrets.redact_in_place(text);
        }
        self.settings.iter_mut().for_each(|settings| settings.redact(secrets));
        self
    }

    /// Every planned case, in order.
    pub fn keys(&self) -> impl Iterator<Item = CaseKey> {
        self.suites.iter().flat_map(PlannedSuite::keys)
    }

    /// Without the trials after this one, which rounds did not need.
    pub(super) fn up_to_trial(&self, last: u32) -> Self {
        let mut header = self.clone();
        for suite in &mut header.suites {
            suite.cases.retain_mut(|group| group.trials.cut(last));
        }
        header.cases = header.suites.iter().map(PlannedSuite::case_count).sum();
        header
    }

    /// Why a header that could be read cannot be believed.
    pub(super) fn fault(&self) -> Option<String> {
        if self.schema_version > SCHEMA_VERSION {
            return Some("written by a newer version of evalrig".to_owned());
        }
        let mut cases: u64 = 0;
        for suite in &self.suites {
            cases = cases.saturating_add(suite.case_count());
        }
        let is_sound = cases == self.cases && cases <= MOST_CASES;
        (!is_sound).then(|| "not a header: its number of cases is wrong".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::TrialNumbers;

    fn suite(cases: &[(&str, &str, u32)]) -> PlannedSuite {
        PlannedSuite::new("s", "EVAL.yaml", String::new(), cases.iter().copied())
    }

    fn header(cases: &[(&str, &str, u32)]) -> RunHeader {
        let options = PlanOptions::default();
        RunHeader::new("2026-01-02T03:04:05Z".to_owned(), vec![suite(cases)], options)
    }

    #[test]
    fn any_plan_comes_back_as_a_set() {
        let cases = [
            ("a", "x", 2),
            ("b", "x", 1),
            ("b", "y", 1),
            ("b", "y", 2),
            ("a", "x", 5),
            ("c", "z", 1),
        ];
        let header = header(&cases);
        assert_eq!((header.cases, header.fault()), (6, None));
        let mut keys: Vec<_> = header.keys().map(|key| (key.test, key.target, key.trial)).collect();
        let mut expected =
            cases.map(|(test, target, trial)| (test.to_owned(), target.to_owned(), trial)).to_vec();
        keys.sort();
        expected.sort();
        assert_eq!(keys, expected);
    }

    #[test]
    fn the_plan_is_named_after_its_cases() {
        let one = header(&[("a", "x", 1), ("b", "x", 1)]);
        assert_eq!(one.plan, header(&[("a", "x", 1), ("b", "x", 1)]).plan);
        assert_ne!(one.plan, header(&[("b", "x", 1), ("a", "x", 1)]).plan);
        assert_ne!(one.plan, header(&[("a", "x", 1), ("b", "x", 2)]).plan);
    }

    #[test]
    fn rows_that_were_graded_again_are_known_by_the_header_or_the_command() {
        let by_command = |command: &str| {
            RunHeader { command: Some(command.to_owned()), ..header(&[]) }.is_regraded()
        };
        assert!(by_command("evalrig grade run.jsonl") && by_command("evalrig -q grade run.jsonl"));
        assert!(by_command("evalrig --color never grade run.jsonl"));
        assert!(!by_command("evalrig run grade") && !header(&[]).is_regraded());
        assert!(RunHeader { regraded: true, ..header(&[]) }.is_regraded());
    }

    #[test]
    fn a_header_that_promises_too_much_is_not_believed() {
        let mut huge = header(&[("a", "x", 1)]);
        huge.suites[0].cases[0].trials = TrialNumbers::UpTo(u32::MAX);
        assert!(huge.fault().is_some());
        huge.cases = u64::from(u32::MAX);
        assert!(huge.fault().is_some());
        let mut newer = header(&[]);
        newer.schema_version = SCHEMA_VERSION + 1;
        assert_eq!(newer.fault().unwrap(), "written by a newer version of evalrig");
    }
}
