//! The files of the author that hooks start, as far as their words tell.

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{Hook, HookCommand};

use crate::disk::Disk;

/// The files of the author that a hook starts. Other words of a line for the shell are files of the
/// workspace.
pub(crate) fn files_of_hook(hook: &Hook, root: &Utf8Path) -> Vec<Utf8PathBuf> {
    let words: Vec<String> = match &hook.command {
        HookCommand::Argv(_) => hook.words(root, &Disk),
        HookCommand::Shell(line) => line.split_whitespace().map(unquoted).collect(),
    };
    let paths = words.into_iter().map(Utf8PathBuf::from);
    paths.filter(|path| path.starts_with(root)).collect()
}

fn unquoted(word: &str) -> String {
    word.trim_matches(['"', '\'', ';', '(', ')', '&', '|']).to_owned()
}
