//! The marks by which a program and everything it starts are recognized: a variable, and on Linux an open
//! descriptor too. A program can drop either one: `env -i` removes the variable, and some languages close
//! descriptors before they start another program. Dropping both takes intent.

use std::sync::LazyLock;
use std::time::SystemTime;

#[cfg(target_os = "linux")]
pub(super) use linux::{open_mark, program_numbers};
#[cfg(not(target_os = "linux"))]
pub(super) use other::open_mark;

/// The variable; its value is `TOKEN.NUMBER`, with the number of the program.
pub(super) const VARIABLE: &str = "EVALRIG_PROCESS";

/// Identifies this run of evalrig among all processes of the machine.
pub(super) static TOKEN: LazyLock<String> = LazyLock::new(|| {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let nanos = since.map_or(0, |since| since.as_nanos());
    format!("{}-{nanos:x}", std::process::id())
});

/// The value of the variable for a program.
pub(super) fn value_for(number: u64) -> String {
    format!("{}.{number}", *TOKEN)
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::os::fd::OwnedFd;

    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

    use super::{VARIABLE, value_for};
    use crate::agent::watchdog::WATCHDOG_NAME;

    /// A descriptor that programs inherit, to be held until the program has started. Whatever starts
    /// meanwhile inherits it too. None where descriptors are used up: the variable is still there.
    pub(in super::super) fn open_mark(number: u64) -> Option<OwnedFd> {
        // The name of a memory file can be read from outside, and nothing can be written to a sealed one.
        let name = format!("{VARIABLE}={}", value_for(number));
        let file = memfd_create(name, MemfdFlags::ALLOW_SEALING).ok()?;
        let seals = SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE;
        fcntl_add_seals(&file, seals).ok();
        Some(file)
    }

    /// The programs of a run that a process may descend from. Empty if it has no mark.
    pub(in super::super) fn program_numbers(process: u32, token: &str) -> Vec<u64> {
        let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        match number_in_environment(&environment, token) {
            Some(number) => vec![number],
            None => numbers_of_descriptors(process, token),
        }
    }

    fn number_in_environment(environment: &[u8], token: &str) -> Option<u64> {
        environment.split(|byte| *byte == 0).find_map(|variable| number_in(variable, token))
    }

    fn numbers_of_descriptors(process: u32, token: &str) -> Vec<u64> {
        let Ok(descriptors) = fs::read_dir(format!("/proc/{process}/fd")) else {
            return Vec::new();
        };
        let targets = descriptors.flatten().filter_map(|one| fs::read_link(one.path()).ok());
        let numbers: Vec<u64> = targets
            .filter_map(|target| {
                let name = target.to_str()?.strip_prefix("/memfd:")?.strip_suffix(" (deleted)")?;
                number_in(name.as_bytes(), token)
            })
            .collect();
        // The watchdog of an evalrig that is itself a program inherits the mark and cannot close it. It
        // must outlive that evalrig to end what it started.
        if numbers.is_empty() || is_watchdog(process) { Vec::new() } else { numbers }
    }

    fn is_watchdog(process: u32) -> bool {
        let arguments = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        arguments.split(|byte| *byte == 0).next() == Some(WATCHDOG_NAME.as_bytes())
    }

    /// The number in `VARIABLE=TOKEN.NUMBER`.
    fn number_in(text: &[u8], token: &str) -> Option<u64> {
        let value = text.strip_prefix(VARIABLE.as_bytes())?.strip_prefix(b"=")?;
        let number = value.strip_prefix(token.as_bytes())?.strip_prefix(b".")?;
        std::str::from_utf8(number).ok()?.parse().ok()
    }

    #[cfg(test)]
    mod tests {
        use std::process::{Command, Stdio};

        use super::super::TOKEN;
        use super::*;

        #[test]
        fn only_the_own_mark_counts() {
            let environment = b"A=1\0EVALRIG_PROCESS=12-ab.34\0B=2\0";
            assert_eq!(number_in_environment(environment, "12-ab"), Some(34));
            assert_eq!(number_in_environment(environment, "12-a"), None);
            assert_eq!(number_in_environment(b"X=EVALRIG_PROCESS=12-ab.34\0", "12-ab"), None);
        }

        #[test]
        fn a_program_with_an_empty_environment_has_its_mark() {
            let mark = open_mark(u64::MAX).unwrap();
            let mut sleep = Command::new("/bin/sleep");
            let mut sleep = sleep.arg("60").env_clear().stdin(Stdio::null()).spawn().unwrap();
            drop(mark);
            // Programs that other tests start meanwhile may leave their marks, too.
            assert!(program_numbers(sleep.id(), &TOKEN).contains(&u64::MAX));
            assert_eq!(program_numbers(sleep.id(), "another"), [0; 0]);
            sleep.kill().unwrap();
            sleep.wait().unwrap();
            assert_eq!(program_numbers(sleep.id(), &TOKEN), [0; 0]);
        }

        #[test]
        fn a_mark_cannot_be_written_to() {
            let mark = open_mark(u64::MAX - 1).unwrap();
            assert!(rustix::io::write(&mark, b"x").is_err());
        }
    }
}

/// Other systems have no way to look at the descriptors of a process.
#[cfg(not(target_os = "linux"))]
mod other {
    pub(in super::super) struct NoMark;

    pub(in super::super) fn open_mark(_: u64) -> Option<NoMark> {
        None
    }
}
