//! References between targets: `use_target` and `judge_target`. Every name that does not come from a
//! variable must exist.

use evalrig_core::declare_codes;
use evalrig_core::diagnostic::{Diagnostic, did_you_mean};
use evalrig_core::reader::{Reader, Template, UNKNOWN_TARGET};
use evalrig_core::syntax::fields::shorten;

use super::entry::{Definition, TargetEntry};
use super::file::Targets;

declare_codes! {
    USE_TARGET_CYCLE = "use-target-cycle", Blocking, Target, r#"`use_target` forms a cycle.

## Example
```yaml .evalrig/targets.yaml
targets:
  - {name: default, use_target: agent}
  - {name: agent, use_target: default}
```

## Instead
```yaml .evalrig/targets.yaml
targets:
  - {name: default, use_target: agent}
  - {name: agent, provider: claude-cli}
```

## Why
A cycle never leads to a target that can run.
"#;
    USE_TARGET_TOO_LONG = "use-target-too-long", Blocking, Target, r#"A chain of `use_target` has more than five steps.

## Example
```yaml .evalrig/targets.yaml
targets:
  - {name: one, use_target: two}
  - {name: two, use_target: three}
  - {name: three, use_target: four}
  - {name: four, use_target: five}
  - {name: five, use_target: six}
  - {name: six, use_target: claude}
  - {name: claude, provider: claude-cli}
```

## Instead
```yaml .evalrig/targets.yaml
targets:
  - {name: one, use_target: claude}
  - {name: claude, provider: claude-cli}
```

## Why
A reader of such a file can hardly tell which target is used.
"#;
}

/// The longest chain of `use_target`.
pub(super) const STEPS: usize = 5;

/// With more names than this, suggestions would be too slow.
const MANY_NAMES: usize = 1000;

pub(super) fn check(reader: &mut Reader<'_>, targets: &Targets) {
    if let Some(judge) = targets.judge_target() {
        check_name(reader, targets, "judge_target", judge);
    }
    for (at, named) in targets.list.iter().enumerate() {
        if let Some(judge) = &named.judge_target {
            check_name(reader, targets, "judge_target", judge);
        }
        if let Definition::Alias(alias) = &named.definition {
            check_name(reader, targets, "use_target", &alias.target);
            check_chain(reader, targets, at);
        }
    }
}

fn check_name(reader: &mut Reader<'_>, targets: &Targets, field: &str, written: &Template) {
    let Some(name) = written.fixed().filter(|name| !targets.has(name)) else {
        return;
    };
    let near = match targets.list.len() {
        0..MANY_NAMES => did_you_mean(&name, targets.names()),
        _ => None,
    };
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => "add a target with that name, or use one of this file".to_owned(),
    };
    let message =
        format!("`{field}` names `{}`, which is not a target of this file", shorten(&name));
    reader.report(Diagnostic::new(&UNKNOWN_TARGET, written.span(), message).help(help));
}

/// Follows one entry. A cycle is reported once, at its first member; an entry that leads into it is
/// not reported.
fn check_chain(reader: &mut Reader<'_>, targets: &Targets, start: usize) {
    let mut way = vec![start];
    while let Some(next) = next_of(targets, way[way.len() - 1]) {
        if next == start {
            if way.iter().all(|member| start <= *member) {
                reader.report(cycle(targets, &way));
            }
            return;
        }
        if way.contains(&next) {
            return;
        }
        if way.len() > STEPS {
            break;
        }
        way.push(next);
    }
    if way.len() > STEPS && matches!(targets.list[way[STEPS]].definition, Definition::Alias(_)) {
        reader.report(too_long(targets, &way));
    }
}

fn next_of(targets: &Targets, at: usize) -> Option<usize> {
    match &targets.list[at].definition {
        Definition::Alias(alias) => targets.index.get(&alias.target.fixed()?).copied(),
        _ => None,
    }
}

fn cycle(targets: &Targets, way: &[usize]) -> Diagnostic {
    let names: Vec<_> = way
        .iter()
        .chain(&way[..1])
        .map(|at| format!("`{}`", shorten(&targets.list[*at].name.value)))
        .collect();
    let message = format!("`use_target` forms a cycle: {}", names.join(" → "));
    let first = &targets.list[way[0]];
    let others = &way[1..];
    let diagnostic = Diagnostic::new(&USE_TARGET_CYCLE, written_at(first), message)
        .help("give one of them a `provider`");
    others.iter().fold(diagnostic, |diagnostic, at| {
        diagnostic.related(written_at(&targets.list[*at]), "continues here")
    })
}

fn too_long(targets: &Targets, way: &[usize]) -> Diagnostic {
    let first = &targets.list[way[0]];
    let message = format!(
        "`{}` leads to its target over more than {STEPS} steps",
        shorten(&first.name.value)
    );
    Diagnostic::new(&USE_TARGET_TOO_LONG, written_at(first), message)
        .help("refer to the target itself")
}

/// Where the definition of an entry is written.
fn written_at(named: &TargetEntry) -> evalrig_core::source::Span {
    match &named.definition {
        Definition::Alias(alias) => alias.target.span(),
        _ => named.name.span,
    }
}

#[cfg(test)]
mod tests {
    use crate::target::file::NotFound;
    use crate::target::testing::{Outcome, read};

    fn chain(names: &[(&str, &str)]) -> Outcome {
        let mut text = "targets:\n- {name: end, provider: mock, response: x}\n".to_owned();
        for (name, used) in names {
            text += &format!("- {{name: {name}, use_target: \"{used}\"}}\n");
        }
        read(&text)
    }

    #[test]
    fn names_lead_to_targets() {
        let read = chain(&[("a", "b"), ("b", "end")]);
        assert_eq!(read.names(), Vec::<&str>::new());
        let targets = read.targets.unwrap();
        assert_eq!(targets.get("a").unwrap().name.value, "end");
        assert!(targets.get("c").is_none());
    }

    #[test]
    fn five_steps_are_allowed_and_six_are_not() {
        let five = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "end")];
        let read = chain(&five);
        assert_eq!(read.names(), Vec::<&str>::new());
        assert!(read.targets.unwrap().get("a").is_some());

        let mut six = vec![("z", "a")];
        six.extend(five);
        let read = chain(&six);
        assert_eq!(read.names(), ["use-target-too-long"]);
        assert_eq!(read.messages(), ["`z` leads to its target over more than 5 steps"]);
        let found = read.targets.as_ref().unwrap().find("z", &|_| None);
        assert_eq!(found.unwrap_err(), NotFound::Endless);
    }

    #[test]
    fn a_cycle_is_reported_once_with_all_its_members() {
        let read = chain(&[("in", "b"), ("a", "b"), ("b", "c"), ("c", "a"), ("me", "me")]);
        assert_eq!(
            read.messages(),
            [
                "`use_target` forms a cycle: `a` → `b` → `c` → `a`",
                "`use_target` forms a cycle: `me` → `me`",
            ]
        );
        assert_eq!(read.out[0].related.len(), 2);
    }

    #[test]
    fn a_long_cycle_is_followed_to_its_limit() {
        let names: Vec<_> = (0..50).map(|n| format!("n{n}")).collect();
        let pairs: Vec<_> =
            (0..50).map(|n| (names[n].as_str(), names[(n + 1) % 50].as_str())).collect();
        let read = chain(&pairs);
        assert_eq!(read.out.len(), 50);
        assert!(read.targets.unwrap().get("n0").is_none());
    }

    #[test]
    fn unknown_names_are_reported_where_they_are_written() {
        let read = read(
            "judge_target: missing\ntargets:\n- {name: end, provider: mock, response: x}\n\
             - {name: a, use_target: edn}\n- {name: b, provider: vscode, grader_target: c}\n",
        );
        let names = ["unsupported-provider", "unknown-target", "unknown-target", "unknown-target"];
        assert_eq!(read.names(), names);
        assert_eq!(
            read.out[2].message,
            "`use_target` names `edn`, which is not a target of this file"
        );
        assert_eq!(read.out[2].help.as_deref(), Some("did you mean `end`?"));
        assert_eq!(read.sources.text_of(read.out[3].span), "c");
    }

    #[test]
    fn names_from_variables_are_found_when_the_variables_are_known() {
        let read = chain(&[("default", "${{ AGENT }}")]);
        assert_eq!(read.names(), Vec::<&str>::new());
        let targets = read.targets.unwrap();
        assert!(targets.get("default").is_none());
        let set = |value: &'static str| move |_: &str| Some(value.to_owned());
        assert!(targets.find("default", &set("end")).is_ok());
        let unknown = targets.find("default", &set("x")).unwrap_err();
        assert_eq!(unknown, NotFound::Unknown("x".into()));
        let NotFound::Unset(missing) = targets.find("default", &|_| None).unwrap_err() else {
            panic!("the variable is not set")
        };
        assert_eq!(missing[0].code.name, "missing-variable");
    }
}
