//! The directory that is copied over a copy of the workspace before a command runs: hidden tests, which
//! the agent never sees (spec 17.5).

use camino::Utf8PathBuf;

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::reader::Options;
use crate::source::{Span, list_tree};

declare_codes! {
    OVERLAY_TOO_LARGE = "overlay-too-large", BlocksRun, Assertion, r#"The overlay of a command has more than 10,000 files.

## Example
```text
overlay: ./node_modules
```

## Instead
```text
overlay: ./hidden-tests
```

## Why
The overlay is copied for every case, and all its files are compared with what they were when the suite was loaded.
"#;
}

const MOST_FILES: usize = 10_000;

/// A directory with hidden files.
#[derive(Debug)]
pub(super) struct OverlayDirectory {
    pub(super) written: String,
    /// `None` if it does not exist, which has been reported.
    pub(super) path: Option<Utf8PathBuf>,
    /// Every file in it, absolute. Links that lead out of it are not among them.
    pub(super) files: Vec<Utf8PathBuf>,
    /// Its directories, and its links to directories; absolute.
    pub(super) others: Vec<Utf8PathBuf>,
}

impl OverlayDirectory {
    pub(super) fn find(options: &mut Options<'_, '_, '_>, written: String, span: Span) -> Self {
        let reader = &mut *options.reader;
        let Some(path) = reader.existing_directory(&written, span) else {
            return Self { written, path: None, files: Vec::new(), others: Vec::new() };
        };
        let tree = list_tree(reader.world.files, &path, MOST_FILES);
        if !tree.is_complete {
            let message = format!("the overlay has more than {MOST_FILES} files");
            let help = "name a directory that has only the files to add";
            options.report(Diagnostic::new(&OVERLAY_TOO_LARGE, span, message).help(help));
        }
        let absolute = |paths: &[String]| paths.iter().map(|below| path.join(below)).collect();
        let (files, others) = (absolute(&tree.files), absolute(&tree.others));
        Self { written, path: Some(path), files, others }
    }
}
