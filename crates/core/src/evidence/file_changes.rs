//! What the agent did to the files of its workspace, as text for judges (spec 17.3).

use crate::model::FileChanges;

/// Longest text about files in a judge's prompt, in bytes.
const LONGEST: usize = 32 * 1024;
/// Of these, for the list of names, so that there is room for the diff.
const LONGEST_LIST: usize = 8 * 1024;

const NONE: &str = "No file was created, modified or deleted.";
const CUT: &str = "[the diff goes on]";

/// One line per file: what happened to it, and its path.
pub(super) fn file_list(changes: &FileChanges) -> String {
    list_within(changes, usize::MAX)
}

/// The diff, with a note if it was cut.
pub(super) fn file_diff(changes: &FileChanges) -> String {
    diff_within(changes, usize::MAX)
}

/// The list and the diff, as long as they fit.
pub(super) fn files_material(changes: &FileChanges) -> Vec<String> {
    if changes.is_empty() {
        return vec![NONE.to_owned()];
    }
    let list = list_within(changes, LONGEST_LIST);
    let diff = diff_within(changes, LONGEST - list.len());
    if diff.is_empty() { vec![list] } else { vec![list, diff] }
}

fn list_within(changes: &FileChanges, limit: usize) -> String {
    let lists = [
        ("created", &changes.created),
        ("modified", &changes.modified),
        ("deleted", &changes.deleted),
    ];
    let files = lists.into_iter().flat_map(|(what, paths)| paths.iter().map(move |p| (what, p)));
    let (mut out, mut left_out) = (String::new(), 0_usize);
    for (what, path) in files {
        // A name must not look like another line.
        let line = format!("{what} {}\n", path.replace(char::is_control, "\u{fffd}"));
        if left_out > 0 || out.len() + line.len() > limit {
            left_out += 1;
        } else {
            out.push_str(&line);
        }
    }
    if left_out > 0 {
        out.push_str(&format!("… and {left_out} more\n"));
    }
    out
}

fn diff_within(changes: &FileChanges, limit: usize) -> String {
    let diff = &changes.diff;
    let room = limit.saturating_sub(CUT.len() + 1);
    if diff.len() <= room {
        let is_cut = changes.is_diff_truncated;
        return if is_cut { with_note(diff) } else { diff.clone() };
    }
    let end = (0..=room).rev().find(|at| diff.is_char_boundary(*at)).unwrap_or(0);
    with_note(&diff[..end])
}

fn with_note(diff: &str) -> String {
    let line_break = if diff.is_empty() || diff.ends_with('\n') { "" } else { "\n" };
    format!("{diff}{line_break}{CUT}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes() -> FileChanges {
        FileChanges {
            created: vec!["a\nb".to_owned()],
            modified: vec!["src/x.rs".to_owned()],
            deleted: vec!["old".to_owned()],
            diff: "--- a/src/x.rs\n+é\n".to_owned(),
            ..FileChanges::default()
        }
    }

    #[test]
    fn the_list_has_one_line_per_file() {
        assert_eq!(file_list(&changes()), "created a\u{fffd}b\nmodified src/x.rs\ndeleted old\n");
        assert_eq!(file_list(&FileChanges::default()), "");
        assert_eq!(files_material(&FileChanges::default()), [NONE]);
    }

    #[test]
    fn together_they_stay_below_the_limit() {
        let many = FileChanges {
            created: (0..2000).map(|at| format!("directory/file-{at}")).collect(),
            diff: "é".repeat(40_000),
            ..FileChanges::default()
        };
        let [list, diff] = &files_material(&many)[..] else { panic!("two texts") };
        assert!(list.len() < LONGEST_LIST + 40 && list.ends_with(" more\n"), "{}", list.len());
        assert!(diff.ends_with("\n[the diff goes on]"));
        assert!(list.len() + diff.len() <= LONGEST, "{}", list.len() + diff.len());
        assert!(list.len() + diff.len() > LONGEST - 8);
    }

    #[test]
    fn a_diff_that_was_cut_before_says_so() {
        let cut = FileChanges { is_diff_truncated: true, ..changes() };
        assert_eq!(file_diff(&cut), "--- a/src/x.rs\n+é\n[the diff goes on]");
        assert_eq!(file_diff(&changes()), "--- a/src/x.rs\n+é\n");
    }
}
