//! SKILL.md: the name and description of a skill, and where skills are found (spec 18.3).

use camino::Utf8Path;

use crate::diagnostic::Diagnostics;
use crate::model::Skill;
use crate::source::{EntryKind, Files, Reach, Sources};
use crate::syntax::parse_yaml;

/// The file that makes a directory a skill.
pub const SKILL_FILE: &str = "SKILL.md";

const LARGEST: u64 = 1024 * 1024;

/// What SKILL.md says at its top.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillFacts {
    pub name: String,
    pub description: Option<String>,
}

/// The front matter of a SKILL.md; `None` without a name.
pub fn skill_facts(text: &str) -> Option<SkillFacts> {
    let rest = text.strip_prefix('\u{feff}').unwrap_or(text).strip_prefix("---")?;
    let (front, _) = rest.split_once("\n---")?;
    let mut sources = Sources::new();
    let source = sources.add_file(SKILL_FILE.into(), front.to_owned(), 0);
    let shared = sources.get(source).shared_text();
    let tree = parse_yaml(source, shared, &mut Diagnostics::new())?;
    let field = |name: &str| {
        let text = tree.root().get(name)?.scalar_text()?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    Some(SkillFacts { name: field("name")?, description: field("description") })
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

/// The skill in a directory, or those in the directories that it holds, in order of their names.
pub fn skills_in(files: &dyn Files, directory: &Utf8Path, reach: Reach<'_>) -> Vec<Skill> {
    if let Some(skill) = skill_in(files, directory, reach) {
        return vec![skill];
    }
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
        for text in ["", "name: a", "---\nname: a", "---\n[\n---\n", "---\nname:\n---\n"] {
            assert_eq!(skill_facts(text), None, "{text}");
        }
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
    fn a_suite_lies_in_the_nearest_skill_below_the_root() {
        let of = |root: &str| {
            let suite = "/p/skills/csv/evals/EVAL.yaml".into();
            enclosing_skill(&files(), suite, root.into(), Reach::Anywhere).map(|skill| skill.name)
        };
        assert_eq!(of("/p").as_deref(), Some("csv-analyzer"));
        assert_eq!(of("/p/skills/csv/evals"), None);
    }
}
