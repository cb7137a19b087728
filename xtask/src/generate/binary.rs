//! What only the binary knows: completions and man pages.

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

use camino::Utf8Path;

use super::Generated;

/// Names of the completion scripts as the shells look for them.
const SHELLS: &[(&str, &str)] = &[
    ("bash", "evalrig.bash"),
    ("elvish", "evalrig.elv"),
    ("fish", "evalrig.fish"),
    ("powershell", "_evalrig.ps1"),
    ("zsh", "_evalrig"),
];

/// How the binary is reached.
#[derive(Debug)]
pub enum Evalrig {
    /// A test of its own package has it already.
    Built(PathBuf),
    ThroughCargo,
}

impl Evalrig {
    fn command(&self) -> Command {
        match self {
            Self::Built(path) => Command::new(path),
            Self::ThroughCargo => {
                let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
                let mut command = Command::new(cargo);
                command.args(["run", "--quiet", "--package", "evalrig", "--"]);
                command
            }
        }
    }

    fn run(&self, arguments: &[&str]) -> Result<String, String> {
        let what = format!("evalrig {}", arguments.join(" "));
        let output = self
            .command()
            .args(arguments)
            .current_dir(crate::workspace())
            .output()
            .map_err(|error| format!("`{what}` cannot be started: {error}"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("`{what}` failed:\n{said}"));
        }
        String::from_utf8(output.stdout).map_err(|_| format!("`{what}` printed no UTF-8"))
    }
}

pub(super) fn files(evalrig: &Evalrig) -> Result<Vec<Generated>, String> {
    let mut files = man_pages(evalrig)?;
    for (shell, name) in SHELLS {
        files.push(Generated {
            path: format!("completions/{name}").into(),
            text: evalrig.run(&["completions", shell])?,
        });
    }
    Ok(files)
}

fn man_pages(evalrig: &Evalrig) -> Result<Vec<Generated>, String> {
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    let place = Utf8Path::from_path(directory.path()).ok_or("the temporary path is not UTF-8")?;
    evalrig.run(&["man", place.as_str()])?;
    let mut pages = Vec::new();
    for entry in place.read_dir_utf8().map_err(|error| error.to_string())? {
        let entry = entry.map_err(|error| error.to_string())?;
        pages.push(Generated {
            path: format!("man/{}", entry.file_name()).into(),
            text: fs::read_to_string(entry.path()).map_err(|error| error.to_string())?,
        });
    }
    pages.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(pages)
}
