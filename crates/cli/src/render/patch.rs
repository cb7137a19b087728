//! What a fix would change, as a unified diff that `git apply` takes.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Effects, Style};
use similar::{ChangeTag, TextDiff};

use evalrig_run::text;

const HEADER: Style = Style::new().effects(Effects::BOLD);
const HUNK: Style = AnsiColor::Cyan.on_default();
const REMOVED: Style = AnsiColor::Red.on_default();
const ADDED: Style = AnsiColor::Green.on_default();

/// Empty when nothing changes. Control characters of the file are shown as pictures. The
/// caller redacts secrets.
pub fn unified(path_shown: &str, before: &str, after: &str, color: bool) -> String {
    // Only `\n` ends a line, as in git: a lone `\r` would tear a line of the patch in two.
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let diff = TextDiff::configure().diff_slices(&old, &new);
    let path = text::single_line(path_shown);
    let path = path.trim_start_matches('/');

    let mut out = String::new();
    for (index, hunk) in diff.unified_diff().iter_hunks().enumerate() {
        if index == 0 {
            push(&mut out, HEADER, color, &format!("--- a/{path}\n"));
            push(&mut out, HEADER, color, &format!("+++ b/{path}\n"));
        }
        push(&mut out, HUNK, color, &format!("{}\n", hunk.header()));
        for change in hunk.iter_changes() {
            let (sign, style) = match change.tag() {
                ChangeTag::Delete => ('-', REMOVED),
                ChangeTag::Insert => ('+', ADDED),
                ChangeTag::Equal => (' ', Style::new()),
            };
            let line = shown(change.value());
            push(&mut out, style, color, &format!("{sign}{line}"));
            if !line.ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    out
}

/// The break of a line stays as it is, or the patch would not apply to a file with `\r\n`.
fn shown(line: &str) -> String {
    let body = line.strip_suffix('\n').unwrap_or(line);
    let body = body.strip_suffix('\r').unwrap_or(body);
    text::paragraph(body).into_owned() + &line[body.len()..]
}

/// Colours end before the line does, so that pagers which cut lines stay sane.
fn push(out: &mut String, style: Style, color: bool, line: &str) {
    if !color {
        out.push_str(line);
        return;
    }
    let body = line.trim_end_matches(['\r', '\n']);
    let _ = write!(out, "{style}{body}{style:#}{}", &line[body.len()..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_changed_lines_stand_between_their_neighbours() {
        let before = "1\n2\n3\n4\nold\n6\n7\n8\n9\n";
        let after = before.replace("old", "new");
        assert_eq!(
            unified("evals/EVAL.yaml", before, &after, false),
            "--- a/evals/EVAL.yaml\n+++ b/evals/EVAL.yaml\n@@ -2,7 +2,7 @@\n \
             2\n 3\n 4\n-old\n+new\n 6\n 7\n 8\n"
        );
    }

    #[test]
    fn no_change_is_no_patch() {
        assert_eq!(unified("x", "a\n", "a\n", false), "");
    }

    #[test]
    fn line_breaks_stay_and_a_missing_one_is_said() {
        assert_eq!(
            unified("/x", "a\r\nb", "a\r\nc", false),
            "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\r\n-b\n\\ No newline at end of file\n\
             +c\n\\ No newline at end of file\n"
        );
    }

    #[test]
    fn escapes_are_shown_and_colours_are_ours() {
        assert_eq!(
            unified("x", "a\u{1b}[2J\r!\n", "b\n", true),
            "\u{1b}[1m--- a/x\u{1b}[0m\n\u{1b}[1m+++ b/x\u{1b}[0m\n\
             \u{1b}[36m@@ -1 +1 @@\u{1b}[0m\n\
             \u{1b}[31m-a␛[2J␍!\u{1b}[0m\n\u{1b}[32m+b\u{1b}[0m\n"
        );
    }
}
