//! Which configuration of a benchmark a row belongs to.

use crate::results::Row;

pub(super) const WITH_SKILL: &str = "with_skill";
pub(super) const WITHOUT_SKILL: &str = "without_skill";

/// The configuration of a row. Rows have no arm yet, so it is their target.
pub(super) fn configuration_of(row: &Row, has_several_targets: bool) -> String {
    configuration_name(row.arm.as_deref(), &row.target, has_several_targets)
}

/// The names that skill-creator gives the arms `with` and `without`; others keep their own. With
/// several targets, the target tells arms apart.
fn configuration_name(arm: Option<&str>, target: &str, has_several_targets: bool) -> String {
    let name = match arm {
        None => return target.to_owned(),
        Some("with") => WITH_SKILL,
        Some("without") => WITHOUT_SKILL,
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
