//! Finds assertions that cannot be measured because a target does not report what they need, before
//! anything is called.

use std::collections::BTreeSet;

use evalrig_core::declare_codes;
use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::model::NamedAssertion;

use crate::agent::Unreported;
use crate::execute::SuiteJob;

declare_codes! {
    NOT_REPORTED = "not-reported", Warning, Target, r#"An assertion needs something that the target cannot report, such as tool calls.

## Example
```text
a test with `tool-trajectory`, and a target with `provider: cli` and `format: text`
```

## Instead
```text
format: jsonl, and a program that prints its events
```

## Why
Plain text is an answer and nothing else: whether tools were called, and how many tokens were used, is
unknown, and what is unknown is neither passed nor failed. The test ends as errored, which is better known
before the target is called.
"#;
}

/// One warning for each assertion, target and missing part.
pub(super) fn find_unreported(job: &SuiteJob) -> Vec<Diagnostic> {
    let cases: BTreeSet<(usize, &str)> =
        job.chains.iter().flatten().map(|case| (case.test, case.target.as_str())).collect();
    let mut found = Vec::new();
    for (test, target) in cases {
        let test = &job.suite.tests[test];
        let unreported = job.target(target).map(|connected| connected.unreported());
        let unreported = unreported.filter(|_| test.skip.is_none()).unwrap_or_default();
        if !unreported.is_empty() {
            add_found(&test.assertions, target, &unreported, &mut found);
        }
    }
    found
}

fn add_found(
    assertions: &[NamedAssertion],
    target: &str,
    unreported: &[Unreported],
    found: &mut Vec<Diagnostic>,
) {
    for named in assertions {
        let (common, check) = (&named.assertion.common, &named.assertion.check);
        let needed = check.measures();
        for missing in unreported.iter().filter(|one| needed.contains(&one.what)) {
            let why = missing.sentence(target);
            let message = format!("`{}` cannot be measured: {why}", named.assertion.type_name);
            let diagnostic = Diagnostic::new(&NOT_REPORTED, common.head, message);
            found.push(diagnostic.help(missing.remedy));
        }
        add_found(check.members(), target, unreported, found);
    }
}
