//! What of the directory of a skill an agent is given.

/// What an agent that gets a skill must not find in it (spec 18.3): its evals, and what was recorded.
pub(crate) fn belongs_to_evals(path: &[u8]) -> bool {
    let path = String::from_utf8_lossy(path);
    let name = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let is_suite = matches!(name.as_str(), "eval.yaml" | "eval.yml" | "evals.json")
        || name.ends_with(".eval.yaml")
        || name.ends_with(".eval.yml");
    let is_top = !path.contains('/');
    is_suite
        || is_top
            && (matches!(name.as_str(), "evals" | ".co" | ".evalrig" | ".git")
                || name.ends_with("-workspace"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_gets_neither_evals_nor_what_was_recorded() {
        for path in
            ["evals", "csv-workspace", ".git", ".co", ".evalrig", "EVAL.yaml", "a/x.eval.yml"]
        {
            assert!(belongs_to_evals(path.as_bytes()), "{path}");
        }
        for path in ["SKILL.md", "scripts", "scripts/evals", "references/.git", "evals.md"] {
            assert!(!belongs_to_evals(path.as_bytes()), "{path}");
        }
    }
}
