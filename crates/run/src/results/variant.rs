//! The name of a target in an arm. Two arms of one target are two systems under test: cases, plans,
//! comparisons and reports keep them apart by this name.

/// `claude/without`; without an arm, the target itself.
pub fn variant_name(target: &str, arm: Option<&str>) -> String {
    match arm {
        Some(arm) => format!("{target}/{arm}"),
        None => target.to_owned(),
    }
}
