//! The name of a target in an arm. Two arms of one target are two systems under test: cases, plans,
//! comparisons and reports keep them apart by this name.

/// The arm that runs with the skills of the suite.
pub(crate) const WITH: &str = "with";
/// The arm that runs without skills.
pub(crate) const WITHOUT: &str = "without";

/// The arm that runs with the skills of the suite and those beside them.
pub(crate) const ALL: &str = "all";

/// `claude/without`; without an arm, the target itself.
pub fn variant_name(target: &str, arm: Option<&str>) -> String {
    match arm {
        Some(arm) => format!("{target}/{arm}"),
        None => target.to_owned(),
    }
}
