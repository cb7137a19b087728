//! Finds conversations whose target starts a new session for every turn.

use std::collections::BTreeSet;

use evalrig_core::declare_codes;
use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::model::{Role, Test};

use crate::execute::SuiteJob;

declare_codes! {
    NEW_SESSION_PER_TURN = "new-session-per-turn", Warning, Target, r#"A test continues a conversation, but its target starts a new session for every test.

## Example
```text
two tests with `conversation_id: talk`, and a target with `provider: http`
```

## Instead
```text
the second test with the first turn as messages of its `input`, or a target that continues sessions, such as `claude-cli`
```

## Why
The target is asked without the earlier turns, so it answers another question than the one that the test is about.
"#;
}

/// One warning for each later turn and target.
pub(super) fn find_lone_turns(job: &SuiteJob) -> Vec<Diagnostic> {
    let mut later = BTreeSet::new();
    for chain in &job.chains {
        later.extend(chain.iter().skip(1).map(|case| (case.test, case.target.as_str())));
    }
    let is_alone = |(at, target): &(usize, &str)| {
        let test = &job.suite.tests[*at];
        let connected = job.target(target);
        let is_new = connected.is_some_and(|one| !one.continues_sessions() && !one.is_stored());
        is_new && test.conversation_id.is_some() && test.skip.is_none() && !has_history(test)
    };
    later
        .into_iter()
        .filter(is_alone)
        .map(|(at, target)| lone_turn(&job.suite.tests[at], target))
        .collect()
}

/// Whether the author wrote what the agent said before.
fn has_history(test: &Test) -> bool {
    test.input.iter().any(|message| message.role == Role::Assistant)
}

fn lone_turn(test: &Test, target: &str) -> Diagnostic {
    let message = format!(
        "target `{target}` starts a new session, so `{}` is asked without the earlier turns",
        test.id
    );
    let help =
        "write the earlier turns as messages of `input`, or use a target that continues sessions";
    Diagnostic::new(&NEW_SESSION_PER_TURN, test.span.at_start(), message).help(help)
}
