//! Work on the project itself: files that are generated, and suites that other people wrote.

pub mod corpus;
pub mod generate;

use camino::Utf8Path;

/// The directory of the workspace.
pub fn workspace() -> &'static Utf8Path {
    let own = Utf8Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own)
}
