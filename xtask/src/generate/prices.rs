//! The price table of the crate `genai-prices`, deflated: its own copy would be 0.8 MB of the binary.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::Generated;

const CRATE: &str = "genai-prices";

pub(super) fn file() -> Result<Generated, String> {
    let table = directory_of_crate()? + "/data/prices.json";
    let table = fs::read(&table).map_err(|error| format!("{table}: {error}"))?;
    Ok(Generated {
        path: "crates/run/src/agent/prices.json.deflate".into(),
        content: miniz_oxide::deflate::compress_to_vec(&table, 9),
    })
}

/// Where cargo keeps the source of the crate, in the version of the lock file. Crates for other platforms
/// need not have been downloaded.
fn directory_of_crate() -> Result<String, String> {
    let host = output_of(Command::new("rustc").args(["--print", "host-tuple"]))?;
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--format-version", "1", "--locked", "--offline"]);
    cargo.args(["--filter-platform", host.trim()]).current_dir(crate::workspace());
    let metadata: Value =
        serde_json::from_str(&output_of(&mut cargo)?).map_err(|error| error.to_string())?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let manifest = packages
        .filter(|package| package["name"] == CRATE)
        .find_map(|package| package["manifest_path"].as_str());
    let directory = manifest.and_then(|path| Path::new(path).parent()?.to_str());
    directory.map(str::to_owned).ok_or_else(|| format!("cargo knows no crate {CRATE}"))
}

fn output_of(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}
