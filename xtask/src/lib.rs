//! Work on the project itself: generated files, links, measurements, and a corpus of public suites.

pub mod corpus;
pub mod generate;
pub mod house;
pub mod links;

use camino::Utf8Path;

/// The directory of the workspace.
pub fn workspace() -> &'static Utf8Path {
    let own = Utf8Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own)
}
