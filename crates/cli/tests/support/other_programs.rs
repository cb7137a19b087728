//! Programs of others that a test needs.

use std::process::{Command, Stdio};

/// Each with the variable that says that it must work here.
pub const NODE: (&str, &str) = ("node", "EVALRIG_NEED_NODE");
pub const PYTHON: (&str, &str) = ("python3", "EVALRIG_NEED_PYTHON");

/// Whether a program works; prints that the test is skipped otherwise.
#[allow(clippy::print_stdout, reason = "a skipped test says so")]
pub fn has_program((name, needed): (&str, &str)) -> bool {
    let mut command = Command::new(name);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    let works = command.status().is_ok_and(|status| status.success());
    if !works {
        assert!(std::env::var_os(needed).is_none(), "`{name}` does not work here");
        println!("skipped: {name} is missing");
    }
    works
}
