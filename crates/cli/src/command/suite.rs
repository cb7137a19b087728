//! Loading one suite for commands that work on its tests.

use camino::Utf8Path;
use evalrig_core::diagnostic::{Diagnostic, Severity};
use evalrig_core::import::{DirectReading, DirectRequest};
use evalrig_core::model::Suite;
use evalrig_core::read::{
    self, CollectTests, Findings as ReadFindings, FoundSuite, LoadError, LoadRequest, Origin, Sink,
};
use evalrig_core::reader::ReadPolicy;
use evalrig_core::secrets::Secrets;
use evalrig_core::source::{Files, Sources};

use crate::args::Loading;
use crate::context::Context;
use crate::error::CommandError;
use crate::output::print_error_findings;
use crate::render::{self, Findings, format_named};
use evalrig_run::session::known_secrets;

/// A suite without its tests.
#[derive(Debug)]
pub struct Read {
    /// Its tests went to the sink.
    pub suite: Suite,
    pub sources: Sources,
    pub secrets: Secrets,
    /// Diagnostics that do not block.
    pub rest: Vec<Diagnostic>,
}

#[derive(Debug)]
pub struct LoadedSuite {
    pub suite: Suite,
    pub sources: Sources,
    pub secrets: Secrets,
}

/// Like [`read()`], with all tests in memory.
pub fn load(
    context: &Context,
    loading: &Loading,
    one: &FoundSuite,
) -> Result<Option<LoadedSuite>, CommandError> {
    let mut tests = CollectTests::default();
    let read = read(context, loading, one, &mut tests)?;
    Ok(read.map(|read| LoadedSuite {
        suite: Suite { tests: tests.0, ..read.suite },
        sources: read.sources,
        secrets: read.secrets,
    }))
}

/// Passes the tests of a suite to the sink. Blocking errors are printed. `Ok(None)` if the file is
/// valid but not a suite.
pub fn read(
    context: &Context,
    loading: &Loading,
    one: &FoundSuite,
    sink: &mut dyn Sink,
) -> Result<Option<Read>, CommandError> {
    let limits = context.limits(loading);
    let root = context.root(loading, &one.path);
    let mut findings = ReadFindings::new();
    let directory = one.path.parent().unwrap_or(&one.path);
    findings.add_secrets(known_secrets(&context.load_options(loading), directory));
    let world = context.world();
    let direct = match direct_reading(context, world.files, one, &root, &limits, &mut findings) {
        DirectReading::Native => None,
        DirectReading::Converted(suite) => Some(suite),
        DirectReading::Refused => {
            let (sources, blocking, secrets) = findings.into_blocking();
            show(context, &sources, blocking, &secrets);
            return Err(CommandError::InvalidSuite);
        }
    };
    let request = LoadRequest::new(world, &limits, &one.path, &root)
        .origin(one.origin)
        .converted(direct.as_ref().map(|suite| suite.text.as_str()));
    match read::load(&request, findings, sink).into_sound() {
        Ok(sound) => {
            let (suite, findings) = sound.into_parts();
            let (sources, rest, secrets) = findings.into_parts();
            Ok(Some(Read { suite, sources, secrets, rest }))
        }
        Err(LoadError::Blocked(findings)) => {
            let (sources, blocking, secrets) = findings.into_blocking();
            show(context, &sources, blocking, &secrets);
            Err(CommandError::InvalidSuite)
        }
        Err(LoadError::NotASuite(findings)) => {
            let (sources, rest, secrets) = findings.into_parts();
            // The caller skips the file; only these diagnostics say why.
            if !rest.is_empty() && !context.global.quiet {
                show(context, &sources, rest, &secrets);
            }
            Ok(None)
        }
    }
}

/// How a suite that was named is read, and for a file of another tool the suite that it becomes. Its
/// providers are of no interest here.
pub fn direct_reading(
    context: &Context,
    files: &dyn Files,
    one: &FoundSuite,
    root: &Utf8Path,
    policy: &ReadPolicy,
    findings: &mut ReadFindings,
) -> DirectReading {
    if one.origin == Origin::Found {
        return DirectReading::Native;
    }
    let shown = context.shown(&one.path);
    let (path, shown) = (one.path.as_path(), shown.as_str());
    let request = DirectRequest { files, path, root, policy, targets: None, shown };
    DirectReading::of(&request, findings)
}

/// Prints diagnostics to standard error.
pub fn show(
    context: &Context,
    sources: &Sources,
    mut diagnostics: Vec<Diagnostic>,
    secrets: &Secrets,
) {
    render::sort(&mut diagnostics, sources);
    let is_error = |one: &&Diagnostic| one.level.severity() == Severity::Error;
    let errors = diagnostics.iter().filter(is_error).count();
    let findings = Findings {
        sources,
        errors,
        diagnostics: &diagnostics,
        warnings: diagnostics.len() - errors,
        dropped: 0,
        files: 1,
        tests: 0,
        working_directory: &context.working_directory,
        secrets,
    };
    if let Some(format) = format_named("full", context.error_look()) {
        print_error_findings(&*format, &findings);
    }
}
