//! bubblewrap: a file system made of the system directories, read-only, and of what the case may write.
//! Everything else is not there: homes, the suite, results, other cases, other processes.

use std::sync::OnceLock;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::ContainerSettings;

use super::private_entries::PrivateEntries;
use super::program_paths::program_paths;
use super::{NetworkAccess, ProgramStart, Sandbox, SandboxView, SandboxedProgram, ask, complaint};

/// What belongs to the system. Those that are links stay links.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/snap",
    "/run/current-system",
    "/home/linuxbrew/.linuxbrew",
    "/var/lib/ca-certificates",
    "/var/cache/fontconfig",
];

/// Parts of `/proc` that concern the whole machine. As root, bubblewrap 0.8 leaves `/proc/sys` writable.
const READ_ONLY_PROC: &[&str] = &["/proc/sys", "/proc/fs", "/proc/sysrq-trigger"];
const HIDDEN_PROC: &[&str] = &["/proc/kcore", "/proc/kmsg", "/proc/keys", "/proc/timer_list"];

/// Variables about sockets and directories that are not there.
const WITHOUT: &[&str] =
    &["SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "GPG_AGENT_INFO"];

/// The user that bubblewrap runs as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BwrapUser {
    /// The user of evalrig.
    Current,
    /// Not root, for tests that run as root.
    #[cfg_attr(not(test), allow(dead_code, reason = "only tests use another user"))]
    Ordinary,
}

#[derive(Debug, Clone, Copy)]
pub struct Bwrap {
    user: BwrapUser,
}

impl Bwrap {
    /// For the user that runs evalrig.
    pub const HERE: Self = Self { user: BwrapUser::Current };

    #[cfg(test)]
    pub(crate) const ORDINARY: Self = Self { user: BwrapUser::Ordinary };

    fn is_root(self) -> bool {
        #[cfg(unix)]
        let is_root = rustix::process::geteuid().is_root();
        #[cfg(not(unix))]
        let is_root = false;
        self.user == BwrapUser::Current && is_root
    }

    /// Namespaces and the system.
    fn system(self) -> BwrapArguments {
        let mut arguments = BwrapArguments::default();
        // A new session, so that nothing can be typed into the terminal of the user. The sandbox ends
        // with the program that started it, and with it everything inside: it has its own process 1.
        arguments.add(["--die-with-parent", "--new-session", "--cap-drop", "ALL"]);
        arguments.add(["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]);
        if !self.is_root() {
            arguments.add(["--unshare-user"]);
        }
        for path in SYSTEM {
            arguments.show_system(Utf8Path::new(path));
        }
        if let Ok(real) = Utf8Path::new("/etc/resolv.conf").canonicalize_utf8()
            && !is_system(&real)
        {
            arguments.show(&real);
        }
        if self.is_root() {
            static PRIVATE: OnceLock<PrivateEntries> = OnceLock::new();
            let private = PRIVATE.get_or_init(|| PrivateEntries::below("/etc"));
            for directory in &private.directories {
                arguments.add(["--tmpfs", directory.as_str()]);
            }
            for file in &private.files {
                arguments.add(["--ro-bind", "/dev/null", file.as_str()]);
            }
        }
        arguments.add(["--proc", "/proc", "--dev", "/dev"]);
        for path in READ_ONLY_PROC.iter().filter(|path| Utf8Path::new(path).exists()) {
            arguments.add(["--ro-bind", path, path]);
        }
        for path in HIDDEN_PROC.iter().filter(|path| Utf8Path::new(path).exists()) {
            arguments.add(["--ro-bind", "/dev/null", path]);
        }
        arguments.add(["--tmpfs", "/tmp", "--tmpfs", "/var/tmp", "--setenv", "TMPDIR", "/tmp"]);
        arguments
    }
}

impl Sandbox for Bwrap {
    fn name(&self) -> &'static str {
        "bwrap"
    }

    fn available(&self, _: &ContainerSettings) -> Result<(), String> {
        let mut arguments = self.system();
        arguments.add(["--", "true"]);
        match ask("bwrap", &arguments.0) {
            Ok(ended) if ended.status.success() => Ok(()),
            Ok(ended) => Err(format!("sandbox `bwrap` does not work here: {}", complaint(&ended))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err("sandbox `bwrap` needs the program `bwrap`; install the package `bubblewrap`"
                    .to_owned())
            }
            Err(error) => Err(format!("sandbox `bwrap` does not work here: {error}")),
        }
    }

    fn wrap(&self, start: ProgramStart, view: &SandboxView) -> Result<SandboxedProgram, String> {
        let masked = hidden_in_system(&view.hidden);
        let is_visible = |path: &Utf8Path| {
            (is_system(path) && !masked.iter().any(|one| path.starts_with(one)))
                || view.writable.iter().any(|one| path.starts_with(one))
        };
        let needed = program_paths(&start, &view.hidden, &view.writable, &is_visible)?;
        let mut arguments = self.system();
        if view.network == NetworkAccess::None {
            arguments.add(["--unshare-net"]);
        }
        for name in WITHOUT {
            arguments.add(["--unsetenv", name]);
        }
        // What is mounted later covers what was mounted before.
        if let Some(home) = start.variable("HOME").map(Utf8PathBuf::from)
            && home.is_absolute()
            && !is_visible(&home)
        {
            arguments.add(["--tmpfs", home.as_str()]);
        }
        let emptied = arguments.mask(&masked);
        for path in needed.readable.iter().chain(&view.readable) {
            arguments.show(path);
        }
        for (link, target) in &needed.links {
            let is_shown = needed.readable.iter().any(|shown| link.starts_with(shown));
            if !is_shown {
                arguments.add(["--symlink", target.as_str(), link.as_str()]);
            }
        }
        for path in &view.writable {
            arguments.add(["--bind", path.as_str(), path.as_str()]);
        }
        for path in emptied {
            arguments.add(["--remount-ro", path.as_str()]);
        }
        arguments.add(["--remount-ro", "/", "--chdir", start.cwd.as_str(), "--"]);
        arguments.add([start.program.as_str()]);
        arguments.0.extend(start.args);
        let start = ProgramStart { program: "bwrap".to_owned(), args: arguments.0, ..start };
        Ok(start.into())
    }
}

pub(super) fn is_system(path: &Utf8Path) -> bool {
    SYSTEM.iter().any(|system| path.starts_with(system))
}

/// What system directories would show, a directory before what is in it. A system directory itself is
/// needed.
fn hidden_in_system(hidden: &[Utf8PathBuf]) -> Vec<&Utf8Path> {
    let is_inside = |path: &&Utf8Path| is_system(path) && !SYSTEM.contains(&path.as_str());
    let mut inside: Vec<&Utf8Path> =
        hidden.iter().map(Utf8PathBuf::as_path).filter(is_inside).collect();
    inside.sort_unstable();
    inside
}

#[derive(Debug, Default)]
struct BwrapArguments(Vec<String>);

impl BwrapArguments {
    fn add<'w>(&mut self, words: impl IntoIterator<Item = &'w str>) {
        self.0.extend(words.into_iter().map(str::to_owned));
    }

    fn show(&mut self, path: &Utf8Path) {
        self.add(["--ro-bind", path.as_str(), path.as_str()]);
    }

    /// On most systems `/bin` is a link to `usr/bin`.
    fn show_system(&mut self, path: &Utf8Path) {
        match path.read_link_utf8() {
            Ok(target) => self.add(["--symlink", target.as_str(), path.as_str()]),
            Err(_) if path.exists() => self.show(path),
            Err(_) => {}
        }
    }
    /// Covers these paths. Returns the directories that are empty now: until they are mounted read-only,
    /// more can be shown in them.
    fn mask<'p>(&mut self, paths: &[&'p Utf8Path]) -> Vec<&'p Utf8Path> {
        let mut empty: Vec<&Utf8Path> = Vec::new();
        for path in paths {
            if empty.iter().any(|one| path.starts_with(one)) {
                continue;
            }
            if path.is_dir() {
                self.add(["--tmpfs", path.as_str()]);
                empty.push(path);
            } else if path.exists() {
                self.add(["--ro-bind", "/dev/null", path.as_str()]);
            }
        }
        empty
    }
}
