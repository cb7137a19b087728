//! Which configuration of a benchmark a row belongs to.

use crate::results::{Row, WITH, WITHOUT};

pub(super) const WITH_SKILL: &str = "with_skill";
pub(super) const WITHOUT_SKILL: &str = "without_skill";

/// Skill-creator's name for the skill as it was before.
const OLD_SKILL: &str = "old_skill";
/// Target of rows that were made from configurations.
pub(super) const AGENT: &str = "agent";

/// The arm that a configuration of skill-creator is; `None` for other names.
pub(super) fn arm_of(configuration: &str) -> Option<&str> {
    match configuration {
        WITH_SKILL => Some(WITH),
        WITHOUT_SKILL => Some(WITHOUT),
        OLD_SKILL => Some(OLD_SKILL),
        _ => None,
    }
}

/// The configuration of a row: its arm, else its target.
pub(super) fn configuration_of(row: &Row, has_several_targets: bool) -> String {
    configuration_name(row.arm.as_deref(), &row.target, has_several_targets)
}

/// The names that skill-creator gives the arms `with` and `without`; others keep their own. With
/// several targets, the target tells arms apart.
fn configuration_name(arm: Option<&str>, target: &str, has_several_targets: bool) -> String {
    let name = match arm {
        None => return target.to_owned(),
        Some(WITH) => WITH_SKILL,
        Some(WITHOUT) => WITHOUT_SKILL,
        Some(other) => other,
    };
    if has_several_targets { format!("{name}-{target}") } else { name.to_owned() }
}

/// The order of configurations: the first two are compared.
pub(super) fn rank(configuration: &str) -> u8 {
    if configuration.starts_with(WITH_SKILL) {
        0
    } else {
        1 + u8::from(!configuration.starts_with(WITHOUT_SKILL))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_have_the_names_of_skill_creator() {
        assert_eq!(configuration_name(Some("with"), "claude", false), "with_skill");
        assert_eq!(configuration_name(Some("without"), "claude", false), "without_skill");
        assert_eq!(configuration_name(Some("before"), "claude", false), "before");
        assert_eq!(configuration_name(Some("with"), "codex", true), "with_skill-codex");
        assert_eq!(configuration_name(None, "claude", true), "claude");
    }

    #[test]
    fn the_skill_comes_first() {
        let mut names = ["claude", "without_skill", "with_skill"];
        names.sort_by_key(|name| rank(name));
        assert_eq!(names, ["with_skill", "without_skill", "claude"]);
    }
}
