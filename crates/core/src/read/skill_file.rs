//! SKILL.md: the name and description of a skill, and where skills are found (spec 18.3).

use camino::Utf8Path;

use crate::diagnostic::{Diagnostic, Diagnostics, declare_codes};
use crate::model::Skill;
use crate::reader::Reader;
use crate::source::{EntryKind, Files, Reach, Sources, Span};
use crate::syntax::fields::shorten;
use crate::syntax::parse_yaml;

declare_codes! {
    INVALID_FRONT_MATTER = "invalid-front-matter", Warning, Reference, r#"The front matter of a `SKILL.md` is not YAML. Its name and description are read line by line.

## Example
```yaml
name: demo
skills: [./skills/csv]
tests:
  - {id: a, criteria: Reads the file, input: Sum up sales.csv}
```
```markdown skills/csv/SKILL.md
---
name: csv
description: Use when: a CSV file is given
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
description: "Use when: a CSV file is given"
---
```

## Why
Some agents read such a file line by line, others do not offer the skill at all.
"#;
    OTHER_SKILL_NAME = "other-skill-name", Warning, Reference, r#"The `skill_name` of an evals.json is not the name of the skill in whose directory it is.

## Example
```json greeter/evals/evals.json
{"skill_name": "greetings", "evals": [{"id": 1, "prompt": "Hi", "expected_output": "Hello"}]}
```
```markdown greeter/SKILL.md
---
name: greeter
description: Greets people
---
```

## Instead
```json greeter/evals/evals.json
{"skill_name": "greeter", "evals": [{"id": 1, "prompt": "Hi", "expected_output": "Hello"}]}
```
```markdown greeter/SKILL.md
---
name: greeter
description: Greets people
---
```

## Why
Agents report the name in SKILL.md. A trigger of another name never matches, so that the skill seems to be unused.
"#;
}

/// The file that makes a directory a skill.
pub const SKILL_FILE: &str = "SKILL.md";

const LARGEST: u64 = 1024 * 1024;

/// What SKILL.md says at its top.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillFacts {
    pub name: String,
    pub description: Option<String>,
    pub front: SkillFrontMatter,
}

/// How the front matter was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillFrontMatter {
    Yaml,
    /// Line by line, because it is not YAML.
    Lines,
}

/// The front matter of a SKILL.md; `None` without a name.
pub fn skill_facts(text: &str) -> Option<SkillFacts> {
    let rest = text.strip_prefix('\u{feff}').unwrap_or(text).strip_prefix("---")?;
    let (front, _) = rest.split_once("\n---")?;
    let mut sources = Sources::new();
    let source = sources.add_file(SKILL_FILE.into(), front.to_owned(), 0);
    let shared = sources.get(source).shared_text();
    let Some(tree) = parse_yaml(source, shared, &mut Diagnostics::new()) else {
        return facts_by_line(front);
    };
    let field = |name: &str| {
        let text = tree.root().get(name)?.scalar_text()?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    Some(SkillFacts {
        name: field("name")?,
        description: field("description"),
        front: SkillFrontMatter::Yaml,
    })
}

/// `key: value` lines. A description with a colon in it is the usual reason why they are not YAML.
fn facts_by_line(front: &str) -> Option<SkillFacts> {
    let field = |name: &str| {
        let mut values =
            front.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let value = values.next()?.trim();
        let quoted = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
        let text = quoted('"').or_else(|| quoted('\'')).unwrap_or(value);
        // The text of a block is on the lines below.
        let is_text = !text.is_empty() && !text.starts_with(['|', '>', '[', '{']);
        is_text.then(|| text.to_owned())
    };
    Some(SkillFacts {
        name: field("name")?,
        description: field("description"),
        front: SkillFrontMatter::Lines,
    })
}

/// Reports a SKILL.md that not every agent can read.
pub(super) fn check_front_matter(reader: &mut Reader<'_>, directory: &Utf8Path, span: Span) {
    let path = directory.join(SKILL_FILE);
    let Ok(bytes) = reader.world.files.read(&path, reader.reach(), LARGEST) else {
        return;
    };
    let facts = std::str::from_utf8(&bytes).ok().and_then(skill_facts);
    if facts.is_some_and(|facts| facts.front == SkillFrontMatter::Lines) {
        let message = format!("the front matter of `{}` is not YAML", reader.shown(&path));
        let help = "put values that contain `: ` in quotes";
        reader.report(Diagnostic::new(&INVALID_FRONT_MATTER, span, message).help(help));
    }
}

/// Reports a `skill_name` that no agent will report.
pub(super) fn check_skill_name(reader: &mut Reader<'_>, written: &str, own: &Skill, span: Span) {
    if written != own.name {
        let shown = reader.shown(&own.directory.join(SKILL_FILE));
        let message =
            format!("`skill_name` is `{written}`, but `{shown}` is the skill `{}`", own.name);
        let help = format!("write `\"skill_name\": \"{}\"`", own.name);
        reader.report(Diagnostic::new(&OTHER_SKILL_NAME, span, message).help(help));
    }
}

/// The skill in a directory; `None` without a SKILL.md. Without a name in it, the directory has it.
pub fn skill_in(files: &dyn Files, directory: &Utf8Path, reach: Reach<'_>) -> Option<Skill> {
    let bytes = files.read(&directory.join(SKILL_FILE), reach, LARGEST).ok()?;
    let facts = std::str::from_utf8(&bytes).ok().and_then(skill_facts);
    let name = match facts {
        Some(facts) => facts.name,
        None => directory.file_name()?.to_owned(),
    };
    Some(Skill { name, directory: directory.to_owned() })
}

/// Bytes of the longest name of a skill.
const LONGEST_NAME: usize = 128;

/// Why a name cannot be that of a skill, which is copied to a directory of this name.
pub fn skill_name_fault(name: &str) -> Option<String> {
    let shown = shorten(name);
    if name.is_empty() {
        return Some("its name is empty".to_owned());
    }
    if name.len() > LONGEST_NAME {
        return Some(format!("its name `{shown}` is longer than {LONGEST_NAME} bytes"));
    }
    if name.contains(char::is_control) {
        return Some(format!("its name `{shown}` contains a control character"));
    }
    // On Windows, `C:` is a path too.
    let is_path = name.contains(['/', '\\', ':']) || name.chars().all(|c| c == '.');
    is_path.then(|| format!("its name `{shown}` is a path"))
}

/// The skill in a directory, or those in the directories that it holds, in order of their names.
pub fn skills_in(files: &dyn Files, directory: &Utf8Path, reach: Reach<'_>) -> Vec<Skill> {
    if let Some(skill) = skill_in(files, directory, reach) {
        return vec![skill];
    }
    skills_of_parent(files, directory, reach)
}

/// The skills in the directories that a directory holds, in order of their names.
pub fn skills_of_parent(files: &dyn Files, directory: &Utf8Path, reach: Reach<'_>) -> Vec<Skill> {
    let Ok(listing) = files.list(directory, reach) else {
        return Vec::new();
    };
    let entries = listing.entries.iter().filter(|entry| entry.kind == EntryKind::Directory);
    entries.filter_map(|entry| skill_in(files, &directory.join(&entry.name), reach)).collect()
}

/// The skill that a suite lies in: the nearest directory with a SKILL.md, up to the root.
pub fn enclosing_skill(
    files: &dyn Files,
    suite: &Utf8Path,
    root: &Utf8Path,
    reach: Reach<'_>,
) -> Option<Skill> {
    let above = suite.ancestors().skip(1).take_while(|directory| directory.starts_with(root));
    above.into_iter().find_map(|directory| skill_in(files, directory, reach))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::MemoryFiles;

    fn files() -> MemoryFiles {
        MemoryFiles::new()
            .with(
                "/p/skills/csv/SKILL.md",
                "---\nname: csv-analyzer\ndescription: Reads CSV\n---\nText",
            )
            .with("/p/skills/csv/evals/EVAL.yaml", "")
            .with("/p/skills/plain/SKILL.md", "No front matter")
            .with("/p/skills/other/README.md", "")
    }

    fn names(skills: Vec<Skill>) -> Vec<String> {
        skills.into_iter().map(|skill| skill.name).collect()
    }

    #[test]
    fn the_front_matter_names_the_skill() {
        let facts = skill_facts("\u{feff}---\nname: a\ndescription: 'b'\n---\n").unwrap();
        assert_eq!((facts.name.as_str(), facts.description.as_deref()), ("a", Some("b")));
        assert_eq!(facts.front, SkillFrontMatter::Yaml);
        for text in ["", "name: a", "---\nname: a", "---\n[\n---\n", "---\nname:\n---\n"] {
            assert_eq!(skill_facts(text), None, "{text}");
        }
    }

    #[test]
    fn front_matter_that_is_not_yaml_is_read_line_by_line() {
        let facts = |front: &str| skill_facts(&format!("---\n{front}\n---\n"));
        let found = facts("name: csv\ndescription: Use when: a CSV file is given").unwrap();
        assert_eq!((found.name.as_str(), found.front), ("csv", SkillFrontMatter::Lines));
        assert_eq!(found.description.as_deref(), Some("Use when: a CSV file is given"));
        let found =
            facts("names: b\nname: 'csv'\ndescription: >\n  Use: when: x\nx: y: z").unwrap();
        assert_eq!((found.name.as_str(), found.description), ("csv", None));
        assert_eq!(facts("name:\ndescription: a: b"), None);
    }

    #[test]
    fn a_directory_is_a_skill_or_holds_skills() {
        let files = files();
        let of = |path: &str| names(skills_in(&files, path.into(), Reach::Anywhere));
        assert_eq!(of("/p/skills/csv"), ["csv-analyzer"]);
        assert_eq!(of("/p/skills"), ["csv-analyzer", "plain"]);
        assert_eq!(of("/p/skills/other"), [""; 0]);
    }

    #[test]
    fn a_pattern_means_the_directories_below_and_not_a_skill_that_holds_them() {
        let files = files().with("/p/skills/SKILL.md", "---\nname: all\n---\n");
        let directory = "/p/skills".into();
        assert_eq!(names(skills_in(&files, directory, Reach::Anywhere)), ["all"]);
        let below = skills_of_parent(&files, directory, Reach::Anywhere);
        assert_eq!(names(below), ["csv-analyzer", "plain"]);
    }

    #[test]
    fn a_name_is_one_part_of_a_path() {
        for name in ["csv", "csv-analyzer", "Größe 2", "a.b", ".hidden", "..a", "-", "~"] {
            assert_eq!(skill_name_fault(name), None, "{name}");
        }
        assert_eq!(skill_name_fault(&"a".repeat(128)), None);
        let long = "a".repeat(129);
        for (name, word) in [
            ("../../esc", "is a path"),
            ("/etc", "is a path"),
            ("a/b", "is a path"),
            ("a\\b", "is a path"),
            ("C:", "is a path"),
            (".", "is a path"),
            ("..", "is a path"),
            ("", "is empty"),
            ("a\nb", "control character"),
            ("a\0", "control character"),
            ("\u{9b}", "control character"),
            (&long, "is longer than 128 bytes"),
        ] {
            let fault = skill_name_fault(name).unwrap_or_default();
            assert!(fault.contains(word), "{name:?}: {fault}");
        }
    }

    #[test]
    fn a_suite_lies_in_the_nearest_skill_below_the_root() {
        let of = |root: &str| {
            let suite = "/p/skills/csv/evals/EVAL.yaml".into();
            enclosing_skill(&files(), suite, root.into(), Reach::Anywhere).map(|skill| skill.name)
        };
        assert_eq!(of("/p").as_deref(), Some("csv-analyzer"));
        assert_eq!(of("/p/skills/csv/evals"), None);
    }
}
