//! The earlier run that a run is compared with. It is found and read before anything is called, so
//! that a mistake costs nothing and a run cannot be its own baseline.

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::compare::{
    CompareOptions, ComparedCase, Comparison, DEFAULT_MARGIN, Measure, Scope, common, compare,
    seed_from_cases,
};
use evalrig_core::model::Outcome;

use crate::execute::SuiteJob;
use crate::report::{Compared, EarlierCase, ReportedRun};
use crate::results::{ResultsPaths, Row, stored_runs};

use super::case_collector::{CaseCollector, StoredCases, read_cases_with};
use super::command_line::quoted;
use super::error::{Notice, Notify, SessionError};
use super::find_results::{matching_results, results_folder, steps_back, too_few};
use super::spec::{BaselineSpec, LoadOptions};

const OPTION: &str = "--baseline";
/// What is kept in memory of the answers of a baseline.
const EARLIER_BYTES: usize = 64_000_000;

/// A suite whose earlier results may serve as baseline.
#[derive(Debug, Clone, Copy)]
pub(super) struct BaselineSuite<'a> {
    pub(super) root: &'a Utf8Path,
    pub(super) name: &'a str,
}

/// Where a baseline is looked for.
pub(super) struct BaselineSearch<'a> {
    pub(super) loading: &'a LoadOptions,
    pub(super) suites: Vec<BaselineSuite<'a>>,
    /// Results of the run itself; only older results are considered.
    pub(super) own: Vec<Utf8PathBuf>,
    /// The shard that is run; that of the baseline is enough.
    pub(super) shard: Option<&'a str>,
}

/// A baseline, and the cases of the run beside it.
#[derive(Debug)]
pub(super) struct Baseline {
    /// Shown to users.
    pub(super) name: String,
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
        let files = search.locate(&spec.run, notify)?;
        Self::read_files(spec, search.loading, &files, search.shard, notify)
    }

    /// Reads the files of an earlier run.
    pub(super) fn read_files(
        spec: &BaselineSpec,
        loading: &LoadOptions,
        files: &[Utf8PathBuf],
        shard: Option<&str>,
        notify: &mut Notify<'_>,
    ) -> Result<Self, SessionError> {
        let mut earlier = Vec::new();
        let mut room = EARLIER_BYTES;
        let keep = |row: &Row| {
            let case = EarlierCase::of(row);
            room = room.saturating_sub(case.size());
            if room > 0 {
                earlier.push(case);
            }
        };
        let StoredCases { cases, gaps, note } = read_cases_with(loading, files, shard, keep)?;
        let gaps = gaps.iter().map(|text| format!("{OPTION}: {text}"));
        let gaps: Vec<String> = gaps.collect();
        if spec.is_gated && !gaps.is_empty() {
            return Err(SessionError::Incomplete(gaps.join("\n")));
        }
        if let Some(note) = note {
            notify(Notice::Warning(format!("{OPTION}: {note}")));
        }
        for text in &gaps {
            notify(Notice::Message(text.clone()));
        }
        Ok(Self {
            name: name_of(loading, files),
            cases,
            scope: None,
            options: CompareOptions { measure: spec.measure, margin: spec.margin, seed: None },
            is_gated: spec.is_gated,
            gaps,
            now: CaseCollector::default(),
            earlier,
        })
    }

    /// Restricts the baseline to the planned cases; returns the number of tests in common.
    pub(super) fn plan(&mut self, suites: &[&SuiteJob]) -> usize {
        let (mut scope, mut planned) = (Scope::default(), Vec::new());
        for suite in suites {
            for (key, hash) in suite.keys() {
                scope.add(&key.suite, &key.test, &key.target);
                planned.push(ComparedCase {
                    suite: key.suite,
                    test: key.test,
                    target: key.target,
                    trial: key.trial,
                    outcome: Outcome::Passed,
                    score: None,
                    hash: hash.to_owned(),
                    cost: None,
                    tokens: None,
                    duration_ms: None,
                });
            }
            scope.add_size(&suite.suite.name, suite.suite.tests.len());
        }
        let found = common(&scope.keep(&self.cases), &planned);
        self.scope = Some(scope);
        found
    }

    pub(super) fn add(&mut self, row: &Row) {
        self.now.add(row);
    }

    pub(super) fn compare(self) -> Compared {
        let now = self.now.in_order();
        let base = match &self.scope {
            Some(scope) => scope.keep(&self.cases),
            None => self.cases.clone(),
        };
        let options = CompareOptions {
            // The seed that `evalrig compare` uses, which does not know the plan.
            seed: Some(seed_from_cases(&self.cases, &now)),
            ..self.options
        };
        Compared {
            base: self.name,
            comparison: compare(&base, &now, &options),
            earlier: self.earlier,
        }
    }
}

/// The command that shows the whole comparison, if each side is one file.
pub(super) fn compare_command(end: &ReportedRun) -> Option<String> {
    let (compared, results) = (end.compared.as_ref()?, end.results.as_ref()?);
    if !Utf8Path::new(&compared.base).is_file() || !results.is_file() {
        return None;
    }
    let Comparison { margin, measure, .. } = compared.comparison;
    let mut words =
        format!("evalrig compare {} {}", quoted(&compared.base), quoted(results.as_str()));
    if margin != DEFAULT_MARGIN {
        words += &format!(" --margin {margin}");
    }
    if measure == Measure::Score {
        words += " --measure score";
    }
    Some(words)
}

/// The file, or how many files in which folder.
fn name_of(loading: &LoadOptions, files: &[Utf8PathBuf]) -> String {
    let names = || files.iter().map(|file| shown(loading, file));
    let folder = files.first().and_then(|file| file.parent());
    match folder {
        Some(folder) if files.len() > 1 && files.iter().all(|f| f.parent() == Some(folder)) => {
            format!("{} files in {}", files.len(), shown(loading, folder))
        }
        _ => names().collect::<Vec<_>>().join(", "),
    }
}

impl BaselineSearch<'_> {
    fn locate(
        &self,
        argument: &str,
        notify: &mut Notify<'_>,
    ) -> Result<Vec<Utf8PathBuf>, SessionError> {
        let path = self.loading.working_directory.join(argument);
        if path.is_dir() {
            return self.in_folder(&results_folder(path));
        }
        if let Some(found) = matching_results(self.loading, argument)? {
            let older = found.into_iter().filter(|file| !self.is_own(file));
            return Ok(older.collect());
        }
        match steps_back(argument) {
            Some(steps) if !path.exists() => self.latest(steps, notify),
            _ => {
                // Resolved now, because the run will point `latest.jsonl` to its own results.
                let path = ResultsPaths::existing(&path).results().to_owned();
                if self.is_own(&path) {
                    let reason = format!(
                        "`{argument}` contains the results of this run; name an earlier one"
                    );
                    return Err(SessionError::argument(OPTION, reason));
                }
                Ok(vec![path])
            }
        }
    }

    /// The newest results of each suite; if no file is named after a suite, the newest run.
    fn in_folder(&self, folder: &Utf8Path) -> Result<Vec<Utf8PathBuf>, SessionError> {
        let of_suite = |suite: &BaselineSuite<'_>| {
            let history = ResultsPaths::history_of(folder, suite.name);
            self.older(history).next()
        };
        let mut found: Vec<Utf8PathBuf> = self.suites.iter().filter_map(of_suite).collect();
        if found.is_empty() {
            let runs = stored_runs(folder).unwrap_or_default();
            let mut others = runs.into_iter().map(|run| run.files);
            let other = others.find(|files| !files.iter().any(|file| self.is_own(file)));
            found.extend(other.into_iter().flatten());
        }
        if found.is_empty() {
            let reason = too_few(self.loading, folder, 0);
            return Err(SessionError::argument(OPTION, reason));
        }
        Ok(found)
    }

    /// `latest~N` of each suite of the run. New suites without results are skipped.
    fn latest(
        &self,
        steps: usize,
        notify: &mut Notify<'_>,
    ) -> Result<Vec<Utf8PathBuf>, SessionError> {
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        for BaselineSuite { root, name } in &self.suites {
            let folder = ResultsPaths::folder(root);
            let mut history: Vec<_> = self.older(ResultsPaths::history_of(&folder, name)).collect();
            if steps < history.len() {
                found.push(history.swap_remove(steps));
                continue;
            }
            let folder = self.loading.shown(&folder);
            missing.push(match history.len() {
                0 => format!("`{folder}` has no earlier results of `{name}`"),
                1 => format!("`{folder}` has only one earlier run of `{name}`"),
                count => format!("`{folder}` has only {count} earlier runs of `{name}`"),
            });
        }
        let error = if found.is_empty() {
            Some(missing.pop().unwrap_or_else(|| "no rows to compare".to_owned()))
        } else {
            None
        };
        for reason in missing {
            notify(Notice::Message(format!("{OPTION}: {reason}")));
        }
        match error {
            Some(reason) => Err(SessionError::argument(OPTION, reason)),
            None => Ok(found),
        }
    }

    /// The results from before the run. A history starts with the newest.
    fn older(&self, history: Vec<Utf8PathBuf>) -> impl Iterator<Item = Utf8PathBuf> + use<> {
        let own = history.iter().rposition(|file| self.is_own(file));
        history.into_iter().skip(own.map_or(0, |at| at + 1))
    }

    fn is_own(&self, file: &Utf8Path) -> bool {
        self.own.iter().any(|own| is_same(own, file))
    }
}

fn is_same(one: &Utf8Path, other: &Utf8Path) -> bool {
    let real = |path: &Utf8Path| path.canonicalize_utf8().ok();
    one == other || real(one).is_some_and(|one| Some(one) == real(other))
}

fn shown(loading: &LoadOptions, path: &Utf8Path) -> String {
    loading.shown(path).as_str().replace('\\', "/")
}
