//! Opens the browser of a desktop session.

use std::process::{Command, Stdio};

/// Does nothing without a desktop, over SSH and in CI. Whether a browser opened is unknown: the address
/// has been printed.
pub(super) fn open_browser(address: &str) {
    if !is_desktop() {
        return;
    }
    let mut command = opener(address);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Ok(mut started) = command.spawn() {
        let _ = started.wait();
    }
}

fn is_desktop() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if is_set("SSH_CONNECTION") || is_set("CI") {
        return false;
    }
    cfg!(any(target_os = "macos", windows)) || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")
}

/// The shell ends at once, so the browser is not a child of this process: a run ends its children, and
/// Ctrl-C its process group.
#[cfg(unix)]
fn opener(address: &str) -> Command {
    use std::os::unix::process::CommandExt;

    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new("sh");
    command.args(["-c", "\"$0\" \"$1\" &", program, address]).process_group(0);
    command
}

#[cfg(not(unix))]
fn opener(address: &str) -> Command {
    // The address has no character that the interpreter knows.
    let mut command = Command::new("cmd");
    command.args(["/C", "start", "", address]);
    command
}
