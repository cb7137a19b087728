//! Text for people and CI logs: sanitized, wrapped, coloured, and numbers and paths spelled one way.

pub mod numbers;
pub mod paint;
mod sanitize;
pub mod wrap;

use camino::{Utf8Path, Utf8PathBuf};

pub use evalrig_core::digest::hex;
pub use paint::OutputStyle;
pub use sanitize::{
    CUT, Excerpt, INTERNAL_MARK, ascii, control_picture, defuse_commands, excerpt, is_harmful,
    json, last_lines, line, line_ends, painted, paragraph, single_line, source,
};

/// A path as the user would type it in `working_directory`, with `/` on every platform.
pub fn shown_path(path: &Utf8Path, working_directory: &Utf8Path) -> String {
    let near = relative_path(path, working_directory);
    if cfg!(windows) { near.as_str().replace('\\', "/") } else { near.to_string() }
}

/// With `..` where the two have more in common than the root of the file system.
fn relative_path(path: &Utf8Path, working_directory: &Utf8Path) -> Utf8PathBuf {
    let above = working_directory.ancestors().filter(|above| above.parent().is_some());
    let found = above.enumerate().find_map(|(steps, above)| {
        let rest = path.strip_prefix(above).ok()?;
        Some(Utf8PathBuf::from("../".repeat(steps)).join(rest))
    });
    match found {
        Some(near) if near.as_str().is_empty() => Utf8PathBuf::from("."),
        Some(near) => near,
        None => path.to_owned(),
    }
}

/// One word of a POSIX shell command.
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./#:@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_only_where_the_shell_would_change_it() {
        assert_eq!(shell_word("a/EVAL.yaml#b-1"), "a/EVAL.yaml#b-1");
        assert_eq!(shell_word("it's $HOME"), r"'it'\''s $HOME'");
    }

    #[test]
    fn a_path_below_the_working_directory_is_relative() {
        let shown = |path: &str| shown_path(Utf8Path::new(path), Utf8Path::new("/repo"));
        assert_eq!(shown("/repo/evals/EVAL.yaml"), "evals/EVAL.yaml");
        assert_eq!(shown("/other/EVAL.yaml"), "/other/EVAL.yaml");
        let deep = |path: &str| shown_path(Utf8Path::new(path), Utf8Path::new("/repo/a/b"));
        assert_eq!(deep("/repo/a/EVAL.yaml"), "../EVAL.yaml");
        assert_eq!(deep("/repo/c/EVAL.yaml"), "../../c/EVAL.yaml");
        assert_eq!(deep("/repo/a/bc/EVAL.yaml"), "../bc/EVAL.yaml");
    }
}
