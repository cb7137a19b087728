//! Names of targets: a suite may only use those that the targets file has (spec 3.7, 9.2).

use crate::diagnostic::{Diagnostic, Level, declare_codes, did_you_mean};
use crate::source::{Span, Spanned};
use crate::syntax::fields::{Entry, shorten};

use super::state::{Reader, TargetNames};

declare_codes! {
    UNKNOWN_TARGET = "unknown-target", BlocksRun, Target, r#"A suite names a target that the targets file does not define. Without a targets file the name cannot be
checked, and this is only a warning.

## Example
```yaml
name: demo
execution: {target: productoin}
tests:
  - {id: a, criteria: Greets, input: Hi}
```
```yaml .evalrig/targets.yaml
targets:
  - {name: production, provider: mock, responses: [{pattern: ".*", response: Hello}]}
```

## Instead
```yaml
name: demo
execution: {target: production}
tests:
  - {id: a, criteria: Greets, input: Hi}
```
```yaml .evalrig/targets.yaml
targets:
  - {name: production, provider: mock, responses: [{pattern: ".*", response: Hello}]}
```

## Why
Using another target instead would measure another agent, or use another model as judge.
"#;
}

impl Reader<'_> {
    /// The name of a target. An unknown name is reported and kept: the suite is still readable, it
    /// only cannot be run here.
    pub(crate) fn target_name(&mut self, entry: &Entry<'_>) -> Option<Spanned<String>> {
        let name = self.spanned_text(entry)?;
        let fault = match &self.policy.targets {
            TargetNames::Unchecked => None,
            TargetNames::NoFile => Some(no_file(&name.value, name.span)),
            TargetNames::Known { names, .. } if names.contains(&name.value) => None,
            TargetNames::Known { names, file, .. } => {
                // Sorted, so that the suggestion does not depend on the hasher.
                let mut known: Vec<&str> = names.iter().map(String::as_str).collect();
                known.sort_unstable();
                let file = self.shown(file);
                let help = match did_you_mean(&name.value, known) {
                    Some(near) => format!("`{file}` has `{near}`: did you mean that?"),
                    None => format!("add it to `{file}`, or use a name from that file"),
                };
                let message = format!("no target is named `{}`", shorten(&name.value));
                Some(Diagnostic::new(&UNKNOWN_TARGET, name.span, message).help(help))
            }
        };
        if let Some(fault) = fault {
            self.report(fault);
        }
        Some(name)
    }
}

fn no_file(name: &str, span: Span) -> Diagnostic {
    let message = format!("target `{}` cannot be checked without a targets file", shorten(name));
    Diagnostic::new(&UNKNOWN_TARGET, span, message)
        .level(Level::Warning)
        .help("add `.evalrig/targets.yaml`, or pass `--targets FILE`")
}
