//! The earlier run that a run is seen against: found and read before anything is called, so that a
//! mistake costs nothing and no run can be its own baseline.

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::compare::{
    CompareOptions, ComparedCase, Comparison, DEFAULT_MARGIN, Measure, Scope, common, compare,
    seed_from_cases,
};
use evalrig_core::model::Outcome;
use evalrig_run::execute::SuiteJob;
use evalrig_run::record::{Place, Row};
use evalrig_run::report::comparison::gate;
use evalrig_run::report::{Compared, RunEnd};

use crate::args::Against;
use crate::command::compare::cases::Gathered;
use crate::command::compare::{measure, source};
use crate::context::{Context, complain};
use crate::exit::Exit;
use crate::reports::Told;

/// A suite whose earlier results may be meant.
#[derive(Debug, Clone)]
pub(super) struct OfSuite {
    pub(super) root: Utf8PathBuf,
    pub(super) name: String,
}

/// A baseline, and the cases of the run beside it.
#[derive(Debug)]
pub(super) struct Baseline {
    /// As it is to be shown.
    name: String,
    cases: Vec<ComparedCase>,
    /// What the run was asked to do, if that is known.
    scope: Option<Scope>,
    options: CompareOptions,
    is_gated: bool,
    now: Gathered,
}

impl Baseline {
    /// `None` when nobody asked for one. `own` are the results of the run itself; only what is
    /// older can be meant.
    pub(super) fn read(
        context: &Context,
        against: &Against,
        is_gated: bool,
        suites: &[OfSuite],
        own: &[Utf8PathBuf],
    ) -> Result<Option<Self>, Exit> {
        let Some(argument) = &against.baseline else {
            return Ok(None);
        };
        let files = locate(context, argument, suites, own)?;
        let mut cases = Vec::new();
        for file in &files {
            cases.extend(source::cases(file)?);
        }
        Ok(Some(Self {
            name: name_of(context, &files),
            cases,
            scope: None,
            options: CompareOptions {
                measure: measure(against.measure),
                margin: against.margin,
                seed: None,
            },
            is_gated,
            now: Gathered::default(),
        }))
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn is_gated(&self) -> bool {
        self.is_gated
    }

    /// Narrows the baseline to what is about to be run, and says how many of its tests were
    /// measured there.
    pub(super) fn plan(&mut self, suites: &[SuiteJob]) -> usize {
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
                });
            }
            scope.add_size(&suite.suite.name, suite.suite.tests.len());
        }
        let found = common(&scope.keep(&self.cases), &planned);
        self.scope = Some(scope);
        found
    }

    pub(super) fn row(&mut self, row: &Row) {
        self.now.add(row);
    }

    pub(super) fn compare(self) -> Compared {
        let now = self.now.in_order();
        let base = match &self.scope {
            Some(scope) => scope.keep(&self.cases),
            None => self.cases.clone(),
        };
        let options = CompareOptions {
            // As `compare` has it, which does not know what was left out on purpose.
            seed: Some(seed_from_cases(&self.cases, &now)),
            ..self.options
        };
        Compared {
            base: self.name,
            comparison: compare(&base, &now, &options),
        }
    }
}

/// What the gate decided, where no report says it to whoever watches.
pub(super) fn tell(told: Told, end: &RunEnd) {
    if let Some(gate) = gate(end).filter(|_| told == Told::Nobody) {
        complain(&gate.line());
    }
}

/// What shows the whole comparison; only where each side is one file.
pub(super) fn command(compared: &Compared, results: &Utf8Path) -> Option<String> {
    let is_file = |path: &str| Utf8Path::new(path).is_file();
    if !is_file(&compared.base) || !is_file(results.as_str()) {
        return None;
    }
    let Comparison {
        margin, measure, ..
    } = compared.comparison;
    let mut words = format!(
        "evalrig compare {} {}",
        super::run::quoted(&compared.base),
        super::run::quoted(results.as_str())
    );
    if margin != DEFAULT_MARGIN {
        words += &format!(" --margin {margin}");
    }
    if measure == Measure::Score {
        words += " --measure score";
    }
    Some(words)
}

/// A file, or how many of them where.
fn name_of(context: &Context, files: &[Utf8PathBuf]) -> String {
    let names = || files.iter().map(|file| source::shown(context, file));
    let folder = files.first().and_then(|file| file.parent());
    match folder {
        Some(folder) if files.len() > 1 && files.iter().all(|f| f.parent() == Some(folder)) => {
            format!(
                "{} files in {}",
                files.len(),
                source::shown(context, folder)
            )
        }
        _ => names().collect::<Vec<_>>().join(", "),
    }
}

fn locate(
    context: &Context,
    argument: &str,
    suites: &[OfSuite],
    own: &[Utf8PathBuf],
) -> Result<Vec<Utf8PathBuf>, Exit> {
    let path = context.absolute(argument);
    if path.is_dir() {
        let folder = source::folder_in(path);
        return in_folder(context, &folder, suites, own);
    }
    match source::steps_back(argument) {
        Some(steps) if !path.exists() => latest(context, steps, suites, own),
        _ => {
            // `latest.jsonl` will soon be a link to something else.
            let path = Place::existing(&path).results().to_owned();
            if own.iter().any(|own| is_same(own, &path)) {
                Err(refuse(&format!(
                    "`{argument}` has the results of the run itself; name an earlier one"
                )))
            } else {
                Ok(vec![path])
            }
        }
    }
}

/// The newest results of each suite, or whatever is newest where files have other names.
fn in_folder(
    context: &Context,
    folder: &Utf8Path,
    suites: &[OfSuite],
    own: &[Utf8PathBuf],
) -> Result<Vec<Utf8PathBuf>, Exit> {
    let of_suite = |suite: &OfSuite| older(Place::history_of(folder, &suite.name), own);
    let newest = suites.iter().filter_map(|suite| of_suite(suite).next());
    let mut found: Vec<Utf8PathBuf> = newest.collect();
    if found.is_empty() {
        let any = Place::history(folder).unwrap_or_default();
        found.extend(older(any, own).next());
    }
    if found.is_empty() {
        Err(refuse(&source::too_few(context, folder, 0)))
    } else {
        Ok(found)
    }
}

/// `latest~N` of each suite that is run. Some may be new.
fn latest(
    context: &Context,
    steps: usize,
    suites: &[OfSuite],
    own: &[Utf8PathBuf],
) -> Result<Vec<Utf8PathBuf>, Exit> {
    if suites.is_empty() {
        return Err(refuse("there are no rows to compare"));
    }
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for suite in suites {
        let folder = Place::folder(&suite.root);
        let history: Vec<_> = older(Place::history_of(&folder, &suite.name), own).collect();
        match history.get(steps) {
            Some(file) => found.push(file.clone()),
            None => missing.push((suite, folder, history.len())),
        }
    }
    for (suite, folder, count) in &missing {
        let name = &suite.name;
        let folder = context.shown(folder);
        complain(&match count {
            0 => format!("--baseline: `{folder}` has no earlier results of `{name}`"),
            1 => format!("--baseline: `{folder}` has one earlier run of `{name}` only"),
            count => format!("--baseline: `{folder}` has {count} earlier runs of `{name}` only"),
        });
    }
    if found.is_empty() {
        Err(Exit::CouldNotStart)
    } else {
        Ok(found)
    }
}

/// What was there before the run: of a history with the newest first, that which comes behind its
/// own results.
fn older(history: Vec<Utf8PathBuf>, own: &[Utf8PathBuf]) -> impl Iterator<Item = Utf8PathBuf> {
    let is_own = |file: &Utf8PathBuf| own.iter().any(|own| is_same(own, file));
    let behind = history.iter().rposition(is_own).map_or(0, |at| at + 1);
    history.into_iter().skip(behind)
}

fn is_same(one: &Utf8Path, other: &Utf8Path) -> bool {
    let real = |path: &Utf8Path| path.canonicalize_utf8().ok();
    one == other || real(one).is_some_and(|one| Some(one) == real(other))
}

fn refuse(reason: &str) -> Exit {
    complain(&format!("--baseline: {reason}"));
    Exit::CouldNotStart
}
