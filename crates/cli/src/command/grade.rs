//! `grade`: a stored run, graded again with the suite's assertions of today.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use camino::Utf8PathBuf;
use evalrig_core::assertion::judge_criteria;
use evalrig_core::plan::Selection;
use evalrig_core::read::{FoundSuite, Origin, repository_root};
use evalrig_core::secrets::Secrets;
use evalrig_run::disk::Disk;
use evalrig_run::execute::{Books, Job, RunOptions};
use evalrig_run::prepare::{Runnable, Stations, TargetScope, Wishes, prepare_again};
use evalrig_run::record::{
    CaseKey, Existing, Header, Place, PlannedSuite, Recorder, Rows, fingerprint, rfc3339,
};

use crate::args::Grade;
use crate::command::run::{
    Account, Finish, Need, Ready, Scratch, carry_out, check, judging, load_all, open_reports,
    output_place, refuse, rule_of,
};
use crate::context::{Context, complain};
use crate::exit::Exit;

pub fn run(context: &Context, args: &Grade) -> Result<Exit, Exit> {
    context.check(&args.loading)?;
    let results = context.absolute(&args.results);
    refuse_same_file(context, args, &results)?;
    let stored = Stored::read(&results)?;
    let suite = match &args.suite {
        Some(file) => context.absolute(file),
        None => stored.suite_file(context, args, &results)?,
    };
    let found = [FoundSuite {
        path: suite,
        origin: Origin::Named,
    }];
    let targets = args.targets.as_ref();
    let mut ready = load_all(context, &args.loading, targets, &found, Need::Judges)?;
    let ready = ready.remove(0);
    stored.leave_out_others(&ready.suite.name, args)?;
    check(context, &ready, |at| {
        stored.has(ready.suite.tests[at].id.as_str())
    })?;
    let secrets = Arc::new(ready.secrets.clone());
    let job = prepare(context, args, ready, &results, &stored.keys)?;
    let scratch = Scratch(job.options.scratch.clone());
    if job.case_count() == 0 {
        complain("no row of the file belongs to a test of the suite");
        return Err(Exit::NothingSelected);
    }
    let reports = open_reports(context, &args.reports, rule_of(&args.grading), &job.suites)?;
    let books = books(context, args, &job, secrets)?;
    let account = Account::open(reports, &job.suites, &books, rule_of(&args.grading), None);
    let (planned, started) = (job.case_count(), Instant::now());
    let (ended, account, books) = carry_out(context, job, books, account, 0);
    drop(scratch);
    account.finish(Finish {
        context,
        ended,
        books,
        planned,
        command: None,
        duration: started.elapsed(),
    })
}

/// Rows are read while others are written, so it cannot be one file.
fn refuse_same_file(
    context: &Context,
    args: &Grade,
    results: &camino::Utf8Path,
) -> Result<(), Exit> {
    let Some(output) = &args.keeping.output else {
        return Ok(());
    };
    let real = |path: &camino::Utf8Path| path.canonicalize_utf8().ok();
    let output = context.absolute(output);
    if real(&output).is_some() && real(&output) == real(results) {
        complain("--output: these are the results that are graded; name another file");
        return Err(Exit::CouldNotStart);
    }
    Ok(())
}

/// What a results file holds.
struct Stored {
    keys: Vec<CaseKey>,
    /// Where the first row says its test stands, relative to the repository root.
    file: Option<String>,
}

impl Stored {
    fn read(results: &camino::Utf8Path) -> Result<Self, Exit> {
        let unreadable = |error: &dyn std::fmt::Display| {
            complain(&error.to_string());
            Exit::CouldNotStart
        };
        let mut stored = Self {
            keys: Vec::new(),
            file: None,
        };
        for row in Rows::open(results).map_err(|error| unreadable(&error))? {
            let row = row.map_err(|error| unreadable(&error))?;
            stored.file.get_or_insert_with(|| row.source.file.clone());
            stored.keys.push(row.key());
        }
        Ok(stored)
    }

    /// Rows of other suites are not graded, and somebody is told so.
    fn leave_out_others(&self, suite: &str, args: &Grade) -> Result<(), Exit> {
        let mut others: Vec<&str> = self.keys.iter().map(|key| key.suite.as_str()).collect();
        others.sort_unstable();
        others.dedup();
        others.retain(|name| *name != suite);
        if others.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = others.iter().map(|name| format!("`{name}`")).collect();
        let names = names.join(", ");
        if args.suite.is_none() {
            complain(&format!(
                "`{}` has rows of other suites too: {names}; say with --suite which one to grade",
                args.results
            ));
            return Err(Exit::CouldNotStart);
        }
        complain(&format!("rows of {names} are left out"));
        Ok(())
    }

    fn has(&self, id: &str) -> bool {
        self.keys.iter().any(|key| key.test == id)
    }

    /// The suite that the rows come from, if it is still there.
    fn suite_file(
        &self,
        context: &Context,
        args: &Grade,
        results: &camino::Utf8Path,
    ) -> Result<Utf8PathBuf, Exit> {
        let root = match &args.loading.root {
            Some(root) => context.absolute(root),
            None => root_of(results),
        };
        let file = self.file.as_ref().map(|file| root.join(file));
        match file {
            Some(file) if file.is_file() => Ok(file),
            Some(file) => {
                complain(&format!(
                    "`{file}` is not there; name the suite with --suite"
                ));
                Err(Exit::CouldNotStart)
            }
            None => {
                complain(&format!("`{}` has no rows", args.results));
                Err(Exit::NothingSelected)
            }
        }
    }
}

/// Where the paths of rows start: results that lie in their usual place say so themselves.
pub(super) fn root_of(results: &camino::Utf8Path) -> Utf8PathBuf {
    let real = results.canonicalize_utf8();
    let real = real.unwrap_or_else(|_| results.to_owned());
    let folder = real
        .parent()
        .filter(|folder| folder.ends_with(".evalrig/results"));
    match folder.and_then(|folder| folder.parent()?.parent()) {
        Some(root) => root.to_owned(),
        None => repository_root(&Disk, &real),
    }
}

fn prepare(
    context: &Context,
    args: &Grade,
    mut ready: Ready,
    results: &camino::Utf8Path,
    keys: &[CaseKey],
) -> Result<Job, Exit> {
    if args.grading.judge_criteria {
        ready.suite.tests.iter_mut().for_each(judge_criteria);
    }
    let wishes = Wishes {
        targets: Vec::new(),
        judge: args.grading.judge.clone(),
        selection: Selection::default(),
        trials: None,
        judging: judging(&args.grading),
        pass: args.grading.pass,
        borderline: args.grading.borderline,
        only: None,
    };
    let variable = ready.variable();
    let targets = ready.targets.take();
    let scope = targets.as_ref().map(|targets| TargetScope {
        targets,
        files: &Disk,
        variable: &variable,
    });
    let runnable = Runnable {
        suite: ready.suite,
        sources: ready.sources,
        path: ready.path,
        root: ready.root,
    };
    let mut stations = Stations::default();
    let prepared = prepare_again(runnable, &wishes, results, keys, scope, &mut stations);
    let (suite, gone) = prepared.map_err(|refused| {
        refuse(context, *refused, &ready.secrets);
        Exit::CouldNotStart
    })?;
    for id in gone {
        complain(&format!(
            "test `{id}` is not in the suite any more; its row is left out"
        ));
    }
    Ok(Job {
        suites: vec![suite],
        options: RunOptions {
            workers: args.workers,
            timeout: None,
            retries: None,
            budget_usd: None,
            max_errors: None,
            judging: judging(&args.grading),
            messages: args.keeping.messages,
            scratch: Scratch::new()?.keep(),
            recording: None,
        },
        answered: HashMap::new(),
    })
}

fn books(context: &Context, args: &Grade, job: &Job, secrets: Arc<Secrets>) -> Result<Books, Exit> {
    let suite = &job.suites[0];
    let now = SystemTime::now();
    let place = match &args.keeping.output {
        Some(path) => Ok(output_place(&context.absolute(path))?),
        None => Place::claim(&suite.root, &suite.suite.name, now),
    };
    let tests = suite.suite.tests.iter().zip(&suite.hashes);
    let planned = PlannedSuite {
        name: suite.suite.name.clone(),
        file: suite.file(),
        fingerprint: fingerprint(tests.map(|(test, hash)| (test.id.as_str(), hash.as_str()))),
    };
    let header = Header::new(rfc3339(now), vec![planned], job.case_count() as u64);
    let recorder = place
        .map_err(|error| error.to_string())
        .and_then(|place| {
            Recorder::create(place, Existing::Replace, &header, secrets)
                .map_err(|error| error.to_string())
        })
        .map_err(|error| {
            complain(&format!("cannot write results: {error}"));
            Exit::CouldNotStart
        })?;
    if args.keeping.output.is_none() {
        let _ = recorder.place().point_latest();
    }
    Ok(Books {
        recorders: vec![recorder],
        of_suite: vec![0],
    })
}
