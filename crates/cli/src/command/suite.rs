//! Loading one suite for commands that need it whole.

use std::io;

use evalrig_core::access::Secrets;
use evalrig_core::diagnostic::{Diagnostic, Diagnostics, Level, Severity};
use evalrig_core::model::Suite;
use evalrig_core::read::{Found, Request, load_suite};
use evalrig_core::source::Sources;

use crate::args::Loading;
use crate::context::Context;
use crate::exit::Exit;
use crate::render::{self, Findings, format_named};

#[derive(Debug)]
pub struct LoadedSuite {
    pub suite: Suite,
    pub sources: Sources,
    pub secrets: Secrets,
    /// What was found besides; nothing in it blocks.
    pub rest: Vec<Diagnostic>,
}

/// A suite without blocking faults; those are shown on standard error. `Ok(None)` when the file
/// is no suite but nothing is wrong with it either.
pub fn load(
    context: &Context,
    loading: &Loading,
    one: &Found,
) -> Result<Option<LoadedSuite>, Exit> {
    let mut sources = Sources::new();
    let mut out = Diagnostics::new();
    let limits = context.limits(loading);
    let root = context.root(loading, &one.path);
    let request = Request {
        world: context.world(),
        limits: &limits,
        path: &one.path,
        origin: one.origin,
        root: &root,
    };
    let loaded = load_suite(&request, &mut sources, &mut out);
    let secrets = loaded
        .as_ref()
        .map(|(_, secrets)| secrets.clone())
        .unwrap_or_default();
    let (blocking, rest): (Vec<Diagnostic>, Vec<Diagnostic>) = out
        .into_vec()
        .into_iter()
        .partition(|one| one.level == Level::Blocking);
    if !blocking.is_empty() {
        show(context, &sources, blocking, &secrets);
        return Err(Exit::CouldNotStart);
    }
    Ok(loaded.map(|(suite, secrets)| LoadedSuite {
        suite,
        sources,
        secrets,
        rest,
    }))
}

/// Draws diagnostics on standard error.
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
        let _ = format.render(&findings, &mut io::stderr().lock());
    }
}
