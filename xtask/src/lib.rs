//! Work on the project itself: generated files, links, measurements, a corpus of public suites, and
//! hostile inputs.

pub mod corpus;
pub mod generate;
pub mod house;
pub mod inputs;
pub mod links;

use camino::Utf8Path;

/// The directory of the workspace.
pub fn workspace() -> &'static Utf8Path {
    let own = Utf8Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own)
}
