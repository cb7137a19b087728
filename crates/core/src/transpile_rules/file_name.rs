//! The file name of a skill (spec 12.3): always one harmless path component, whatever the skill
//! is called.

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::source::Span;

declare_codes! {
    SKILL_NAME_COLLISION = "skill-name-collision", BlocksTranspile, Export, r#"Two skills of a suite would be written to the same file.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Analyses the table
    input: What is the mean of column b?
    assert: [{type: trigger-judge, skill: csv/tools, detection: any-call}]
  - id: b
    criteria: Draws the table
    input: Draw column b
    assert: [{type: trigger-judge, skill: CSV_tools, detection: any-call}]
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Analyses the table
    input: What is the mean of column b?
    assert: [{type: trigger-judge, skill: csv-analyzer, detection: any-call}]
  - id: b
    criteria: Draws the table
    input: Draw column b
    assert: [{type: trigger-judge, skill: csv-charts, detection: any-call}]
```

## Why
Characters other than letters, digits, `.`, `_` and `-` become `_` in file names, and some file systems ignore
case. One file would replace the other.
"#;
}

/// A skill and where it is first named, if anywhere.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NamedSkill<'a> {
    pub(crate) name: &'a str,
    pub(crate) place: Option<Span>,
}

/// The files of a skill, named at `place`, would replace those of another.
pub(crate) fn collision(name: &str, place: Span, other: NamedSkill<'_>) -> Diagnostic {
    let message =
        format!("the files of skills `{name}` and `{}` would have the same name", other.name);
    let diagnostic =
        Diagnostic::new(&SKILL_NAME_COLLISION, place, message).help("rename one of the skills");
    match other.place {
        Some(place) => diagnostic.related(place, "the other one"),
        None => diagnostic,
    }
}

/// One path component that can neither climb nor hide, nor mean a device.
pub(crate) fn file_name(skill: &str) -> String {
    let characters = skill.chars().enumerate().map(|(at, character)| match character {
        '.' if at == 0 => '_',
        '.' | '_' | '-' => character,
        _ if character.is_alphanumeric() => character,
        _ => '_',
    });
    let name: String = characters.collect();
    if is_device(&name) { format!("_{name}") } else { name }
}

/// Windows takes such a name for a device, whatever follows its first dot: a repository with such
/// a file cannot be checked out there.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).to_ascii_lowercase();
    if matches!(stem.as_str(), "con" | "prn" | "aux" | "nul") {
        return true;
    }
    let port = stem.strip_prefix("com").or(stem.strip_prefix("lpt"));
    let mut digits = port.unwrap_or_default().chars();
    matches!(
        (digits.next(), digits.next()),
        (Some('0'..='9' | '\u{b9}' | '\u{b2}' | '\u{b3}'), None)
    )
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn a_file_name_cannot_leave_its_directory() {
        for (skill, name) in [
            ("csv-analyzer", "csv-analyzer"),
            ("..", "_."),
            ("../../etc/passwd", "_._.._etc_passwd"),
            (".git", "_git"),
            ("a\\b:c\0d\n", "a_b_c_d_"),
            ("/abs", "_abs"),
            ("größe.v2", "größe.v2"),
        ] {
            assert_eq!(file_name(skill), name);
        }
    }

    #[test]
    fn a_file_name_is_no_device_of_windows() {
        for (skill, name) in [
            ("con", "_con"),
            ("NUL", "_NUL"),
            ("aux.v2", "_aux.v2"),
            ("prn", "_prn"),
            ("com1", "_com1"),
            ("Lpt9", "_Lpt9"),
            ("com\u{b9}", "_com\u{b9}"),
            ("com", "com"),
            ("com10", "com10"),
            ("console", "console"),
            ("lpt-1", "lpt-1"),
        ] {
            assert_eq!(file_name(skill), name);
        }
    }
}
