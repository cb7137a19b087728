//! Which test goes into which file, and what the files are called (spec 12.3).

use std::collections::{HashMap, HashSet};

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::{Map, Test, Value};
use crate::secrets::Secrets;
use crate::source::Span;
use crate::transpile_rules::{NamedSkill, WantedTrigger, collision, file_name};

use super::{Layout, NoSkill, TranspileOptions};

declare_codes! {
    CONFLICTING_TRIGGER_SETTINGS = "conflicting-trigger-settings", Warning, Export, r#"Two trigger-judges of one skill set `runs_per_query` or `trigger_threshold` differently. The first one counts.

## Example
```yaml
name: demo
tests:
  - id: a
    criteria: Analyses the table
    input: What is the mean of column b?
    assert: [{type: trigger-judge, skill: csv-analyzer, detection: any-call, runs_per_query: 3}]
  - id: b
    criteria: Analyses the table
    input: What is the largest value of column b?
    assert: [{type: trigger-judge, skill: csv-analyzer, detection: any-call, runs_per_query: 5}]
```

## Instead
```yaml
name: demo
metadata: {runs_per_query: 3}
tests:
  - id: a
    criteria: Analyses the table
    input: What is the mean of column b?
    assert: [{type: trigger-judge, skill: csv-analyzer, detection: any-call}]
  - id: b
    criteria: Analyses the table
    input: What is the largest value of column b?
    assert: [{type: trigger-judge, skill: csv-analyzer, detection: any-call}]
```

## Why
evals.json has one place per skill for these numbers.
"#;
}

/// The file name for tests without a skill.
const NO_SKILL: &str = "_no-skill";

/// Settings for the tool that runs the queries.
const SETTINGS: [&str; 2] = ["runs_per_query", "trigger_threshold"];

/// One skill's files.
#[derive(Debug)]
pub(super) struct SkillFiles {
    pub(super) skill_name: String,
    pub(super) evals_name: String,
    pub(super) set_name: String,
    /// Indices of tests in suite order, with the value of `should_trigger` where there is one.
    pub(super) members: Vec<(usize, Option<bool>)>,
    pub(super) metadata: Map,
}

/// The skills of the tests so far, in the order in which they are first seen.
#[derive(Debug, Default)]
pub(super) struct SkillIndex {
    list: Vec<SkillMembers>,
    known: HashMap<String, usize>,
    /// Tests without a trigger.
    idle: Vec<(usize, Option<bool>)>,
    tests: usize,
    faults: Vec<Diagnostic>,
    /// Places of shared assertions whose fault has been reported.
    told: HashSet<Span>,
}

/// A skill and the tests that name it.
#[derive(Debug)]
struct SkillMembers {
    name: String,
    /// Where it is first named, and the position of the test that does.
    first: (Span, u32),
    members: Vec<(usize, Option<bool>)>,
    settings: TriggerSettings,
}

impl SkillMembers {
    /// `None` for the files of tests without a skill.
    fn collides_with(&self, other: Option<&Self>) -> Diagnostic {
        let (place, position) = self.first;
        let other = NamedSkill {
            name: other.map_or(NO_SKILL, |other| &other.name),
            place: other.map(|other| other.first.0),
        };
        collision(&self.name, place, other).of_test(position)
    }
}

/// The values of [`SETTINGS`] and where they are written.
type TriggerSettings = [Option<(Value, Span)>; SETTINGS.len()];

impl SkillIndex {
    /// Adds the next test with its triggers.
    pub(super) fn add(&mut self, test: &Test, wanted: &[WantedTrigger<'_>]) {
        let at = self.tests;
        self.tests += 1;
        if wanted.is_empty() {
            self.idle.push((at, None));
        }
        for one in wanted {
            let index = self.index_of(test, one);
            let skill = &mut self.list[index];
            skill.members.push((at, Some(one.should_trigger)));
            self.take_settings(index, one);
        }
    }

    fn index_of(&mut self, test: &Test, one: &WantedTrigger<'_>) -> usize {
        if let Some(known) = self.known.get(one.skill) {
            return *known;
        }
        self.list.push(SkillMembers {
            name: one.skill.to_owned(),
            first: (one.assertion.common.head, test.position),
            members: Vec::new(),
            settings: TriggerSettings::default(),
        });
        let index = self.list.len() - 1;
        self.known.insert(one.skill.to_owned(), index);
        index
    }

    fn take_settings(&mut self, index: usize, one: &WantedTrigger<'_>) {
        let skill = &mut self.list[index];
        let options = one.assertion.check.options();
        let span = one.assertion.common.head;
        for (name, known) in SETTINGS.iter().zip(&mut skill.settings) {
            let Some(value) = options.get(name) else {
                continue;
            };
            let Some((first, place)) = known else {
                *known = Some((value.clone(), span));
                continue;
            };
            if !is_same_number(first, value) && self.told.insert(span) {
                let message = format!("`{name}` of skill `{}` is set twice", skill.name);
                let diagnostic = Diagnostic::new(&CONFLICTING_TRIGGER_SETTINGS, span, message)
                    .related(*place, "this one counts")
                    .help("set it once, or in the suite's `metadata`");
                self.faults.push(diagnostic);
            }
        }
    }

    /// The same with secrets redacted. Skills whose names become equal share their files.
    pub(super) fn redacted(mut self, secrets: &Secrets) -> Self {
        if secrets.is_empty() {
            return self;
        }
        let mut list: Vec<SkillMembers> = Vec::with_capacity(self.list.len());
        for mut skill in self.list {
            secrets.redact_in_place(&mut skill.name);
            for (value, _) in skill.settings.iter_mut().flatten() {
                secrets.redact_data(value);
            }
            match list.iter_mut().find(|known| known.name == skill.name) {
                Some(known) => {
                    known.members.append(&mut skill.members);
                    known.members.sort_unstable_by_key(|(at, _)| *at);
                    known.members.dedup_by_key(|(at, _)| *at);
                }
                None => list.push(skill),
            }
        }
        self.list = list;
        self
    }

    /// Groups the tests into files; `metadata` is the suite's.
    pub(super) fn group(
        mut self,
        options: &TranspileOptions<'_>,
        metadata: &Map,
        out: &mut Vec<Diagnostic>,
    ) -> Vec<SkillFiles> {
        out.append(&mut self.faults);
        let (mut skills, mut idle) = (self.list, self.idle);
        if options.no_skill == NoSkill::Dominant
            && let Some(dominant) = dominant(&mut skills)
        {
            dominant.members.append(&mut idle);
            dominant.members.sort_unstable_by_key(|(at, _)| *at);
        }
        let has_rest = !skills.is_empty() && !idle.is_empty();
        let names = FileNames { layout: options.layout, several: skills.len() > 1 };
        names.report_collisions(&skills, has_rest, out);
        let mut groups: Vec<SkillFiles> = Vec::with_capacity(skills.len() + 1);
        for skill in skills {
            let settings = settings_of(metadata, skill.settings);
            groups.push(names.group(&skill.name, skill.members, settings));
        }
        if !idle.is_empty() {
            let named = metadata.get("skill").and_then(Value::as_str);
            let named = named.filter(|name| !has_rest && !name.trim().is_empty());
            let settings = settings_of(metadata, TriggerSettings::default());
            groups.push(names.rest(named, idle, settings));
        }
        groups
    }
}

fn is_same_number(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.value() == b.value(),
        _ => a == b,
    }
}

/// The skill with the most tests; on a tie the first one.
fn dominant(skills: &mut [SkillMembers]) -> Option<&mut SkillMembers> {
    let most = skills.iter().map(|skill| skill.members.len()).max()?;
    skills.iter_mut().find(|skill| skill.members.len() == most)
}

/// A skill's own setting overrides the suite's.
fn settings_of(suite: &Map, settings: TriggerSettings) -> Map {
    let mut map = Map::new();
    for (name, own) in SETTINGS.iter().zip(settings) {
        let own = own.map(|(value, _)| value);
        map.insert_some(*name, own.or_else(|| suite.get(name).cloned()));
    }
    map
}

struct FileNames {
    layout: Layout,
    several: bool,
}

impl FileNames {
    /// `has_rest`: some tests have no skill and get files of their own.
    fn report_collisions(
        &self,
        skills: &[SkillMembers],
        has_rest: bool,
        out: &mut Vec<Diagnostic>,
    ) {
        let mut names: HashMap<String, Option<&SkillMembers>> = HashMap::new();
        if has_rest && self.layout == Layout::SkillDirs {
            names.insert(NO_SKILL.to_owned(), None);
        }
        for skill in skills {
            let name = self.part(&skill.name).to_lowercase();
            match names.get(&name) {
                None => drop(names.insert(name, Some(skill))),
                Some(other) => out.push(skill.collides_with(*other)),
            }
        }
    }

    /// The part of a file name that names the skill.
    fn part(&self, skill: &str) -> String {
        let name = file_name(skill);
        match (self.layout, name.strip_suffix('.')) {
            // Windows cannot open a directory whose name ends with a dot.
            (Layout::SkillDirs, Some(rest)) => format!("{rest}_"),
            _ => name,
        }
    }

    fn group(&self, skill: &str, members: Vec<(usize, Option<bool>)>, metadata: Map) -> SkillFiles {
        let file = self.part(skill);
        let (evals_name, set_name) = match (self.layout, self.several) {
            (Layout::SkillDirs, _) => {
                (format!("{file}/evals/evals.json"), format!("{file}/evals/eval-set.json"))
            }
            (Layout::Flat, true) => (format!("{file}.evals.json"), format!("{file}.eval-set.json")),
            (Layout::Flat, false) => ("evals.json".to_owned(), "eval-set.json".to_owned()),
        };
        SkillFiles { skill_name: skill.to_owned(), evals_name, set_name, members, metadata }
    }

    /// The files of tests without a trigger. In a suite without any trigger they belong to the skill
    /// named by the suite, if any.
    fn rest(
        &self,
        named: Option<&str>,
        members: Vec<(usize, Option<bool>)>,
        metadata: Map,
    ) -> SkillFiles {
        let mut group = self.group(named.unwrap_or(NO_SKILL), members, metadata);
        if named.is_none() && self.layout == Layout::Flat {
            group.evals_name = format!("{NO_SKILL}.json");
        }
        group
    }
}

#[cfg(test)]
mod tests {
    use super::{FileNames, Layout};

    #[test]
    fn a_directory_name_does_not_end_in_a_dot() {
        for (layout, name) in [(Layout::SkillDirs, "csv._"), (Layout::Flat, "csv..")] {
            let names = FileNames { layout, several: true };
            assert_eq!(names.part("csv.."), name);
        }
    }
}
