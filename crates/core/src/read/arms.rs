//! `skills` and `arms` of a suite (spec 18.3, 19).

use crate::diagnostic::{Diagnostic, Level, declare_codes};
use crate::model::{Arm, SkillSource};
use crate::reader::{Options, ReadResult, Reader, Reported, wrong_type};
use crate::source::{EntryKind, Span};
use crate::syntax::Node;
use crate::syntax::fields::{Bound, Entry, Field, INVALID_OPTION, Shape, shorten};

use super::inherited_defaults::InheritedDefaults;
use super::loader::Loader;
use super::skill_file::{check_front_matter, skill_name_fault, skills_in, skills_of_parent};
use super::workspace::{WorkspaceLayer, read_env};

declare_codes! {
    INVALID_SKILL_NAME = "invalid-skill-name", BlocksRun, Reference, r#"The name of a skill cannot be the name of a directory.

## Example
```yaml
name: demo
skills: [./skills/csv]
tests:
  - {id: a, criteria: Reads the file, input: Sum up sales.csv}
```
```markdown skills/csv/SKILL.md
---
name: ../csv
description: Reads CSV files
---
```

## Instead
```yaml
name: demo
skills: [./skills/csv]
tests:
  - {id: a, criteria: Reads the file, input: Sum up sales.csv}
```
```markdown skills/csv/SKILL.md
---
name: csv
description: Reads CSV files
---
```

## Why
A skill is copied into the workspace under its name. A name that is a path would put it where the agent does
not look for skills, or outside the workspace.
"#;
    SKILL_NOT_FOUND = "skill-not-found", BlocksRun, Reference, r#"An entry of `skills` leads to no skill: the directory does not exist, or neither it nor a
directory in it has a `SKILL.md`.

## Example
```yaml
name: demo
skills: [./skill/csv]
tests:
  - {id: a, criteria: Reads the file, input: Sum up sales.csv}
```
```markdown skills/csv/SKILL.md
---
name: csv
description: Reads CSV files
---
```

## Instead
```yaml
name: demo
skills: [./skills/csv]
tests:
  - {id: a, criteria: Reads the file, input: Sum up sales.csv}
```
```markdown skills/csv/SKILL.md
---
name: csv
description: Reads CSV files
---
```

## Why
The agent would run without the skill that the suite is about, and every test would measure something else.
"#;
    SKILL_NAME_DIFFERS = "skill-name-differs", Warning, Reference, r#"The name in the front matter of a `SKILL.md` is not the name of its directory.

## Example
```yaml
name: demo
skills: [./skills/csv]
tests:
  - {id: a, criteria: Reads the file, input: Sum up sales.csv}
```
```markdown skills/csv/SKILL.md
---
name: csv-analyzer
description: Reads CSV files
---
```

## Instead
```yaml
name: demo
skills: [./skills/csv-analyzer]
tests:
  - {id: a, criteria: Reads the file, input: Sum up sales.csv}
```
```markdown skills/csv-analyzer/SKILL.md
---
name: csv-analyzer
description: Reads CSV files
---
```

## Why
Agents differ in which of the two they go by. Tests refer to the skill by the name in the front matter.
"#;
}

pub static ARM_FIELDS: &[Field] = &[
    Field::new(
        "skills",
        Shape::List(&Shape::NonEmptyText),
        "directories of skills in place of the suite's; an empty list gives none",
    ),
    Field::new("target", Shape::NonEmptyText, "target in place of the test's"),
    Field::new("model", Shape::NonEmptyText, "model in place of the target's"),
    Field::new("args", Shape::List(&Shape::Text), "arguments added to those of the target"),
    Field::new("env", Shape::MapOf(&Shape::TextOrScalar), "environment variables of the agent"),
    Field::new(
        "workspace",
        Shape::Ref("workspace"),
        "merged over the suite's, in place of that of tests",
    ),
];

/// Longest name of an arm.
const LONGEST_NAME: usize = 64;

/// The `skills` of a suite, a target or an arm.
pub fn read_skills(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<Vec<SkillSource>> {
    if !entry.value.is_sequence() {
        let diagnostic = wrong_type("skills", entry.value, "a list of directories");
        return reader.refuse(diagnostic);
    }
    let mut found = Vec::new();
    for item in entry.value.items() {
        let Some(written) = reader.text_of("skills", item) else { continue };
        found.extend(read_source(reader, &written, item.span()));
    }
    Some(found)
}

fn read_source(reader: &mut Reader<'_>, written: &str, span: Span) -> Option<SkillSource> {
    let (revision, path) = match written.strip_prefix("git:") {
        Some(rest) => {
            let Some((revision, path)) = rest.split_once(':').filter(|(name, _)| is_revision(name))
            else {
                let message = format!("`{written}` does not name a revision and a directory");
                let diagnostic = Diagnostic::new(&INVALID_OPTION, span, message)
                    .help("write `git:REVISION:DIRECTORY`, such as `git:main:./`");
                return reader.refuse(diagnostic);
            };
            (Some(revision.to_owned()), path)
        }
        None => (None, written),
    };
    let parent = if path == "*" { Some(".") } else { path.strip_suffix("/*") };
    let path = parent.unwrap_or(path);
    let directory = reader.resolve(path, span, Level::BlocksRun)?.0;
    let is_parent = parent.is_some();
    let written = written.to_owned();
    let source = SkillSource { written, directory, is_parent, revision, span: Some(span) };
    if source.revision.is_none() {
        check_skills(reader, &source, span);
    }
    Some(source)
}

/// A revision is passed to git as an argument.
fn is_revision(text: &str) -> bool {
    !text.is_empty() && !text.starts_with('-') && !text.contains(|c: char| c.is_whitespace())
}

/// A source of skills from which nothing can be had.
pub fn skill_not_found(span: Span, message: String) -> Diagnostic {
    Diagnostic::new(&SKILL_NOT_FOUND, span, message)
}

/// Reports a source without skills, and skills that cannot be used.
pub(super) fn check_skills(reader: &mut Reader<'_>, source: &SkillSource, span: Span) {
    let directory = &source.directory;
    let shown = reader.shown(directory);
    if reader.kind_of(directory) != Some(EntryKind::Directory) {
        let message = format!("there is no directory `{shown}`");
        return reader.report(Diagnostic::new(&SKILL_NOT_FOUND, span, message));
    }
    let find = if source.is_parent { skills_of_parent } else { skills_in };
    let skills = find(reader.world.files, directory, reader.reach());
    if skills.is_empty() {
        let message = if source.is_parent {
            format!("no directory in `{shown}` has a SKILL.md")
        } else {
            format!("`{shown}` has no SKILL.md")
        };
        return reader.report(Diagnostic::new(&SKILL_NOT_FOUND, span, message));
    }
    for skill in skills {
        check_front_matter(reader, &skill.directory, span);
        let own = skill.directory.file_name().unwrap_or_default();
        if let Some(fault) = skill_name_fault(&skill.name) {
            let message = format!("the skill in `{}` cannot be used: {fault}", shorten(own));
            let help = "write a `name` of letters, digits and hyphens";
            reader.report(Diagnostic::new(&INVALID_SKILL_NAME, span, message).help(help));
        } else if own != skill.name {
            let message = format!("the skill in `{own}` is named `{}`", skill.name);
            let help = format!("rename the directory to `{}`, or change `name`", skill.name);
            reader.report(Diagnostic::new(&SKILL_NAME_DIFFERS, span, message).help(help));
        }
    }
}

/// The `arms` of a suite, in written order.
pub(super) fn read_arms(
    loader: &mut Loader<'_, '_>,
    entry: &Entry<'_>,
    level: &InheritedDefaults<'_>,
) -> Vec<Arm> {
    if !entry.value.is_mapping() {
        loader.reader.report(wrong_type("arms", entry.value, "a mapping of names to arms"));
        return Vec::new();
    }
    let mut arms = Vec::new();
    for (key, value) in entry.value.written_entries() {
        if let Ok(arm) = read_arm(loader, key, value, level) {
            arms.push(arm);
        }
    }
    arms
}

fn read_arm(
    loader: &mut Loader<'_, '_>,
    key: Node<'_>,
    value: Node<'_>,
    level: &InheritedDefaults<'_>,
) -> ReadResult<Arm> {
    let reader = &mut loader.reader;
    let name = key.scalar_text().unwrap_or_default();
    let is_legal = !name.is_empty()
        && name.len() <= LONGEST_NAME
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    if !is_legal {
        let message = "the name of an arm consists of letters, digits, `.`, `_` and `-`";
        reader.report(Diagnostic::new(&INVALID_OPTION, key.span(), message));
        return Err(Reported);
    }
    let mut arm = Arm { span: Some(key.span()), ..Arm::plain(name) };
    if !value.is_mapping() {
        reader.report(
            wrong_type(name, value, "a mapping").help("write `{}` for an arm that changes nothing"),
        );
        return Err(Reported);
    }
    let bound = Bound::new(value, &[ARM_FIELDS], reader.out);
    bound.report_unknown(&[ARM_FIELDS], reader.out);
    arm.skills = bound.get("skills").and_then(|entry| read_skills(reader, &entry));
    let own = bound.get("workspace").map(|entry| loader.read_workspace(&entry));
    arm.workspace =
        own.and_then(|own| WorkspaceLayer::for_test(Some(own), level)).map(WorkspaceLayer::finish);
    let reader = &mut loader.reader;
    let mut options = Options { reader, fields: &bound, owner: name };
    let target = options.text("target");
    let model = options.text("model");
    let args = options.texts("args");
    let env = options.optional("env", read_env);
    arm.target = target?.map(|text| text.value);
    arm.model = model?.map(|text| text.value);
    arm.args = args?.unwrap_or_default().into_iter().map(|text| text.value).collect();
    arm.env = env?.unwrap_or_default();
    Ok(arm)
}
