//! Did you mean …?

/// The known name nearest to a misspelt one: within two edits, one for names shorter than five
/// characters. Ties go to the name that comes first.
pub fn did_you_mean<'a>(
    written: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let length = written.chars().count();
    // Nothing within two edits can have this length, and the distance costs its square.
    if length > 64 {
        return None;
    }
    let reach = if length < 5 { 1 } else { 2 };
    known
        .into_iter()
        .map(|name| (strsim::osa_distance(written, name), name))
        .filter(|(distance, _)| (1..=reach).contains(distance))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found() {
        assert_eq!(did_you_mean("asert", ["assert", "input"]), Some("assert"));
        assert_eq!(did_you_mean("contians", ["contains"]), Some("contains"));
        assert_eq!(did_you_mean("nmae", ["name"]), Some("name"));
    }

    #[test]
    fn short_names_allow_one_edit_only() {
        assert_eq!(did_you_mean("di", ["id"]), Some("id"));
        assert_eq!(did_you_mean("xx", ["id"]), None);
    }

    #[test]
    fn the_same_name_is_no_suggestion() {
        assert_eq!(did_you_mean("input", ["input"]), None);
    }
}
