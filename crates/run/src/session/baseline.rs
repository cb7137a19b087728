//! The earlier runs that a run is compared with. They are found and read before anything is called,
//! so that a mistake costs nothing and a run cannot be its own baseline.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::compare::{
    CompareOptions, ComparedCase, Comparison, DEFAULT_MARGIN, Measure, Scope, common, compare,
    join_disjoint_runs, seed_from_cases,
};
use evalrig_core::model::Outcome;

use crate::execute::{SuiteJob, TargetVariant};
use crate::report::{Compared, EarlierCase, ReportedRun};
use crate::results::{CaseKey, Row};

use super::base_runs::{BaselineSearch, LocatedRuns, SuiteHistory, group_runs};
use super::case_collector::{CaseCollector, StoredCases, read_cases_with};
use super::command_line::quoted;
use super::error::{Notice, Notify, SessionError};
use super::rejected_runs::SkippedRuns;
use super::spec::{BaselineSpec, LoadOptions};
use super::stored_rounds::{StoredRounds, compare_stored};

const OPTION: &str = "--baseline";
/// What is kept in memory of the answers of a baseline.
const EARLIER_BYTES: usize = 64_000_000;
/// Runs that are incomplete or of other targets, and passed over in search of one that is not.
const SKIPPED: usize = 12;

/// Earlier runs, and the cases of the run beside them.
#[derive(Debug)]
pub(super) struct Baseline {
    /// Shown to users.
    pub(super) name: String,
    /// The files of each run, as they are shown.
    runs: Vec<Vec<String>>,
    cases: Vec<ComparedCase>,
    /// The planned cases, if they are known.
    scope: Option<Scope>,
    options: CompareOptions,
    pub(super) is_gated: bool,
    /// What it lacks, in words.
    pub(super) gaps: Vec<String>,
    now: CaseCollector,
    /// For reports that show old answers beside new ones.
    earlier: Vec<EarlierCase>,
}

impl Baseline {
    pub(super) fn read(
        spec: &BaselineSpec,
        search: &BaselineSearch<'_>,
        notify: &mut Notify<'_>,
    ) -> Result<Self, SessionError> {
        let mut reader = BaselineReader::new(search.loading, search.shard);
        let mut skipped = SkippedRuns::default();
        let (mut files, mut runs, mut newest) = (Vec::new(), Vec::new(), Vec::new());
        for argument in &spec.runs {
            match search.locate(argument, spec.most_runs, &mut skipped, notify)? {
                LocatedRuns::Files(named) => files.extend(named),
                LocatedRuns::These(found) => runs.extend(found),
                LocatedRuns::Newest { histories, most } => newest.push((histories, most)),
            }
        }
        // Shards may have been named one by one.
        for run in group_runs(files).iter().chain(&runs) {
            reader.add_run(run)?;
        }
        for (histories, most) in newest {
            let first = reader.next_place();
            for mut history in histories {
                reader.add_newest(&mut history, first, most, notify)?;
                skipped.absorb(history.files.skipped);
            }
        }
        if let Some(text) = skipped.notice() {
            notify(Notice::Message(format!("{OPTION}: {text}")));
        }
        reader.finish(spec, notify)
    }

    /// Reads the files of one earlier run.
    #[cfg(feature = "view")]
    pub(super) fn read_files(
        spec: &BaselineSpec,
        loading: &LoadOptions,
        files: &[Utf8PathBuf],
        notify: &mut Notify<'_>,
    ) -> Result<Self, SessionError> {
        let mut reader = BaselineReader::new(loading, None);
        reader.add_run(files)?;
        reader.finish(spec, notify)
    }

    /// The cases of all its runs.
    pub(super) fn into_cases(self) -> Vec<ComparedCase> {
        self.cases
    }

    /// Restricts the baseline to the planned cases; returns the number of tests in common.
    pub(super) fn plan(&mut self, suites: &[&SuiteJob]) -> usize {
        let mut scope = Scope::default();
        for suite in suites {
            for (key, _) in suite.keys() {
                scope.add(&key.suite, &key.test, &key.target);
            }
            scope.add_size(&suite.suite.name, suite.suite.tests.len());
        }
        let found = common(&scope.keep(&self.cases), &planned_cases(suites));
        self.scope = Some(scope);
        found
    }

    pub(super) fn add(&mut self, row: &Row) {
        self.now.add(row);
    }

    pub(super) fn margin(&self) -> f64 {
        self.options.margin
    }

    pub(super) fn measure(&self) -> Measure {
        self.options.measure
    }

    /// The cases that the planned ones may be compared with.
    pub(super) fn kept_cases(&self) -> Vec<ComparedCase> {
        match &self.scope {
            Some(scope) => scope.keep(&self.cases),
            None => self.cases.clone(),
        }
    }

    /// With `rounds`, those of the stored run that is compared.
    pub(super) fn compare(
        self,
        rounds: Option<&StoredRounds>,
        notify: &mut Notify<'_>,
    ) -> Compared {
        let now = self.now.clone().in_order();
        let base = self.kept_cases();
        let comparison = if rounds.is_some() {
            let (comparison, note) = compare_stored(&base, &now, rounds, &self.options);
            note.into_iter().for_each(|note| notify(Notice::Message(note)));
            comparison
        } else {
            let options = CompareOptions {
                // The seed that `evalrig compare` uses, which does not know the plan.
                seed: Some(seed_from_cases(&self.cases, &now)),
                ..self.options
            };
            compare(&base, &now, &options)
        };
        self.compared(comparison)
    }

    /// A comparison that was made.
    pub(super) fn compared(self, comparison: Comparison) -> Compared {
        Compared { base: self.name, base_runs: self.runs, comparison, earlier: self.earlier }
    }
}

/// The cases of a plan, as if all had passed.
pub(super) fn planned_cases(suites: &[&SuiteJob]) -> Vec<ComparedCase> {
    let mut planned = Vec::new();
    for suite in suites {
        planned.extend(suite.keys().map(|(key, hash)| {
            let arm = suite.variant(&key.target).and_then(TargetVariant::compared_arm);
            ComparedCase { arm, ..planned_case(key, hash) }
        }));
    }
    planned
}

pub(super) fn planned_case(key: CaseKey, hash: &str) -> ComparedCase {
    ComparedCase {
        suite: key.suite,
        test: key.test,
        target: key.target,
        arm: None,
        group: None,
        run: 0,
        trial: key.trial,
        outcome: Outcome::Passed,
        score: None,
        hash: hash.to_owned(),
        cost: None,
        tokens: None,
        duration_ms: None,
    }
}

impl SuiteHistory {
    fn shares_target(&self, found: &StoredCases) -> bool {
        self.targets.is_empty()
            || found.cases.iter().any(|case| self.targets.contains(&case.target))
    }
}

/// Where a run is among those that are shown, and its number in the comparison.
#[derive(Clone, Copy)]
struct RunPlace {
    shown: usize,
    number: u32,
}

impl RunPlace {
    fn after(self, count: usize) -> Self {
        Self { shown: self.shown + count, number: self.number + count as u32 }
    }
}

/// Reads runs one after another.
struct BaselineReader<'a> {
    loading: &'a LoadOptions,
    shard: Option<&'a str>,
    runs: Vec<Vec<Utf8PathBuf>>,
    /// The number of the next run. A file that was joined from several has several.
    next: u32,
    cases: Vec<ComparedCase>,
    gaps: Vec<String>,
    notes: Vec<String>,
    earlier: Vec<EarlierCase>,
    /// What is left of the memory for earlier answers.
    room: usize,
}

impl<'a> BaselineReader<'a> {
    fn new(loading: &'a LoadOptions, shard: Option<&'a str>) -> Self {
        Self {
            loading,
            shard,
            runs: Vec::new(),
            next: 0,
            cases: Vec::new(),
            gaps: Vec::new(),
            notes: Vec::new(),
            earlier: Vec::new(),
            room: EARLIER_BYTES,
        }
    }

    /// A run that was named. One that was read already counts once.
    fn add_run(&mut self, files: &[Utf8PathBuf]) -> Result<(), SessionError> {
        if !self.runs.iter().any(|known| known == files) {
            let (found, earlier) = self.read(files)?;
            self.keep(self.next_place(), files, found, earlier);
        }
        Ok(())
    }

    /// Where a further run is shown, and its number.
    fn next_place(&self) -> RunPlace {
        RunPlace { shown: self.runs.len(), number: self.next }
    }

    /// The newest complete runs of a suite with the same targets, at most so many; the first of them
    /// is at `first`. If there is none, the newest run, with a message that says what is wrong with it.
    fn add_newest(
        &mut self,
        history: &mut SuiteHistory,
        first: RunPlace,
        most: usize,
        notify: &mut Notify<'_>,
    ) -> Result<(), SessionError> {
        let mut count = 0_usize;
        let mut newest: Option<Utf8PathBuf> = None;
        let mut incomplete: Vec<Utf8PathBuf> = Vec::new();
        for _ in 0..most + SKIPPED {
            let Some(file) = history.files.next() else { break };
            newest.get_or_insert_with(|| file.clone());
            let files = std::slice::from_ref(&file);
            let (found, earlier) = self.read(files)?;
            if !found.gaps.is_empty() {
                incomplete.push(file);
            } else if history.shares_target(&found) {
                self.keep(first.after(count), files, found, earlier);
                count += 1;
            }
            if count == most {
                break;
            }
        }
        let newest = newest.filter(|_| count == 0);
        for file in incomplete.into_iter().filter(|file| Some(file) != newest.as_ref()) {
            let name = shown(self.loading, &file);
            notify(Notice::Message(format!("{OPTION}: `{name}` is incomplete and left out")));
        }
        match newest {
            Some(file) => self.add_unfit(history, &file, first, notify),
            None => Ok(()),
        }
    }

    /// Adds a run because there is no better one, and says why it is not a good baseline.
    fn add_unfit(
        &mut self,
        history: &SuiteHistory,
        file: &Utf8PathBuf,
        place: RunPlace,
        notify: &mut Notify<'_>,
    ) -> Result<(), SessionError> {
        let files = std::slice::from_ref(file);
        let (found, earlier) = self.read(files)?;
        if !found.gaps.is_empty() {
            let name = shown(self.loading, file);
            notify(Notice::Message(format!(
                "{OPTION}: `{name}` is incomplete; used because there is no other"
            )));
        }
        if !history.shares_target(&found) {
            let others: BTreeSet<&str> =
                found.cases.iter().map(|case| case.target.as_str()).collect();
            notify(Notice::Message(format!(
                "{OPTION}: no earlier run of {}; compared with the newest run of {}",
                named(history.targets.iter().map(String::as_str)),
                named(others.into_iter()),
            )));
        }
        self.keep(place, files, found, earlier);
        Ok(())
    }

    fn read(&self, files: &[Utf8PathBuf]) -> Result<(StoredCases, Vec<EarlierCase>), SessionError> {
        let (mut earlier, mut room) = (Vec::new(), self.room);
        let keep = |row: &Row| {
            let case = EarlierCase::of(row);
            room = room.saturating_sub(case.size());
            if room > 0 {
                earlier.push(case);
            }
        };
        let mut found = read_cases_with(self.loading, files, self.shard, keep)?;
        if let Some(rounds) = &found.rounds {
            found.cases = rounds.seen(&found.cases);
        }
        Ok((found, earlier))
    }

    /// Reports show the answers of the first run.
    fn keep(
        &mut self,
        place: RunPlace,
        files: &[Utf8PathBuf],
        mut found: StoredCases,
        earlier: Vec<EarlierCase>,
    ) {
        self.next = self.next.max(place.number + found.runs());
        found.cases.iter_mut().for_each(|case| case.run += place.number);
        self.cases.extend(found.cases);
        self.gaps.extend(found.gaps);
        self.notes.extend(found.note);
        if place.shown == 0 {
            let size: usize = earlier.iter().map(EarlierCase::size).sum();
            self.room = self.room.saturating_sub(size);
            self.earlier.extend(earlier);
        }
        match self.runs.get_mut(place.shown) {
            Some(run) => run.extend_from_slice(files),
            None => self.runs.push(files.to_vec()),
        }
    }

    fn finish(
        mut self,
        spec: &BaselineSpec,
        notify: &mut Notify<'_>,
    ) -> Result<Baseline, SessionError> {
        let gaps: Vec<String> = self.gaps.iter().map(|text| format!("{OPTION}: {text}")).collect();
        if spec.is_gated && !gaps.is_empty() {
            return Err(SessionError::Incomplete(gaps.join("\n")));
        }
        for note in &self.notes {
            notify(Notice::Warning(format!("{OPTION}: {note}")));
        }
        for text in &gaps {
            notify(Notice::Message(text.clone()));
        }
        join_disjoint_runs(&mut self.cases);
        let shown_files = |files: &Vec<Utf8PathBuf>| -> Vec<String> {
            files.iter().map(|file| shown(self.loading, file)).collect()
        };
        Ok(Baseline {
            name: name_of(self.loading, &self.runs),
            runs: self.runs.iter().map(shown_files).collect(),
            cases: self.cases,
            scope: None,
            options: CompareOptions { measure: spec.measure, margin: spec.margin, seed: None },
            is_gated: spec.is_gated,
            gaps,
            now: CaseCollector::default(),
            earlier: self.earlier,
        })
    }
}

/// The command that shows the whole comparison, if each run is one file.
pub(super) fn compare_command(end: &ReportedRun) -> Option<String> {
    let (compared, results) = (end.compared.as_ref()?, end.results.as_ref()?);
    let one_file = |files: &Vec<String>| match &files[..] {
        [file] if Utf8Path::new(file).is_file() => Some(file.clone()),
        _ => None,
    };
    let base: Vec<String> = compared.base_runs.iter().map(one_file).collect::<Option<_>>()?;
    if base.is_empty() || !results.is_file() {
        return None;
    }
    let Comparison { margin, measure, .. } = compared.comparison;
    let mut words = "evalrig compare".to_owned();
    for file in base.iter().map(String::as_str).chain([results.as_str()]) {
        words += &format!(" {}", quoted(file));
    }
    if margin != DEFAULT_MARGIN {
        words += &format!(" --margin {margin}");
    }
    if measure == Measure::Score {
        words += " --measure score";
    }
    Some(words)
}

/// One file, how many files in which folder, or how many runs and the first of them.
fn name_of(loading: &LoadOptions, runs: &[Vec<Utf8PathBuf>]) -> String {
    let files = match runs {
        [files] => files,
        [first, ..] => {
            let first: Vec<String> = first.iter().map(|file| shown(loading, file)).collect();
            return format!("{} runs, the first {}", runs.len(), first.join(", "));
        }
        [] => return "no runs".to_owned(),
    };
    let folder = files.first().and_then(|file| file.parent());
    match folder {
        Some(folder) if files.len() > 1 && files.iter().all(|f| f.parent() == Some(folder)) => {
            format!("{} files in {}", files.len(), shown(loading, folder))
        }
        _ => files.iter().map(|file| shown(loading, file)).collect::<Vec<_>>().join(", "),
    }
}

fn named<'t>(targets: impl Iterator<Item = &'t str>) -> String {
    targets.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn shown(loading: &LoadOptions, path: &Utf8Path) -> String {
    loading.shown(path).as_str().replace('\\', "/")
}
