//! Which skill a pattern for the input of the tool `Skill` means (spec 15.5).

/// The skill's name, if the pattern ends in one that is written out: `"skill"\s*:\s*"(?:[\w-]+:)?map"`
/// means `map`. `None` if several skills or parts of names match.
pub(super) fn skill_in_pattern(pattern: &str) -> Option<&str> {
    if pattern.contains('|') {
        return None;
    }
    let rest = pattern.trim_end_matches('$').trim_end_matches("\\b");
    let rest = rest.trim_end_matches(['"', '\'']);
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let before = rest.trim_end_matches(is_name);
    let name = &rest[before.len()..];
    let is_whole = before.is_empty()
        || before.ends_with(['"', '\'', ':', '^'])
        || before.ends_with(")?")
        || before.ends_with("\\s*");
    let is_key = name == "skill" && !before.contains("skill");
    (is_whole && !name.is_empty() && !is_key).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_at_the_end_is_the_skill() {
        for (pattern, skill) in [
            (r#""skill"\s*:\s*"(?:[\w-]+:)?map""#, "map"),
            (r#""skill":\s*"(?:[\w-]+:)?agent-orchestration""#, "agent-orchestration"),
            (r#""skill": "csv-tools:report""#, "report"),
            ("report", "report"),
            ("^report$", "report"),
            (r"(csv-tools:)?report\b", "report"),
            (r#""skill":"skill""#, "skill"),
        ] {
            assert_eq!(skill_in_pattern(pattern), Some(skill), "{pattern}");
        }
    }

    #[test]
    fn patterns_of_several_skills_mean_none() {
        for pattern in [
            r#""skill"\s*:\s*"(map|draw)""#,
            "map|draw",
            "csv-.*",
            "csv-.*report",
            r#""skill""#,
            r"[\w-]+report",
            "",
        ] {
            assert_eq!(skill_in_pattern(pattern), None, "{pattern}");
        }
    }
}
