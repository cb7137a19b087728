//! Which skills a test expects to trigger, or not to (spec 12.3).

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::{Assertion, NamedAssertion, Test};

declare_codes! {
    CONFLICTING_TRIGGERS = "conflicting-triggers", BlocksTranspile, Export, r#"A test expects a skill to trigger and not to trigger.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Analyses the table
    input: What is the mean of column b?
    assert:
      - {type: trigger-judge, skill: csv-analyzer, detection: any-call}
      - {type: trigger-judge, skill: csv-analyzer, detection: any-call, should_trigger: false}
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Analyses the table
    input: What is the mean of column b?
    assert:
      - {type: trigger-judge, skill: csv-analyzer, detection: any-call}
```

## Why
An entry of evals.json has one `should_trigger`, and no agent can pass both.
"#;
}

/// One skill of one test.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WantedTrigger<'a> {
    pub(crate) skill: &'a str,
    /// The effective value.
    pub(crate) should_trigger: bool,
    pub(crate) assertion: &'a Assertion,
}

/// The triggers of a test, each skill once. Those that contradict each other are reported.
pub(crate) fn triggers_of<'a>(
    test: &'a Test,
    report: &mut dyn FnMut(Diagnostic),
) -> Vec<WantedTrigger<'a>> {
    let (mut own, mut inherited) = (Vec::new(), Vec::new());
    for named in &test.assertions {
        let list = if is_own(test, named) { &mut own } else { &mut inherited };
        collect(&named.assertion, list);
    }
    let mut found = Vec::with_capacity(own.len());
    merge(own, &mut found, &mut |first, second| {
        let message = format!(
            "test `{}` requires skill `{}` both to be used and not to be used",
            test.id, second.skill
        );
        report(conflict(first, second, message));
    });
    // Root triggers only apply to skills that the test itself does not mention.
    inherited.retain(|one: &WantedTrigger<'_>| found.iter().all(|own| own.skill != one.skill));
    let mut above = Vec::with_capacity(inherited.len());
    merge(inherited, &mut above, &mut |first, second| {
        // No test is named, so that a fault which all tests share is one fault.
        let message =
            format!("skill `{}` is required both to be used and not to be used", second.skill);
        report(conflict(first, second, message));
    });
    found.append(&mut above);
    found
}

/// What is written inside the test's own mapping.
fn is_own(test: &Test, named: &NamedAssertion) -> bool {
    let span = named.assertion.common.span;
    span.source == test.span.source && test.span.start <= span.start && span.end <= test.span.end
}

/// Members of composites are found too. Only its own `negate` flips a trigger.
fn collect<'a>(assertion: &'a Assertion, found: &mut Vec<WantedTrigger<'a>>) {
    if let Some(trigger) = assertion.check.trigger() {
        found.push(WantedTrigger {
            skill: &trigger.skill,
            should_trigger: trigger.should_trigger != assertion.common.negate,
            assertion,
        });
    }
    for member in assertion.check.members() {
        collect(&member.assertion, found);
    }
}

/// The first of each skill is kept; `clash` hears of every later one that says the opposite.
fn merge<'a>(
    all: Vec<WantedTrigger<'a>>,
    found: &mut Vec<WantedTrigger<'a>>,
    clash: &mut dyn FnMut(&WantedTrigger<'a>, &WantedTrigger<'a>),
) {
    for one in all {
        match found.iter().find(|first| first.skill == one.skill) {
            None => found.push(one),
            Some(first) if first.should_trigger == one.should_trigger => {}
            Some(first) => clash(first, &one),
        }
    }
}

fn conflict(first: &WantedTrigger<'_>, second: &WantedTrigger<'_>, message: String) -> Diagnostic {
    let place = second.assertion.common.head;
    Diagnostic::new(&CONFLICTING_TRIGGERS, place, message)
        .related(first.assertion.common.head, "the other one")
        .help("keep one of the two")
}
