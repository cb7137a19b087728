//! The binary as a process: colors, pipes, special files.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

const CLEAN: &str = "name: clean\ntests:\n  - {id: a, criteria: Greets, input: Hi}\n";
const BROKEN: &str = "name: broken\ntests:\n  - {id: a, criteria: Greets}\n";
const NOTED: &str = "name: a--b\ntests:\n  - {id: a, criteria: Greets, input: Hi}\n";

/// A longer wait means that the process hangs.
const PATIENCE: Duration = Duration::from_secs(60);

fn directory(files: &[(&str, &str)]) -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    for (name, text) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }
    directory
}

fn command(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_evalrig"));
    command.args(arguments).current_dir(directory);
    for name in ["NO_COLOR", "CLICOLOR_FORCE", "CLICOLOR", "TERM"] {
        command.env_remove(name);
    }
    command
}

/// Runs to the end; fails if the process hangs.
fn finish(mut command: Command) -> Output {
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()));
    receiver.recv_timeout(PATIENCE).expect("the binary ends").expect("its output can be read")
}

fn run(directory: &Path, arguments: &[&str]) -> Output {
    finish(command(directory, arguments))
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn ends_with(output: &Output, code: i32) {
    let (out, err) = (out(output), err(output));
    assert!(!err.contains("panicked"), "{err}");
    assert_eq!(output.status.code(), Some(code), "{out}\n{err}");
}

#[test]
fn pipes_get_no_colors() {
    let here = directory(&[("EVAL.yaml", BROKEN)]);
    let output = run(here.path(), &["validate"]);
    ends_with(&output, 1);
    assert!(!out(&output).contains('\u{1b}'));
}

#[test]
fn colors_can_be_forced() {
    let here = directory(&[("EVAL.yaml", BROKEN)]);
    let output = run(here.path(), &["validate", "--color", "always"]);
    ends_with(&output, 1);
    assert!(out(&output).contains("\u{1b}["));
    let mut forced = command(here.path(), &["validate"]);
    forced.env("CLICOLOR_FORCE", "1");
    assert!(out(&finish(forced)).contains("\u{1b}["));
}

#[test]
fn colors_can_be_disabled() {
    let here = directory(&[("EVAL.yaml", BROKEN)]);
    let mut refused = command(here.path(), &["validate"]);
    refused.env("NO_COLOR", "1").env("CLICOLOR_FORCE", "1");
    assert!(!out(&finish(refused)).contains('\u{1b}'));
    let mut never = command(here.path(), &["validate", "--color", "never"]);
    never.env("CLICOLOR_FORCE", "1");
    assert!(!out(&finish(never)).contains('\u{1b}'));
}

#[test]
fn options_override_the_environment() {
    let here = directory(&[("EVAL.yaml", BROKEN)]);
    let mut command = command(here.path(), &["validate", "--color", "always"]);
    command.env("NO_COLOR", "1");
    assert!(out(&finish(command)).contains("\u{1b}["));
}

#[test]
fn machine_formats_have_no_colors() {
    let here = directory(&[("EVAL.yaml", BROKEN)]);
    for format in ["json", "github", "sarif"] {
        let arguments = ["validate", "--color", "always", "--format", format];
        let output = run(here.path(), &arguments);
        ends_with(&output, 1);
        assert!(!out(&output).contains('\u{1b}'), "{format}");
    }
}

#[test]
fn quiet_prints_problems_only() {
    let clean = directory(&[("EVAL.yaml", CLEAN)]);
    let output = run(clean.path(), &["validate", "-q"]);
    ends_with(&output, 0);
    assert_eq!((out(&output), err(&output)), (String::new(), String::new()));
    let broken = directory(&[("EVAL.yaml", BROKEN)]);
    let output = run(broken.path(), &["-q", "validate"]);
    ends_with(&output, 1);
    assert!(out(&output).contains("error[missing-input]"));
}

#[test]
fn a_list_without_suites_says_why() {
    let here = directory(&[("eval.yaml", "testcases: [{id: a}]\n")]);
    let output = run(here.path(), &["list"]);
    ends_with(&output, 4);
    assert!(err(&output).contains("warning[foreign-dialect]"));
    assert!(err(&output).contains("no suite was found"));
    ends_with(&run(here.path(), &["list", "-q"]), 4);
}

#[test]
fn notes_are_shown_only_with_verbose() {
    let here = directory(&[("EVAL.yaml", NOTED)]);
    let output = run(here.path(), &["validate"]);
    ends_with(&output, 0);
    assert!(!out(&output).contains("note["));
    let output = run(here.path(), &["validate", "-v"]);
    ends_with(&output, 0);
    assert!(out(&output).contains("note[name-double-hyphen]"));
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn fifo(path: &Path) {
        let made = Command::new("mkfifo").arg(path).status();
        assert!(made.expect("mkfifo starts").success());
    }

    fn shell(directory: &Path, script: &str) -> Output {
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(directory);
        command.env("EVALRIG", env!("CARGO_BIN_EXE_evalrig"));
        finish(command)
    }

    #[test]
    fn a_closed_pipe_does_not_panic() {
        let here = directory(&[("EVAL.yaml", &BROKEN.replace("id: a,", "id: a, x: 1,"))]);
        for arguments in ["explain", "schema", "validate", "list", "--help", "completions zsh"] {
            let script = format!("\"$EVALRIG\" {arguments} | head -n 1");
            ends_with(&shell(here.path(), &script), 0);
            // The pipe has no reader at all.
            let output = shell(here.path(), &format!("\"$EVALRIG\" {arguments} >&-"));
            assert!(!err(&output).contains("panicked"), "{arguments}");
        }
    }

    #[test]
    fn a_pipe_given_as_a_suite_is_refused_and_not_waited_for() {
        let here = directory(&[]);
        fifo(&here.path().join("pipe.yaml"));
        let output = run(here.path(), &["validate", "pipe.yaml"]);
        ends_with(&output, 1);
        assert!(out(&output).contains("error[unreadable-file]"));
        ends_with(&run(here.path(), &["show", "pipe.yaml"]), 2);
        ends_with(&run(here.path(), &["list", "pipe.yaml"]), 2);
        fifo(&here.path().join("rows.jsonl"));
        ends_with(&run(here.path(), &["validate", "rows.jsonl"]), 1);
        // Found by discovery, it is reported too: nothing with the name of a suite is passed over.
        fifo(&here.path().join("EVAL.yaml"));
        let output = run(here.path(), &["validate"]);
        ends_with(&output, 1);
        assert!(out(&output).contains("error[unreadable-file]"));
    }

    #[test]
    fn pipes_that_a_suite_names_are_not_waited_for() {
        let suite = "name: a\ntests:\n  - pipe.yaml\n  - {id: a, criteria: c, input: Hi, input_files: [pipe]}\n";
        let here = directory(&[("EVAL.yaml", suite)]);
        fifo(&here.path().join("pipe.yaml"));
        fifo(&here.path().join("pipe"));
        let output = run(here.path(), &["validate"]);
        ends_with(&output, 1);
        assert_eq!(out(&output).matches("error[not-a-file]").count(), 2);
        fifo(&here.path().join(".env"));
        ends_with(&run(here.path(), &["validate"]), 1);
    }

    #[test]
    fn a_device_is_not_read_without_end() {
        let here = directory(&[]);
        symlink("/dev/zero", here.path().join("zero.yaml")).expect("a link");
        ends_with(&run(here.path(), &["validate", "zero.yaml"]), 1);
    }

    #[test]
    fn links_that_lead_in_circles_are_not_followed() {
        let here = directory(&[("a/EVAL.yaml", CLEAN)]);
        symlink("..", here.path().join("a/up")).expect("a link");
        symlink(".", here.path().join("a/here")).expect("a link");
        symlink("x.eval.yaml", here.path().join("a/x.eval.yaml")).expect("a link");
        let output = run(here.path(), &["validate"]);
        ends_with(&output, 0);
        assert_eq!(out(&output), "all good: 1 file, 1 test\n");
        // A pattern names what it matches, so a broken link is an error.
        let output = run(here.path(), &["validate", "a/**/*.yaml"]);
        ends_with(&output, 1);
        assert_eq!(out(&output).matches("error[").count(), 1);
        ends_with(&run(here.path(), &["validate", "a/x.eval.yaml"]), 2);
    }

    #[test]
    fn a_path_that_is_not_utf8_is_refused_with_words() {
        let here = directory(&[("EVAL.yaml", CLEAN)]);
        let name = OsStr::from_bytes(b"\xff.eval.yaml");
        // Some file systems reject such a name; the argument can still be passed.
        let _ = fs::write(here.path().join(name), CLEAN);
        let mut named = command(here.path(), &["validate"]);
        named.arg(name);
        let output = finish(named);
        ends_with(&output, 2);
        assert!(err(&output).contains("UTF-8"), "{}", err(&output));
        // Next to a suite it is ignored.
        let output = run(here.path(), &["validate"]);
        assert!(out(&output).contains("1 file, 1 test"), "{}", out(&output));
    }

    #[test]
    fn a_working_directory_that_is_not_utf8_is_refused_with_words() {
        let here = directory(&[]);
        let inner = here.path().join(OsStr::from_bytes(b"\xfe"));
        if fs::create_dir(&inner).is_err() {
            return;
        }
        let output = run(&inner, &["validate"]);
        ends_with(&output, 2);
        assert!(err(&output).contains("UTF-8"));
    }

    #[test]
    fn a_directory_without_permission_does_not_hide_the_others() {
        let here = directory(&[("open/EVAL.yaml", CLEAN), ("shut/EVAL.yaml", BROKEN)]);
        let shut = here.path().join("shut");
        let allow = |mode| fs::set_permissions(&shut, fs::Permissions::from_mode(mode));
        allow(0o000).expect("a mode");
        let is_enforced = fs::read_dir(&shut).is_err();
        let output = run(here.path(), &["validate", "--format", "concise"]);
        allow(0o755).expect("a mode");
        assert!(!err(&output).contains("panicked"));
        if is_enforced {
            assert!(out(&output).contains("(1 test)"), "{}", out(&output));
        }
    }

    #[test]
    fn a_file_without_permission_is_an_error_of_its_own() {
        let here = directory(&[("EVAL.yaml", CLEAN), ("b/EVAL.yaml", NOTED)]);
        let shut = here.path().join("b/EVAL.yaml");
        fs::set_permissions(&shut, fs::Permissions::from_mode(0o000)).expect("a mode");
        let output = run(here.path(), &["validate"]);
        // Root may read everything.
        if fs::read(&shut).is_err() {
            ends_with(&output, 1);
            assert!(out(&output).contains("error[unreadable-file]"));
            assert!(out(&output).contains("--> b/EVAL.yaml:1:1"));
        }
    }
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_out_of_the_repository_is_refused_whether_or_not_the_file_exists() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("there.md"), "secret").unwrap();
    let inside = outside.path().join("repository");
    std::fs::create_dir_all(inside.join(".git")).unwrap();
    symlink(outside.path(), inside.join("up")).unwrap();
    let suite = "name: links\ntests:\n  \
                 - {id: a, criteria: c, input: i, input_files: [up/there.md]}\n  \
                 - {id: b, criteria: c, input: i, input_files: [up/absent.md]}\n  \
                 - up/cases.yaml\n";
    std::fs::write(inside.join("EVAL.yaml"), suite).unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_evalrig"))
        .args(["validate", "--format", "concise"])
        .current_dir(&inside)
        .output()
        .unwrap();
    let report = String::from_utf8(output.stdout).unwrap();
    assert_eq!(report.matches("path-outside-root").count(), 3, "{report}");
    assert!(!report.contains("file-not-found"), "{report}");
}
