//! Earlier runs: what did not pass there, and what an interrupted one has done already.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::SystemTime;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::secrets::Secrets;
use evalrig_run::execute::{Answered, Books, SuiteJob};
use evalrig_run::prepare::{OnlyCase, Wishes, leave_out};
use evalrig_run::record::{
    CaseKey, Existing, Header, Interrupted, Place, PlanOptions, PlannedSuite, Recorder, Rows,
    fingerprint, read_finished, rfc3339,
};

use crate::args::{LATEST, Run};
use crate::context::{Context, complain};
use crate::exit::Exit;

use super::account::Account;
use super::suites::Ready;
use super::typed;

/// `--failed`: keeps only tests and targets that did not pass.
pub(super) fn narrow_to_failed(
    context: &Context,
    args: &Run,
    ready: &[Ready],
    wishes: &mut Wishes,
) -> Result<(), Exit> {
    let Some(given) = &args.failed else {
        return Ok(());
    };
    let (mut only, mut unknown) = (HashSet::new(), Vec::new());
    for one in ready {
        let file = match given.as_str() {
            LATEST => Place::latest_of(&one.root, &one.suite.name),
            path => Some(context.absolute(path)),
        };
        let Some(file) = file else {
            unknown.push(format!("`{}`", one.suite.name));
            continue;
        };
        let rows = read_finished(&file).map_err(|error| unreadable(&error))?;
        let ran: HashSet<OnlyCase> = rows.keys().map(only_case).collect();
        let own = rows.iter().filter(|(key, _)| key.suite == one.suite.name);
        for (key, _) in own.filter(|(_, finished)| finished.did_not_pass()) {
            let case = only_case(key);
            // On a target that has not seen the test yet, it has not passed either.
            let others = args.target.iter().map(|target| OnlyCase {
                target: target.clone(),
                ..case.clone()
            });
            only.extend(others.filter(|other| !ran.contains(other)));
            only.insert(case);
        }
    }
    if !unknown.is_empty() {
        let names = unknown.join(", ");
        complain(&format!("--failed: there are no results yet of {names}"));
    }
    wishes.only = Some(only);
    // Other suites may have something to run again.
    if unknown.len() == ready.len() {
        Err(Exit::CouldNotStart)
    } else {
        Ok(())
    }
}

fn only_case(key: &CaseKey) -> OnlyCase {
    OnlyCase {
        suite: key.suite.clone(),
        test: key.test.clone(),
        target: key.target.clone(),
    }
}

fn unreadable(error: &dyn std::fmt::Display) -> Exit {
    complain(&error.to_string());
    Exit::CouldNotStart
}

/// What earlier runs of these suites left behind.
#[derive(Debug)]
pub(super) struct Earlier {
    interrupted: Vec<Interrupted>,
    /// Which of them a suite goes on with. Suites that shared a file go on sharing it.
    of_suite: Vec<Option<usize>>,
}

impl Earlier {
    /// Nothing unless `--resume` asks for it.
    pub(super) fn find(context: &Context, args: &Run, suites: &[SuiteJob]) -> Result<Self, Exit> {
        let mut earlier = Self {
            interrupted: Vec::new(),
            of_suite: Vec::with_capacity(suites.len()),
        };
        let mut known: HashMap<Utf8PathBuf, usize> = HashMap::new();
        for suite in suites {
            let file = match args.resume.as_deref() {
                None => None,
                Some(LATEST) => Place::interrupted(&suite.root, &suite.suite.name),
                Some(path) => Some(context.absolute(path)),
            };
            let at = match file {
                None => None,
                Some(file) => Some(match known.get(&file) {
                    Some(at) => *at,
                    None => {
                        let at = earlier.read(&file)?;
                        known.insert(file, at);
                        at
                    }
                }),
            };
            earlier.of_suite.push(at);
        }
        match args.resume {
            Some(_) => earlier.check(context, suites, &plan_options(args)),
            None => Ok(earlier),
        }
    }

    fn read(&mut self, file: &Utf8Path) -> Result<usize, Exit> {
        let read = Interrupted::read(file).map_err(|error| unreadable(&error))?;
        for notice in read.notices() {
            complain(&notice);
        }
        self.interrupted.push(read);
        Ok(self.interrupted.len() - 1)
    }

    fn check(
        self,
        context: &Context,
        suites: &[SuiteJob],
        options: &PlanOptions,
    ) -> Result<Self, Exit> {
        if self.interrupted.is_empty() {
            complain("--resume: there is no interrupted run");
            return Err(Exit::CouldNotStart);
        }
        for interrupted in &self.interrupted {
            same_plan(context, interrupted, options)?;
        }
        // Where nothing else is meant, a suite that has changed its name may go on.
        for (suite, at) in suites.iter().zip(&self.of_suite) {
            let Some(interrupted) = at.map(|at| &self.interrupted[at]) else {
                continue;
            };
            let name = &suite.suite.name;
            if suites.len() > 1 && !has_suite(interrupted, name) {
                let file = context.shown(interrupted.place.results());
                complain(&format!(
                    "--resume: `{file}` has nothing of suite `{name}`; name the suites that it belongs to"
                ));
                return Err(Exit::CouldNotStart);
            }
        }
        Ok(self)
    }

    /// The files that are gone on with.
    pub(super) fn results(&self) -> Vec<Utf8PathBuf> {
        let places = self.interrupted.iter().map(|one| one.place.results());
        places.map(Utf8Path::to_owned).collect()
    }

    /// Takes finished cases out of the plans. Gives the answers that are only to be graded.
    pub(super) fn take_out(&mut self, suites: &mut [SuiteJob]) -> HashMap<CaseKey, Answered> {
        let mut answered = HashMap::new();
        for (suite, at) in suites.iter_mut().zip(&self.of_suite) {
            let Some(interrupted) = at.map(|at| &mut self.interrupted[at]) else {
                continue;
            };
            leave_out(suite, |key, hash| interrupted.finished(key, hash).is_some());
            for (key, hash) in suite.keys() {
                if let Some(found) = interrupted.take_answered(&key, hash) {
                    let found = Answered {
                        transcript: found.transcript,
                        attempts: found.attempts,
                    };
                    answered.insert(key, found);
                }
            }
        }
        answered
    }

    /// New ones, or those of the interrupted runs.
    pub(super) fn books(
        &self,
        context: &Context,
        args: &Run,
        suites: &[SuiteJob],
        secrets: &Arc<Secrets>,
    ) -> Result<Books, Exit> {
        let now = SystemTime::now();
        if let Some(output) = &args.keeping.output {
            let place = output_place(&context.absolute(output))?;
            let header = header(args, suites, now);
            let made = Recorder::create(place, Existing::Replace, &header, Arc::clone(secrets));
            return Ok(Books {
                recorders: vec![made.map_err(|error| unwritable(&error))?],
                of_suite: vec![0; suites.len()],
            });
        }
        let mut books = Books {
            recorders: Vec::with_capacity(suites.len()),
            of_suite: Vec::with_capacity(suites.len()),
        };
        for (place, suite) in suites.iter().enumerate() {
            let at = self.of_suite[place];
            let before = self.of_suite[..place].iter().position(|one| *one == at);
            if let (Some(before), Some(_)) = (before, at) {
                books.of_suite.push(books.of_suite[before]);
                continue;
            }
            let header = header(args, std::slice::from_ref(suite), now);
            let secrets = Arc::clone(secrets);
            let made = match at {
                Some(at) => Recorder::resume(&self.interrupted[at], &header, secrets),
                None => {
                    let place = Place::claim(&suite.root, &suite.suite.name, now);
                    let place = place.map_err(|error| unwritable(&error))?;
                    Recorder::create(place, Existing::Replace, &header, secrets)
                }
            };
            let recorder = made.map_err(|error| unwritable(&error))?;
            // Results without the link are still results.
            let _ = recorder.place().point_latest();
            books.of_suite.push(books.recorders.len());
            books.recorders.push(recorder);
        }
        Ok(books)
    }

    /// Lets reports hear of the cases that are not run again.
    pub(super) fn retell(&self, suites: &[SuiteJob], account: &mut Account) -> Result<(), Exit> {
        // A test that has changed has an old row, and will have a new one.
        let left: HashSet<CaseKey> = suites
            .iter()
            .flat_map(SuiteJob::keys)
            .map(|(key, _)| key)
            .collect();
        for (at, interrupted) in self.interrupted.iter().enumerate() {
            let suite = self.of_suite.iter().position(|one| *one == Some(at));
            let rows = Rows::open(interrupted.place.results());
            for row in rows.map_err(|error| unreadable(&error))? {
                let row = row.map_err(|error| unreadable(&error))?;
                let key = row.key();
                let is_done = interrupted.finished(&key, &row.test_hash).is_some();
                if let Some(suite) = suite.filter(|_| is_done && !left.contains(&key)) {
                    account.row(suite, &row);
                }
            }
        }
        Ok(())
    }
}

/// With other options there would be other cases, and what is missing would look complete.
fn same_plan(
    context: &Context,
    interrupted: &Interrupted,
    options: &PlanOptions,
) -> Result<(), Exit> {
    let Some(header) = &interrupted.header else {
        return Ok(());
    };
    if header.options == *options {
        return Ok(());
    }
    let file = context.shown(interrupted.place.results());
    let typed = match typed::of_plan(&header.options) {
        none if none.is_empty() => "no options that choose cases".to_owned(),
        words => format!("`{words}`"),
    };
    complain(&format!(
        "--resume: the run in `{file}` was begun with {typed}; give the same ones"
    ));
    Err(Exit::CouldNotStart)
}

/// Whether it was planned there, or has rows.
fn has_suite(interrupted: &Interrupted, name: &str) -> bool {
    let header = interrupted.header.as_ref();
    let mut planned = header.into_iter().flat_map(|header| &header.suites);
    planned.any(|suite| suite.name == name) || interrupted.rows().any(|(key, _)| key.suite == name)
}

/// What somebody named by mistake must not be emptied: only results are replaced by results.
pub(in super::super) fn output_place(path: &Utf8Path) -> Result<Place, Exit> {
    // A pipe would wait to be read.
    let is_file = std::fs::metadata(path).is_ok_and(|found| found.is_file());
    if is_file && Rows::open(path).is_err() {
        complain(&format!(
            "--output: `{path}` is there and holds no results; nothing was written"
        ));
        return Err(Exit::CouldNotStart);
    }
    Place::at(path).map_err(|error| unwritable(&error))
}

fn unwritable(error: &dyn std::fmt::Display) -> Exit {
    complain(&format!("cannot write results: {error}"));
    Exit::CouldNotStart
}

fn header(args: &Run, suites: &[SuiteJob], now: SystemTime) -> Header {
    let planned = suites.iter().map(|suite| {
        let tests = suite.suite.tests.iter().zip(&suite.hashes);
        let tests = tests.filter(|(_, hash)| !hash.is_empty());
        PlannedSuite {
            name: suite.suite.name.clone(),
            file: suite.file(),
            fingerprint: fingerprint(tests.map(|(test, hash)| (test.id.as_str(), hash.as_str()))),
        }
    });
    let cases: usize = suites
        .iter()
        .flat_map(|suite| &suite.chains)
        .map(Vec::len)
        .sum();
    let mut header = Header::new(rfc3339(now), planned.collect(), cases as u64);
    header.options = plan_options(args);
    header
}

fn plan_options(args: &Run) -> PlanOptions {
    PlanOptions {
        targets: args.target.clone(),
        trials: args.trials,
        seed: Some(args.seed),
        sample: args.sample.map(|count| count as u64),
        shard: args.shard.clone(),
        filters: args.filter.clone(),
        tags: args.tag.clone(),
    }
}
