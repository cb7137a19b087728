//! Every message that comes from the server, read as those who get it do. For fuzzing.

use crate::results::read_answer;

use super::control_state::ControlState;
use super::manifest::BundleManifest;
use super::message::{ChainMessage, RunEntry, WorkerSign};
use super::names::RunName;
use super::payload::sha256;
use super::row_message::row_of_message;

/// The run that manifests are read for.
const RUN: &str = "r";

/// Reads bytes as each kind of message. Returns the paths that a worker would write, if the bytes are a
/// manifest that it accepts.
pub fn check_messages(bytes: &[u8]) -> Vec<String> {
    let Ok(run) = RunName::parse(RUN) else { return Vec::new() };
    let _ = serde_json::from_slice::<ChainMessage>(bytes);
    let _ = serde_json::from_slice::<Vec<ChainMessage>>(bytes);
    let _ = serde_json::from_slice::<WorkerSign>(bytes);
    let _ = RunEntry::read(bytes, &run);
    let _ = ControlState::read(bytes);
    let _ = read_answer(bytes);
    let _ = row_of_message(bytes, "", &run);
    let Ok(manifest) = BundleManifest::read(bytes, &sha256(bytes), RUN) else {
        return Vec::new();
    };
    let files = manifest.files.into_iter().map(|file| file.path);
    let links = manifest.links.into_iter().flat_map(|link| {
        let target = format!("{}/../{}", link.path, link.target);
        [link.path, target]
    });
    files.chain(manifest.directories).chain(links).collect()
}

#[cfg(test)]
mod tests {
    use super::super::manifest::tests::manifest;
    use super::*;

    #[test]
    fn paths_of_a_manifest_are_found() {
        let bytes = manifest().to_bytes().unwrap();
        assert_eq!(check_messages(&bytes), ["EVAL.yaml"]);
        assert!(check_messages(b"garbage").is_empty());
    }
}
