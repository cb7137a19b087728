//! Earlier runs: what did not pass there, and what an interrupted one has done already.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::SystemTime;

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
                only.insert((key.test, key.target));
            }
        }
    }
    wishes.selection.ids = Some(only.iter().map(|(test, _)| test.clone()).collect());
    if args.target.is_empty() {
        wishes.only = Some(only);
    }
    Ok(())
}

fn unreadable(error: &dyn std::fmt::Display) -> Exit {
    complain(&error.to_string());
    Exit::CouldNotStart
}

/// What earlier runs of these suites left behind, suite by suite.
#[derive(Debug)]
pub(super) struct Earlier {
    interrupted: Vec<Option<Interrupted>>,
}

impl Earlier {
    /// Nothing unless `--resume` asks for it.
    pub(super) fn find(context: &Context, args: &Run, suites: &[SuiteJob]) -> Result<Self, Exit> {
        let mut interrupted = Vec::with_capacity(suites.len());
        for suite in suites {
            let file = match args.resume.as_deref() {
                None => None,
                Some(LATEST) => Place::interrupted(&suite.root, &suite.suite.name),
                Some(path) => Some(context.absolute(path)),
            };
            let read = file.map(|file| Interrupted::read(&file)).transpose();
            let read = read.map_err(|error| unreadable(&error))?;
            for notice in read.iter().flat_map(Interrupted::notices) {
                complain(&notice);
            }
            interrupted.push(read);
        }
        if args.resume.is_some() && interrupted.iter().all(Option::is_none) {
            complain("--resume: there is no interrupted run");
            return Err(Exit::CouldNotStart);
        }
        if suites.len() > 1 && args.resume.as_deref().is_some_and(|path| path != LATEST) {
            complain("--resume: a results file belongs to one suite; name that suite too");
            return Err(Exit::CouldNotStart);
        }
        Ok(Self { interrupted })
    }

    /// Takes finished cases out of the plans. Gives the answers that are only to be graded.
    pub(super) fn take_out(&mut self, suites: &mut [SuiteJob]) -> HashMap<CaseKey, Answered> {
        let mut answered = HashMap::new();
        for (suite, interrupted) in suites.iter_mut().zip(&mut self.interrupted) {
            let Some(interrupted) = interrupted else {
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
            let place = Place::at(&context.absolute(output)).map_err(|error| unwritable(&error))?;
            let header = header(args, suites, now);
            let made = Recorder::create(place, Existing::Replace, &header, Arc::clone(secrets));
            return Ok(Books {
                recorders: vec![made.map_err(|error| unwritable(&error))?],
                of_suite: vec![0; suites.len()],
            });
        }
        let mut recorders = Vec::with_capacity(suites.len());
        for (suite, interrupted) in suites.iter().zip(&self.interrupted) {
            let header = header(args, std::slice::from_ref(suite), now);
            let secrets = Arc::clone(secrets);
            let made = match interrupted {
                Some(interrupted) => Recorder::resume(interrupted, &header, secrets),
                None => {
                    let place = Place::claim(&suite.root, &suite.suite.name, now);
                    let place = place.map_err(|error| unwritable(&error))?;
                    Recorder::create(place, Existing::Replace, &header, secrets)
                }
            };
            let recorder = made.map_err(|error| unwritable(&error))?;
            // Results without the link are still results.
            let _ = recorder.place().point_latest();
            recorders.push(recorder);
        }
        Ok(Books {
            of_suite: (0..recorders.len()).collect(),
            recorders,
        })
    }

    /// Lets reports hear of the cases that are not run again.
    pub(super) fn retell(&self, account: &mut Account) -> Result<(), Exit> {
        for interrupted in self.interrupted.iter().flatten() {
            let rows = Rows::open(interrupted.place.results());
            for row in rows.map_err(|error| unreadable(&error))? {
                let row = row.map_err(|error| unreadable(&error))?;
                if interrupted.finished(&row.key(), &row.test_hash).is_some() {
                    account.row(&row);
                }
            }
        }
        Ok(())
    }
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
