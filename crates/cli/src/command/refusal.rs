//! Shows what sessions say: notices on the way, and the error that ended one.

use evalrig_core::diagnostic::{Diagnostic, Severity};
use evalrig_core::secrets::Secrets;
use evalrig_core::source::Sources;
use evalrig_run::session::{Notice, SessionError, SuiteRefusal};

use crate::context::{Context, report_error};
use crate::exit::Exit;

use super::suite::show;

/// Prints notices on standard error.
pub(super) fn notify(context: &Context) -> impl FnMut(Notice<'_>) {
    let is_quiet = context.global.quiet;
    move |notice| match notice {
        Notice::Message(text) => report_error(&text),
        Notice::Warning(text) if !is_quiet => report_error(&text),
        Notice::Diagnostics {
            sources,
            secrets,
            diagnostics,
        } if !is_quiet => show_notable(context, sources, diagnostics, secrets),
        Notice::Warning(_) | Notice::Diagnostics { .. } => {}
    }
}

/// Prints the error once, and says how to exit.
pub(super) fn report_session_error(context: &Context, error: SessionError) -> Exit {
    let exit = if error.is_nothing_selected() {
        Exit::NothingSelected
    } else {
        Exit::CouldNotStart
    };
    match error {
        SessionError::Refused(suites) => suites
            .into_iter()
            .for_each(|refusal| show_refusal(context, refusal)),
        error => report_error(&error.to_string()),
    }
    exit
}

fn show_refusal(context: &Context, refusal: SuiteRefusal) {
    let SuiteRefusal {
        sources,
        secrets,
        diagnostics,
        messages,
        missing,
    } = refusal;
    show_notable(context, &sources, diagnostics, &secrets);
    for message in messages {
        report_error(&message);
    }
    show_notable(context, &sources, missing, &secrets);
}

/// Notes are for `--verbose`.
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
