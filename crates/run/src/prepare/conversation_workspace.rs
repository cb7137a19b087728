//! The tests of a conversation share one workspace, so all of them must ask for the same one.

use std::collections::BTreeSet;

use evalrig_core::declare_codes;
use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::model::{Test, Workspace};
use evalrig_core::plan::PlannedCase;

use crate::execute::SuiteJob;

use super::PrepareErrors;

declare_codes! {
    CONVERSATION_WORKSPACE = "conversation-workspace", BlocksRun, Target, r#"A test continues a conversation, but its workspace is not that of the first test.

## Example
```text
workspace: ./shop at the first test with `conversation_id: talk`, and workspace: ./store, or none, at the second
```

## Instead
```text
workspace: ./shop at the suite
```

## Why
The tests of a conversation share one workspace, which is made for the first of them: what the others ask for would
have no effect.
"#;
}

/// One error for each later test.
pub(super) fn check_conversations(job: &SuiteJob, errors: &mut PrepareErrors) {
    let mut known = BTreeSet::new();
    for chain in &job.chains {
        let Some((first, later)) = chain.split_first() else { continue };
        for case in later {
            let is_other = workspace_of(job, case) != workspace_of(job, first);
            if is_other && is_asked(job, case) && known.insert(case.test) {
                let tests = &job.suite.tests;
                let found = other_workspace(&tests[case.test], &tests[first.test]);
                errors.diagnostics.push(found);
            }
        }
    }
}

/// A stored answer needs no workspace.
fn is_asked(job: &SuiteJob, case: &PlannedCase) -> bool {
    let test = &job.suite.tests[case.test];
    let is_stored = job.target(&case.target).is_some_and(|connected| connected.is_stored());
    test.conversation_id.is_some() && test.skip.is_none() && !is_stored
}

fn workspace_of<'j>(job: &'j SuiteJob, case: &PlannedCase) -> Option<&'j Workspace> {
    let arm = job.variant(&case.target).and_then(|variant| variant.workspace.as_ref());
    arm.or(job.suite.tests[case.test].workspace.as_ref())
}

fn other_workspace(test: &Test, first: &Test) -> Diagnostic {
    let message = format!(
        "`{}` continues the conversation of `{}`, but has another workspace",
        test.id, first.id
    );
    Diagnostic::new(&CONVERSATION_WORKSPACE, test.span.at_start(), message)
        .related(first.span.at_start(), "the conversation begins here")
        .help("write `workspace` once, at the suite")
}
