//! Which test goes into which file, and what the files are called (`FORMAT.md` 12.3). A file name
//! is always one harmless path component per part, whatever the skill is called.

use std::collections::HashMap;

use crate::assertion::Assertion;
use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::{Map, Value};

use super::trigger::Wanted;
use super::{Job, Layout, NoSkill};

declare_codes! {
    SKILL_NAME_COLLISION = "skill-name-collision", BlocksTranspile, Export, r#"Two skills of a suite would be written to the same file.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Analyses the table
    input: What is the mean of column b?
    assert: [{type: trigger-judge, skill: csv/tools}]
  - id: b
    criteria: Draws the table
    input: Draw column b
    assert: [{type: trigger-judge, skill: CSV_tools}]
```

## Instead
```yaml
name: demo
tests:
  - id: a
    criteria: Analyses the table
    input: What is the mean of column b?
    assert: [{type: trigger-judge, skill: csv-analyzer}]
  - id: b
    criteria: Draws the table
    input: Draw column b
    assert: [{type: trigger-judge, skill: csv-charts}]
```

## Why
Characters that are no letters, digits, `.`, `_` or `-` become `_` in file names, and some file systems do not tell
upper case from lower case. One file would replace the other.
"#;
    CONFLICTING_TRIGGER_SETTINGS = "conflicting-trigger-settings", Warning, Export, r#"Two trigger-judges of one skill set `runs_per_query` or `trigger_threshold` differently. The first one counts.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Analyses the table
    input: What is the mean of column b?
    assert: [{type: trigger-judge, skill: csv-analyzer, runs_per_query: 3}]
  - id: b
    criteria: Analyses the table
    input: What is the largest value of column b?
    assert: [{type: trigger-judge, skill: csv-analyzer, runs_per_query: 5}]
```

## Instead
```yaml
name: demo
metadata: {runs_per_query: 3}
tests:
  - id: a
    criteria: Analyses the table
    input: What is the mean of column b?
    assert: [{type: trigger-judge, skill: csv-analyzer}]
  - id: b
    criteria: Analyses the table
    input: What is the largest value of column b?
    assert: [{type: trigger-judge, skill: csv-analyzer}]
```

## Why
evals.json has one place per skill for these numbers.
"#;
}

/// Stands for the skill of tests that have none.
const NO_SKILL: &str = "_no-skill";

/// Handed on to whoever runs the queries.
const SETTINGS: [&str; 2] = ["runs_per_query", "trigger_threshold"];

/// One skill's files.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) skill_name: String,
    pub(super) evals_name: String,
    pub(super) set_name: String,
    /// Indices of tests in suite order, with the value of `should_trigger` where there is one.
    pub(super) members: Vec<(usize, Option<bool>)>,
    pub(super) metadata: Map,
}

/// A skill on its way to a group.
struct Skill<'a> {
    name: &'a str,
    first: &'a Assertion,
    members: Vec<(usize, Option<bool>)>,
    settings: [Option<(Value, &'a Assertion)>; SETTINGS.len()],
}

pub(super) fn group<'a>(job: &mut Job<'a>, wanted: &[Vec<Wanted<'a>>]) -> Vec<Group> {
    let mut skills = gather(job, wanted);
    let mut idle: Vec<(usize, Option<bool>)> = wanted
        .iter()
        .enumerate()
        .filter(|(_, found)| found.is_empty())
        .map(|(at, _)| (at, None))
        .collect();
    if job.options.no_skill == NoSkill::Dominant
        && let Some(dominant) = dominant(&mut skills)
    {
        dominant.members.append(&mut idle);
        dominant.members.sort_unstable_by_key(|(at, _)| *at);
    }
    let has_rest = !skills.is_empty() && !idle.is_empty();
    report_collisions(job, &skills, has_rest);
    let names = Names {
        layout: job.options.layout,
        several: skills.len() > 1,
    };
    let mut groups: Vec<Group> = Vec::with_capacity(skills.len() + 1);
    for skill in skills {
        let metadata = metadata(&job.suite.metadata, &skill.settings);
        groups.push(names.group(skill.name, skill.members, metadata));
    }
    if !idle.is_empty() {
        let metadata = metadata(&job.suite.metadata, &Default::default());
        groups.push(names.rest(job, has_rest, idle, metadata));
    }
    groups
}

/// In the order in which they are first seen.
fn gather<'a>(job: &mut Job<'a>, wanted: &[Vec<Wanted<'a>>]) -> Vec<Skill<'a>> {
    let mut skills: Vec<Skill<'a>> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for (at, found) in wanted.iter().enumerate() {
        for one in found {
            let index = *known.entry(one.skill).or_insert_with(|| {
                skills.push(Skill {
                    name: one.skill,
                    first: one.assertion,
                    members: Vec::new(),
                    settings: Default::default(),
                });
                skills.len() - 1
            });
            let skill = &mut skills[index];
            skill.members.push((at, Some(one.should_trigger)));
            take_settings(job, skill, one);
        }
    }
    skills
}

fn take_settings<'a>(job: &mut Job<'a>, skill: &mut Skill<'a>, one: &Wanted<'a>) {
    let options = one.assertion.check.options();
    for (name, known) in SETTINGS.iter().zip(&mut skill.settings) {
        let Some(value) = options.get(name) else {
            continue;
        };
        let Some((first, place)) = known else {
            *known = Some((value.clone(), one.assertion));
            continue;
        };
        let span = one.assertion.common.head;
        if !is_same_number(first, value) && job.told.insert(span) {
            let message = format!("`{name}` of skill `{}` is set twice", skill.name);
            let diagnostic = Diagnostic::new(&CONFLICTING_TRIGGER_SETTINGS, span, message)
                .related(place.common.head, "this one counts")
                .help("set it once, or in the suite's `metadata`");
            job.report(diagnostic);
        }
    }
}

fn is_same_number(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.value() == b.value(),
        _ => a == b,
    }
}

/// Most tests; of several with as many, the first seen.
fn dominant<'s, 'a>(skills: &'s mut [Skill<'a>]) -> Option<&'s mut Skill<'a>> {
    let most = skills.iter().map(|skill| skill.members.len()).max()?;
    skills.iter_mut().find(|skill| skill.members.len() == most)
}

fn metadata(suite: &Map, settings: &[Option<(Value, &Assertion)>; SETTINGS.len()]) -> Map {
    let mut map = Map::new();
    for (name, own) in SETTINGS.iter().zip(settings) {
        let own = own.as_ref().map(|(value, _)| value);
        map.insert_some(*name, own.or_else(|| suite.get(name)).cloned());
    }
    map
}

fn report_collisions(job: &mut Job<'_>, skills: &[Skill<'_>], has_rest: bool) {
    let mut names: HashMap<String, Option<&Skill<'_>>> = HashMap::new();
    if has_rest && job.options.layout == Layout::SkillDirs {
        names.insert(NO_SKILL.to_owned(), None);
    }
    for skill in skills {
        let name = file_name(skill.name).to_lowercase();
        match names.get(&name) {
            None => drop(names.insert(name, Some(skill))),
            Some(other) => {
                let others = other.map_or(NO_SKILL, |other| other.name);
                let message = format!(
                    "the files of skills `{}` and `{others}` would have the same name",
                    skill.name
                );
                let place = skill.first.common.head;
                let mut diagnostic = Diagnostic::new(&SKILL_NAME_COLLISION, place, message)
                    .help("rename one of the skills");
                if let Some(other) = other {
                    diagnostic = diagnostic.related(other.first.common.head, "the other one");
                }
                job.report(diagnostic);
            }
        }
    }
}

struct Names {
    layout: Layout,
    several: bool,
}

impl Names {
    fn group(&self, skill: &str, members: Vec<(usize, Option<bool>)>, metadata: Map) -> Group {
        let file = file_name(skill);
        let (evals_name, set_name) = match (self.layout, self.several) {
            (Layout::SkillDirs, _) => (
                format!("{file}/evals/evals.json"),
                format!("{file}/evals/eval-set.json"),
            ),
            (Layout::Flat, true) => (
                format!("{file}.evals.json"),
                format!("{file}.eval-set.json"),
            ),
            (Layout::Flat, false) => ("evals.json".to_owned(), "eval-set.json".to_owned()),
        };
        Group {
            skill_name: skill.to_owned(),
            evals_name,
            set_name,
            members,
            metadata,
        }
    }

    /// Tests without a trigger that no skill takes in. In a suite without any trigger they belong
    /// to the skill that the suite names, if it does.
    fn rest(
        &self,
        job: &Job<'_>,
        has_rest: bool,
        members: Vec<(usize, Option<bool>)>,
        metadata: Map,
    ) -> Group {
        let named = job.suite.metadata.get("skill").and_then(Value::as_str);
        let named = named.filter(|name| !has_rest && !name.trim().is_empty());
        let mut group = self.group(named.unwrap_or(NO_SKILL), members, metadata);
        if named.is_none() && self.layout == Layout::Flat {
            group.evals_name = format!("{NO_SKILL}.json");
        }
        group
    }
}

/// One path component that can neither climb nor hide.
fn file_name(skill: &str) -> String {
    skill
        .chars()
        .enumerate()
        .map(|(at, character)| match character {
            '.' if at == 0 => '_',
            '.' | '_' | '-' => character,
            _ if character.is_alphanumeric() => character,
            _ => '_',
        })
        .collect()
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
}
