//! The first suite of a skill, made from its SKILL.md.

use camino::Utf8Path;
use evalrig_core::model::{JsonStyle, Value};
use evalrig_core::read::{SKILL_FILE, skill_facts};
use evalrig_core::source::Reach;
use evalrig_run::disk::read_whole;

use super::MODELINE;

/// What SKILL.md says at its top.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SkillFile {
    name: String,
    description: String,
}

const LARGEST: u64 = 1024 * 1024;

/// The SKILL.md of a directory; `None` without one that has a name.
pub(super) fn read_skill(directory: &Utf8Path) -> Option<SkillFile> {
    let path = directory.join(SKILL_FILE);
    let bytes = read_whole(&path, Reach::Inside(directory), LARGEST).ok()?;
    parse(&String::from_utf8(bytes).ok()?)
}

fn parse(text: &str) -> Option<SkillFile> {
    let facts = skill_facts(text)?;
    let description = facts.description.unwrap_or_else(|| format!("The skill {}", facts.name));
    Some(SkillFile { name: facts.name, description })
}

impl SkillFile {
    /// Two tests: one that needs the skill and one that does not.
    pub(super) fn suite(&self) -> String {
        let quoted = |text: &str| Value::from(text).to_json(JsonStyle::Compact);
        let name = quoted(&self.name);
        format!(
            "{MODELINE}\
             # Tests of the skill in SKILL.md. Write prompts as your users do.\n\
             name: {}\n\
             description: {}\n\n\
             tests:\n\
             \x20 # Replace the input by a task that the skill is made for.\n\
             \x20 - id: uses-the-skill\n\
             \x20   criteria: {}\n\
             \x20   input: {}\n\
             \x20   assert:\n\
             \x20     - {{type: trigger-judge, skill: {name}, detection: any-call}}\n\n\
             \x20 - id: leaves-the-skill-alone\n\
             \x20   criteria: Answers without the skill\n\
             \x20   input: \"What is the capital of France?\"\n\
             \x20   assert:\n\
             \x20     - {{type: trigger-judge, skill: {name}, detection: any-call, should_trigger: false}}\n\
             \x20     - {{type: contains, value: Paris}}\n",
            quoted(&suite_name(&self.name)),
            quoted(&format!("Tests of the skill {}", self.name)),
            quoted(&self.description.chars().take(500).collect::<String>()),
            quoted(&format!(
                "I need this: {}",
                self.description.chars().take(500).collect::<String>()
            )),
        )
    }
}

/// A name that a suite may have: lower case, digits and `-`.
fn suite_name(skill: &str) -> String {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let replaced: String =
        skill.to_lowercase().chars().map(|c| if fits(c) { c } else { '-' }).take(64).collect();
    let name = replaced.trim_start_matches(|c: char| !c.is_ascii_lowercase()).trim_end_matches('-');
    if name.is_empty() { "skill".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_matter_is_read() {
        let text = "---\nname: csv-analyzer\ndescription: >-\n  Adds up\n  columns\n---\n# CSV\n";
        let skill = parse(text).unwrap();
        assert_eq!(skill.name, "csv-analyzer");
        assert_eq!(skill.description, "Adds up columns");
        for without in ["", "# CSV", "---\nname:\n---\n", "---\n- a\n---\n", "---\n{: [\n---\n"] {
            assert_eq!(parse(without), None, "{without}");
        }
    }

    #[test]
    fn suites_get_names_that_are_allowed() {
        assert_eq!(suite_name("CSV Analyzer!"), "csv-analyzer");
        assert_eq!(suite_name("9: \"x\"\n"), "x");
        assert_eq!(suite_name("…"), "skill");
    }
}
