//! Paths of skills. Names are whole: a skill is never recognized by a part of a name or of a path.

const FILE: &str = "SKILL.md";

/// What may stand around a path in code.
const AROUND: &[char] =
    &[' ', '\t', '\n', '\r', '"', '\'', '`', '(', ')', ',', ';', '=', '<', '>', '|', '&', ':'];

/// The skill whose `SKILL.md` a path names.
pub(super) fn skill_in_path(path: &str) -> Option<String> {
    skill_of_file(&path_parts("", path))
}

/// The parts of a path below a directory, without `.` and `..` where that is possible.
pub(super) fn path_parts(directory: &str, path: &str) -> Vec<String> {
    let directory = if is_absolute(path) { "" } else { directory };
    let mut parts: Vec<String> = Vec::new();
    for part in directory.split('/').chain(path.split(['/', '\\'])) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| last != "..") => {
                parts.pop();
            }
            _ => parts.push(part.to_owned()),
        }
    }
    parts
}

fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '~', '$'])
}

/// `…/NAME/SKILL.md`.
pub(super) fn skill_of_file(parts: &[String]) -> Option<String> {
    match parts {
        [.., name, file] if file == FILE => skill_name(name),
        _ => None,
    }
}

/// `…/skills/…/NAME/scripts/…`. Projects have directories named `scripts` too, so it must be below a
/// directory of skills.
pub(super) fn skill_of_script(parts: &[String]) -> Option<String> {
    let at = parts.iter().position(|part| part == "scripts").filter(|at| at + 1 < parts.len())?;
    let above = &parts[..at.checked_sub(1)?];
    let is_below_skills = above.iter().any(|part| part == "skills");
    if is_below_skills { skill_name(&parts[at - 1]) } else { None }
}

/// A pattern such as `*` does not say which skill it is.
fn skill_name(part: &str) -> Option<String> {
    let is_name = part != ".." && !part.contains(['*', '?', '[', '{', '$']);
    is_name.then(|| part.to_owned())
}

/// Where the `SKILL.md` is that a text names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SkillFilePlace {
    /// There is none, or it is a file of the project like others.
    None,
    /// At an absolute path that is not below a directory of skills. The agent may have been given the skill
    /// there, or may work on it.
    Elsewhere,
    /// It may be that of a skill the agent has.
    Skills,
}

impl SkillFilePlace {
    /// Of a path, or of the paths in code.
    pub(super) fn of(directory: &str, text: &str) -> Self {
        if !text.contains(FILE) {
            return Self::None;
        }
        let paths = text.split(AROUND).filter(|path| path.ends_with(FILE));
        // The text as a whole may be a path with spaces.
        let whole = Some(text).filter(|text| text.ends_with(FILE));
        let places = paths.chain(whole).map(|path| Self::of_path(directory, path));
        places.max().unwrap_or(Self::None)
    }

    /// Agents look for skills in directories named `skills`. Elsewhere in a project, `SKILL.md` is a file
    /// like others; but where a command was run, and what a variable stands for, is not always known.
    fn of_path(directory: &str, path: &str) -> Self {
        let parts = path_parts(directory, path);
        let Some((_, above)) = parts.split_last().filter(|(file, _)| *file == FILE) else {
            return Self::None;
        };
        let is_open = above.iter().any(|part| part.starts_with(['$', '~']));
        if is_open || above.iter().any(|part| part == "skills") {
            Self::Skills
        } else if is_absolute(path) || directory.starts_with('/') {
            Self::Elsewhere
        } else if above.len() < 2 || is_alias(&above[0]) {
            Self::Skills
        } else {
            Self::None
        }
    }
}

/// Codex tells its model of directories of skills by short names: `r0`, `r1`.
fn is_alias(part: &str) -> bool {
    part.strip_prefix('r').is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skills_are_below_directories_of_skills() {
        use SkillFilePlace::{Elsewhere, None, Skills};
        for (directory, text, expected) in [
            ("", ".agents/skills/csv/SKILL.md", Skills),
            ("", "open('.agents/skills/csv/SKILL.md')", Skills),
            ("", "/w/my project/skills/csv/SKILL.md", Skills),
            ("", "$SKILLS/csv/SKILL.md", Skills),
            ("/~", "csv/SKILL.md", Skills),
            (".agents/skills", "csv/SKILL.md", Skills),
            ("/w/.agents/skills", "csv/SKILL.md", Skills),
            ("", "csv/SKILL.md", Skills),
            ("", "SKILL.md", Skills),
            ("", "r1/csv/SKILL.md", Skills),
            ("", "/etc/other/csv/SKILL.md", Elsewhere),
            ("/etc/other", "csv/SKILL.md", Elsewhere),
            ("", "open('/etc/other/csv/SKILL.md')", Elsewhere),
            ("", "diff /w/csv/SKILL.md .agents/skills/csv/SKILL.md", Skills),
            ("drafts", "csv/SKILL.md", None),
            ("", "drafts/csv/SKILL.md", None),
            ("", ".agents/skills/csv/SKILL.md.bak", None),
            ("", "NOSKILL.md", None),
            ("", "", None),
        ] {
            assert_eq!(SkillFilePlace::of(directory, text), expected, "{directory} {text}");
        }
    }
}
