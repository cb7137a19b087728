//! What the output of a command tells about the `SKILL.md` that it was to read.

/// Lines of front matter in which the name is looked for.
const FRONT_LINES: usize = 20;

/// What programs say of a file that they cannot read, in lower case.
const FAILURES: &[&str] = &[
    "no such file",
    "cannot find",
    "could not find",
    "does not exist",
    "not found",
    "permission denied",
    "is a directory",
    "not a directory",
    "cannot open",
    "can't open",
    "cannot access",
];

/// The names in all front matter, also behind line numbers and names of files.
pub(super) fn front_matter_names(output: &str) -> Vec<String> {
    let (mut names, mut left) = (Vec::<String>::new(), 0_usize);
    for line in output.lines().map(content_of) {
        if line == "---" {
            left = FRONT_LINES;
            continue;
        }
        if left == 0 {
            continue;
        }
        left -= 1;
        if let Some(name) = line.strip_prefix("name:") {
            let name = name.trim().trim_matches(['"', '\'']);
            if !name.is_empty() && !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
            left = 0;
        }
    }
    names
}

/// A line without what `grep` and `nl` put before it.
fn content_of(line: &str) -> &str {
    let line = line.trim();
    let line = line.rsplit_once("SKILL.md:").map_or(line, |(_, rest)| rest);
    let line = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.trim_start_matches([':', '|', '\t', ' ', '→'])
}

/// Whether the output says that a file cannot be read. `names` are spellings of it.
pub(super) fn reports_failure(output: &str, names: &[&str]) -> bool {
    output.lines().any(|line| {
        names.iter().any(|name| line.contains(name)) && {
            let line = line.to_lowercase();
            FAILURES.iter().any(|failure| line.contains(failure))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_front_matter_only() {
        for (output, names) in [
            ("---\nname: csv\ndescription: x\n---\nText\n", &["csv"][..]),
            ("     1\t---\n     2\tname: \"csv\"\n", &["csv"]),
            ("a/SKILL.md:---\na/SKILL.md:name: csv\n", &["csv"]),
            ("1:---\n2:name: csv\n", &["csv"]),
            ("---\nname: a\n---\none\n---\ntwo\n---\nname: b\n", &["a", "b"]),
            ("name: csv\n", &[]),
            ("---\nrename: csv\n", &[]),
            ("---", &[]),
        ] {
            assert_eq!(front_matter_names(output), names, "{output}");
        }
    }

    #[test]
    fn a_failure_names_the_file() {
        let output = "cat: a/SKILL.md: No such file or directory\nb/SKILL.md\n";
        assert!(reports_failure(output, &["a/SKILL.md"]));
        assert!(!reports_failure(output, &["b/SKILL.md"]));
    }
}
