//! Earlier runs: what did not pass there, and what an interrupted one has done already.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::SystemTime;

use camino::Utf8Path;
use evalrig_core::access::Secrets;
use evalrig_run::execute::{Answered, Books, SuiteJob};
use evalrig_run::prepare::{Wishes, leave_out};
use evalrig_run::record::{
    CaseKey, Existing, Header, Interrupted, Place, PlanOptions, PlannedSuite, Recorder, Rows,
    fingerprint, read_unpassed, rfc3339,
};

use crate::args::{LATEST, Run};
use crate::context::{Context, complain};
use crate::exit::Exit;

use super::account::Account;
use super::suites::Ready;

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
    let mut only = HashSet::new();
    for one in ready {
        let file = match given.as_str() {
            LATEST => Place::latest_of(&one.root, &one.suite.name),
            path => Some(context.absolute(path)),
        };
        let Some(file) = file else {
            complain(&format!(
                "--failed: suite `{}` has no results yet",
                one.suite.name
            ));
            return Err(Exit::CouldNotStart);
        };
        for key in read_unpassed(&file).map_err(|error| unreadable(&error))? {
            if key.suite == one.suite.name {
                only.insert(key);
            }
        }
    }
    wishes.only = Some(only);
    Ok(())
}

fn unreadable(error: &dyn std::fmt::Display) -> Exit {
    complain(&error.to_string());
    Exit::CouldNotStart
}

/// What earlier runs of these suites left behind.
#[derive(Debug)]
pub(super) struct Earlier {
    interrupted: Vec<Interrupted>,
    /// Which of them a suite goes on with.
    of_suite: Vec<Option<usize>>,
    /// Cases of the plan that are not run again.
    finished: HashSet<CaseKey>,
}

impl Earlier {
    /// Nothing unless `--resume` asks for it. A file that is named may hold the rows of several
    /// suites; otherwise each has its own.
    pub(super) fn find(context: &Context, args: &Run, suites: &[SuiteJob]) -> Result<Self, Exit> {
        let mut earlier = Self {
            interrupted: Vec::new(),
            of_suite: vec![None; suites.len()],
            finished: HashSet::new(),
        };
        match args.resume.as_deref() {
            None => return Ok(earlier),
            Some(LATEST) => {
                for (at, suite) in suites.iter().enumerate() {
                    if let Some(file) = Place::interrupted(&suite.root, &suite.suite.name) {
                        earlier.of_suite[at] = Some(earlier.read(&file)?);
                    }
                }
            }
            Some(path) => {
                let only = earlier.read(&context.absolute(path))?;
                earlier.of_suite.fill(Some(only));
            }
        }
        if earlier.interrupted.is_empty() {
            complain("--resume: there is no interrupted run");
            return Err(Exit::CouldNotStart);
        }
        Ok(earlier)
    }

    fn read(&mut self, file: &Utf8Path) -> Result<usize, Exit> {
        let read = Interrupted::read(file).map_err(|error| unreadable(&error))?;
        for notice in read.notices() {
            complain(&notice);
        }
        self.interrupted.push(read);
        Ok(self.interrupted.len() - 1)
    }

    /// Takes finished cases out of the plans. Gives the answers that are only to be graded.
    pub(super) fn take_out(&mut self, suites: &mut [SuiteJob]) -> HashMap<CaseKey, Answered> {
        let mut answered = HashMap::new();
        for (suite, at) in suites.iter_mut().zip(&self.of_suite) {
            let Some(interrupted) = at.map(|at| &mut self.interrupted[at]) else {
                continue;
            };
            for (key, hash) in suite.keys() {
                if interrupted.finished(&key, hash).is_some() {
                    self.finished.insert(key);
                } else if let Some(found) = interrupted.take_answered(&key, hash) {
                    let found = Answered {
                        transcript: found.transcript,
                        attempts: found.attempts,
                    };
                    answered.insert(key, found);
                }
            }
            leave_out(suite, |key| self.finished.contains(key));
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
        let mut books = Books {
            recorders: Vec::new(),
            of_suite: vec![0; suites.len()],
        };
        let now = SystemTime::now();
        for interrupted in &self.interrupted {
            let header = header(args, suites, now);
            let made = Recorder::resume(interrupted, &header, Arc::clone(secrets));
            books
                .recorders
                .push(made.map_err(|error| unwritable(&error))?);
        }
        if let Some(output) = &args.keeping.output {
            let place = output_place(&context.absolute(output))?;
            let header = header(args, suites, now);
            books.recorders.push(create(place, &header, secrets)?);
            return Ok(books);
        }
        for (at, suite) in suites.iter().enumerate() {
            if let Some(earlier) = self.of_suite[at] {
                books.of_suite[at] = earlier;
                continue;
            }
            let place = Place::claim(&suite.root, &suite.suite.name, now);
            let place = place.map_err(|error| unwritable(&error))?;
            let header = header(args, std::slice::from_ref(suite), now);
            books.of_suite[at] = books.recorders.len();
            books.recorders.push(create(place, &header, secrets)?);
        }
        for recorder in &books.recorders {
            // Results without the link are still results.
            let _ = recorder.place().point_latest();
        }
        Ok(books)
    }

    /// Lets reports hear of the cases that are not run again.
    pub(super) fn retell(&self, account: &mut Account) -> Result<(), Exit> {
        for (at, interrupted) in self.interrupted.iter().enumerate() {
            let rows = Rows::open(interrupted.place.results());
            for row in rows.map_err(|error| unreadable(&error))? {
                let row = row.map_err(|error| unreadable(&error))?;
                if self.finished.contains(&row.key()) {
                    account.row(at, &row);
                }
            }
        }
        Ok(())
    }
}

fn create(place: Place, header: &Header, secrets: &Arc<Secrets>) -> Result<Recorder, Exit> {
    let made = Recorder::create(place, Existing::Replace, header, Arc::clone(secrets));
    made.map_err(|error| unwritable(&error))
}

/// What somebody named by mistake must not be emptied: only results are replaced by results.
pub(in super::super) fn output_place(path: &Utf8Path) -> Result<Place, Exit> {
    let is_results = match Rows::open(path) {
        Ok(_) => true,
        Err(_) => std::fs::metadata(path).map_or(true, |found| !found.is_file()),
    };
    if !is_results {
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
    header.options = PlanOptions {
        targets: args.target.clone(),
        trials: args.trials,
        seed: Some(args.seed),
        sample: args.sample.map(|count| count as u64),
        shard: args.shard.clone(),
        filters: args.filter.clone(),
        tags: args.tag.clone(),
    };
    header
}
