//! Prints what a session reports: notices while it works, and suites that it refuses.

use evalrig_core::diagnostic::{Diagnostic, Severity};
use evalrig_core::secrets::Secrets;
use evalrig_core::source::Sources;
use evalrig_run::session::{Notice, SuiteRefusal};

use crate::context::Context;
use crate::output::print_message;

use super::suite::show;

/// Prints notices to standard error.
pub(super) fn notify(context: &Context) -> impl FnMut(Notice<'_>) {
    let is_quiet = context.global.quiet;
    move |notice| match notice {
        Notice::Message(text) => print_message(&text),
        Notice::Warning(text) if !is_quiet => print_message(&text),
        Notice::Diagnostics { sources, secrets, diagnostics } if !is_quiet => {
            show_notable(context, sources, diagnostics, secrets)
        }
        Notice::Warning(_) | Notice::Diagnostics { .. } => {}
    }
}

/// Prints why a suite cannot be run.
pub(super) fn show_refusal(context: &Context, refusal: SuiteRefusal) {
    let SuiteRefusal { sources, secrets, diagnostics, messages, missing } = refusal;
    show_notable(context, &sources, diagnostics, &secrets);
    for message in messages {
        print_message(&message);
    }
    show_notable(context, &sources, missing, &secrets);
}

/// Prints diagnostics; notes only with `--verbose`.
fn show_notable(
    context: &Context,
    sources: &Sources,
    mut diagnostics: Vec<Diagnostic>,
    secrets: &Secrets,
) {
    if !context.global.verbose {
        diagnostics.retain(|one| one.level.severity() != Severity::Note);
    }
    if !diagnostics.is_empty() {
        show(context, sources, diagnostics, secrets);
    }
}
