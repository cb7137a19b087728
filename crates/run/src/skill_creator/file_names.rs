//! Names of directories that are made from names of tests, targets and suites.

use std::collections::{HashMap, HashSet};

const LONGEST: usize = 80;

/// Directories that the scripts of skill-creator skip, and a key of `run_summary`.
const RESERVED: &[&str] =
    &["skill", "inputs", "outputs", "delta", "node_modules", "__pycache__", "runs"];

/// Gives each name a directory of its own, also where letter case does not count.
#[derive(Debug, Default)]
pub(super) struct DirectoryNames {
    given: HashMap<String, String>,
    taken: HashSet<String>,
}

impl DirectoryNames {
    pub(super) fn of(&mut self, name: &str) -> String {
        if let Some(known) = self.given.get(name) {
            return known.clone();
        }
        let safe = safe_name(name);
        let names = std::iter::once(safe.clone());
        let numbered = (2_u64..).map(|number| format!("{safe}-{number}"));
        let mut free = names.chain(numbered).filter(|name| self.taken.insert(name.to_lowercase()));
        let free = free.next().unwrap_or(safe);
        self.given.insert(name.to_owned(), free.clone());
        free
    }
}

fn safe_name(name: &str) -> String {
    let kept = name.chars().map(|c| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' => c,
        _ => '-',
    });
    let name: String = kept.take(LONGEST).collect();
    let name = name.trim_matches(['.', '-']);
    match name {
        "" => "unnamed".to_owned(),
        name if RESERVED.contains(&name.to_lowercase().as_str()) => format!("{name}_"),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_and_unique() {
        let mut names = DirectoryNames::default();
        for (name, directory) in [
            ("top months", "top-months"),
            ("top/months", "top-months-2"),
            ("top months", "top-months"),
            ("Top Months", "Top-Months-3"),
            ("../../etc", "etc"),
            ("skill", "skill_"),
            ("é", "unnamed"),
            ("", "unnamed-2"),
        ] {
            assert_eq!(names.of(name), directory, "{name}");
        }
        assert_eq!(names.of(&"x".repeat(300)).len(), LONGEST);
    }
}
