//! Paths of skills. Names are whole: a skill is never recognized by a part of a name or of a path.

use super::shell_words::WORKSPACE;

const FILE: &str = "SKILL.md";

/// What may stand around a path in code.
const AROUND: &[char] =
    &[' ', '\t', '\n', '\r', '"', '\'', '`', '(', ')', ',', ';', '=', '<', '>', '|', '&', ':'];

/// The skill whose `SKILL.md` a path names.
pub(super) fn skill_in_path(path: &str) -> Option<String> {
    skill_of_file(&path_parts("", path))
}

/// Where a command runs, as a shell knows it.
const WORKING_DIRECTORY: [&str; 2] = ["$PWD", "${PWD}"];

/// A path that begins where the command runs, or at the root of the workspace, as a relative one with the
/// directory that it is below.
pub(super) fn as_relative<'t>(directory: &'t str, path: &'t str) -> (&'t str, &'t str) {
    let behind = |start: &str| {
        let rest = path.strip_prefix(start)?;
        rest.strip_prefix('/').or(rest.is_empty().then_some(rest))
    };
    if let Some(rest) = path.strip_prefix(WORKSPACE) {
        return ("", rest.trim_start_matches('/'));
    }
    match WORKING_DIRECTORY.into_iter().find_map(behind) {
        Some(rest) => (directory, rest.trim_start_matches('/')),
        None => (directory, path),
    }
}

/// The parts of a path below a directory, without `.` and `..` where that is possible.
pub(super) fn path_parts(directory: &str, path: &str) -> Vec<String> {
    let (directory, path) = as_relative(directory, path);
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

const SKILLS: &str = "skills";
const SCRIPTS: &str = "scripts";

/// `…/skills/…/NAME/scripts/…`. Projects have directories named `scripts` too, so it must be below a
/// directory of skills.
pub(super) fn skill_of_script(parts: &[String]) -> Option<String> {
    let at = scripts_below_skills(parts).filter(|at| at + 1 < parts.len())?;
    skill_name(&parts[at - 1])
}

/// The place of `scripts` in a path. Between it and `skills` is at least the name of the skill.
fn scripts_below_skills(parts: &[String]) -> Option<usize> {
    let first = parts.iter().position(|part| part == SKILLS)? + 2;
    let below = parts.get(first..)?.iter().position(|part| part == SCRIPTS)?;
    Some(first + below)
}

/// Whether a path or the paths in code may be those of the scripts of a skill.
pub(super) fn mentions_script(directory: &str, text: &str) -> bool {
    if !text.contains(SCRIPTS) && !directory.contains(SCRIPTS) {
        return false;
    }
    let pieces = text.split(AROUND).chain([text]).filter(|piece| !piece.is_empty());
    let pieces: Vec<Vec<String>> = pieces.map(|piece| path_parts(directory, piece)).collect();
    // Code may put a path together.
    let has_skills = || pieces.iter().any(|parts| parts.iter().any(|part| part == SKILLS));
    let begins = |parts: &Vec<String>| parts.first().is_some_and(|first| first == SCRIPTS);
    pieces.iter().any(|parts| may_be_script(parts))
        || directory.is_empty() && pieces.iter().any(begins) && has_skills()
}

/// A part that stands for something else may be the directory of a skill.
fn may_be_script(parts: &[String]) -> bool {
    let Some(at) = parts.iter().position(|part| part == SCRIPTS) else { return false };
    let is_unknown = |part: &String| part.starts_with(['$', '{']) && !is_home(part);
    let is_of_alias = at > 1 && is_alias(&parts[0]);
    scripts_below_skills(parts).is_some() || is_of_alias || parts[..at].iter().any(is_unknown)
}

/// The home of the user is not the directory of a skill.
fn is_home(part: &str) -> bool {
    matches!(part, "$HOME" | "${HOME}")
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
        let (directory, path) = as_relative(directory, path);
        let parts = path_parts(directory, path);
        let Some((_, above)) = parts.split_last().filter(|(file, _)| *file == FILE) else {
            return Self::None;
        };
        let is_open = above.iter().any(|part| part.starts_with(['$', '~']));
        if is_open || above.iter().any(|part| part == SKILLS) {
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
    fn scripts_of_skills_are_below_directories_of_skills() {
        let skill = |path: &str| skill_of_script(&path_parts("", path));
        for path in [
            ".agents/skills/csv/scripts/sum.py",
            "/home/me/scripts/app/.agents/skills/csv/scripts/deep/scripts/sum.py",
            "skills/.system/csv/scripts/sum.py",
        ] {
            assert_eq!(skill(path).as_deref(), Some("csv"), "{path}");
        }
        for path in [
            "scripts/sum.py",
            "skills/scripts/sum.py",
            ".agents/skills/csv/scripts",
            "$S/scripts/a",
        ] {
            assert_eq!(skill(path), None, "{path}");
        }
        for (directory, text, expected) in [
            ("", "open('.agents/skills/csv/scripts/sum.py')", true),
            ("", "join('.agents/skills/csv', 'scripts', 'sum.py')", true),
            ("", ".agents/skills/*/scripts/*.py", true),
            ("", "$S/scripts/sum.py", true),
            ("/$S", "scripts/sum.py", true),
            (".agents/skills/csv", "scripts/sum.py", true),
            ("", "r0/csv/scripts/sum.py", true),
            ("", "$HOME/scripts/sum.py", false),
            ("", "$PWD/scripts/sum.py", false),
            (".agents/skills/csv", "$PWD/scripts/sum.py", true),
            ("/$S", "${PWD}/scripts/sum.py", true),
            ("/$S", "\0/scripts/sum.py", false),
            ("/$S", "$PWDS/scripts/sum.py", true),
            ("", "~/scripts/sum.py", false),
            ("", "app/scripts/sum.py", false),
            ("", ".agents/skills/csv/descriptions/a", false),
        ] {
            assert_eq!(mentions_script(directory, text), expected, "{directory} {text}");
        }
    }

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
            ("drafts", "$PWD/csv/SKILL.md", None),
            ("drafts", "\0/csv/SKILL.md", Skills),
            ("", "drafts/csv/SKILL.md", None),
            ("", ".agents/skills/csv/SKILL.md.bak", None),
            ("", "NOSKILL.md", None),
            ("", "", None),
        ] {
            assert_eq!(SkillFilePlace::of(directory, text), expected, "{directory} {text}");
        }
    }
}
