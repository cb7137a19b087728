//! What a hostile program can do: each attack succeeds without a sandbox and fails inside of bubblewrap,
//! for root and for an ordinary user.

use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::model::{
    Answer, CommandQuestion, ContainerSettings, FaultKind, HookCommand, WorkspaceFiles,
};

use crate::agent::AttemptFault;
use crate::agent::process::{OUTPUT_LIMIT, ProcessOutput, ProcessSpec, run};
use crate::sandbox::{
    Bwrap, NetworkAccess, NoSandbox, ProgramStart, Sandbox, SandboxUse, SandboxView,
};

use super::testing::{TestRun, set_mode, write};

/// The user that programs run as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TestUser {
    Current,
    /// Only root can become somebody else.
    Nobody,
}

const NOBODY: &[&str] = &["--reuid=65534", "--regid=65534", "--clear-groups", "--"];

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether bubblewrap works here. It must where EVALRIG_NEED_BWRAP says so.
pub(super) fn has_bwrap() -> bool {
    let Err(reason) = Bwrap::HERE.available(&ContainerSettings::default()) else { return true };
    assert!(std::env::var_os("EVALRIG_NEED_BWRAP").is_none(), "{reason}");
    let _ = writeln!(std::io::stderr(), "skipped: {reason}");
    false
}

/// Those that can be tested here; none without bubblewrap.
fn users() -> Vec<TestUser> {
    if !has_bwrap() {
        return Vec::new();
    }
    let can_change = is_root() && Command::new("setpriv").arg("--version").output().is_ok();
    if can_change { vec![TestUser::Current, TestUser::Nobody] } else { vec![TestUser::Current] }
}

struct Attack {
    _folder: tempfile::TempDir,
    user: TestUser,
    place: Utf8PathBuf,
    victim: Child,
}

impl Drop for Attack {
    fn drop(&mut self) {
        self.victim.kill().unwrap();
        self.victim.wait().unwrap();
    }
}

impl Attack {
    fn new(user: TestUser) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap();
        for file in ["home/.ssh/id", "suite/EVAL.yaml", "other-case/answer", "outside/x"] {
            write(&place.join(file), "treasure");
        }
        for directory in ["workspace", "case-home"] {
            fs::create_dir(place.join(directory)).unwrap();
        }
        // So that only the sandbox protects them.
        for directory in ["", "home", "home/.ssh", "suite", "other-case"] {
            set_mode(&place.join(directory), 0o755);
        }
        for directory in ["outside", "workspace", "case-home"] {
            set_mode(&place.join(directory), 0o777);
        }
        let (program, before) = as_user(user, "sleep");
        let mut victim = Command::new(program);
        victim.args(before).arg("1000").env("VICTIM", "treasure").stdin(Stdio::null());
        let victim = victim.spawn().unwrap();
        let attack = Self { _folder: folder, user, place, victim };
        // It is another program until it has called `exec`.
        let comm = format!("/proc/{}/comm", attack.victim.id());
        while fs::read_to_string(&comm).is_ok_and(|name| name != "sleep\n") {
            std::thread::yield_now();
        }
        attack
    }

    fn view(&self) -> SandboxView {
        let writable = vec![self.place.join("workspace"), self.place.join("case-home")];
        SandboxView { writable, ..SandboxView::default() }
    }

    fn bwrap(&self) -> Bwrap {
        if self.user == TestUser::Nobody { Bwrap::ORDINARY } else { Bwrap::HERE }
    }

    async fn run(
        &self,
        sandbox: &dyn Sandbox,
        view: &SandboxView,
        line: &str,
        timeout: Duration,
    ) -> Result<ProcessOutput, AttemptFault> {
        let variable = |name: &str, value: String| (name.to_owned(), value);
        let start = ProgramStart {
            program: "bash".to_owned(),
            args: vec!["-c".to_owned(), line.to_owned()],
            cwd: self.place.join("workspace"),
            env: vec![
                variable("PLACE", self.place.to_string()),
                variable("HOME", self.place.join("case-home").into_string()),
                variable("VICTIM_ID", self.victim.id().to_string()),
                variable("FIRST", digest_of_first_environment()),
            ],
        };
        let wrapped = sandbox.wrap(start, view).unwrap();
        let (program, mut args) = as_user(self.user, &wrapped.start.program);
        args.extend(wrapped.start.args);
        let spec = ProcessSpec {
            program: &program,
            args: &args,
            cwd: &wrapped.start.cwd,
            env: &wrapped.start.env,
            without: &[],
            stdin: Some(b"input"),
            timeout,
            grace: Duration::from_millis(100),
            output_limit: OUTPUT_LIMIT,
        };
        run(&spec).await
    }

    /// Whether the script, which is an attack, succeeds.
    async fn succeeds(&self, sandbox: &dyn Sandbox, line: &str) -> bool {
        let long = Duration::from_secs(60);
        let ended = self.run(sandbox, &self.view(), line, long).await.unwrap();
        ended.status.success()
    }

    async fn check(&self, line: &str) {
        assert!(self.succeeds(&NoSandbox, line).await, "it is an attack: {line}");
        assert!(!self.succeeds(&self.bwrap(), line).await, "{:?}: {line}", self.user);
    }

    async fn check_output(&self, sandbox: &dyn Sandbox, line: &str) -> String {
        let long = Duration::from_secs(60);
        let ended = self.run(sandbox, &self.view(), line, long).await.unwrap();
        assert_eq!(ended.stderr, "");
        String::from_utf8(ended.stdout).unwrap()
    }
}

fn as_user(user: TestUser, program: &str) -> (String, Vec<String>) {
    if user == TestUser::Current {
        return (program.to_owned(), Vec::new());
    }
    let words = NOBODY.iter().copied().chain([program]).map(str::to_owned).collect();
    ("setpriv".to_owned(), words)
}

/// Of the environment of the machine's first process, as far as this user may read it.
fn digest_of_first_environment() -> String {
    let output = Command::new("sh").args(["-c", "md5sum < /proc/1/environ"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[tokio::test]
async fn keys_suites_and_other_cases_are_not_there() {
    for user in users() {
        let attack = Attack::new(user);
        attack.check("cat $PLACE/home/.ssh/id").await;
        attack.check("cat $PLACE/suite/EVAL.yaml").await;
        attack.check("ls $PLACE/other-case").await;
        attack.check("cd $PLACE && ls -d suite").await;
        attack.check("ls -d /home /root /var/lib").await;
        let visible = attack.check_output(&attack.bwrap(), "ls $PLACE").await;
        assert_eq!(visible, "case-home\nworkspace\n");
    }
}

#[tokio::test]
async fn a_repository_in_a_system_directory_is_covered() {
    let lines = ["grep -q root: /etc/passwd", "ls /usr/share | grep -q .", "ls -d /usr/share/*"];
    for user in users() {
        let attack = Attack::new(user);
        let hidden =
            ["/usr", "/etc/passwd", "/usr/share/doc", "/usr/share"].map(Into::into).to_vec();
        let view = SandboxView { hidden, ..attack.view() };
        for line in lines {
            attack_in(&attack, &NoSandbox, &view, line, true).await;
            attack_in(&attack, &attack.bwrap(), &attack.view(), line, true).await;
            attack_in(&attack, &attack.bwrap(), &view, line, false).await;
        }
        attack_in(&attack, &attack.bwrap(), &view, "touch /usr/share/x", false).await;
    }
}

async fn attack_in(
    attack: &Attack,
    sandbox: &dyn Sandbox,
    view: &SandboxView,
    line: &str,
    succeeds: bool,
) {
    let ended = attack.run(sandbox, view, line, Duration::from_secs(60)).await.unwrap();
    let user = attack.user;
    assert_eq!(ended.status.success(), succeeds, "{line} as {user:?} in {}", sandbox.name());
}

#[tokio::test]
async fn nothing_outside_is_written() {
    for user in users() {
        let attack = Attack::new(user);
        attack.check("echo x > $PLACE/outside/new").await;
        attack.check("ln -sfn $PLACE/outside l && echo x > l/y").await;
        attack.check("mount | grep -q ' on / .*rw'").await;
        if is_root() && user == TestUser::Current {
            // Looked at only: a success would change the machine.
            attack.check("test -w /etc/passwd").await;
            attack.check("test -w /usr/bin").await;
            attack.check("test -w /proc/sys/kernel/core_pattern").await;
        }
        let inside = "echo 1 > file && echo 2 > ~/file && echo 3 > /tmp/file && cat file ~/file";
        assert_eq!(attack.check_output(&attack.bwrap(), inside).await, "1\n2\n");
        let made = attack.place.join("workspace/file");
        assert_eq!(fs::read_to_string(made).unwrap(), "1\n");
    }
}

#[tokio::test]
async fn secrets_of_the_system_are_hidden_from_root() {
    for user in users().into_iter().filter(|user| *user == TestUser::Current && is_root()) {
        let attack = Attack::new(user);
        attack.check("grep -q root: /etc/shadow").await;
        attack.check("test \"$(md5sum < /proc/1/environ)\" = \"$FIRST\"").await;
        let others = attack.check_output(&attack.bwrap(), "grep -c root: /etc/passwd").await;
        assert_eq!(others, "1\n");
    }
}

#[tokio::test]
async fn other_processes_are_out_of_reach() {
    for user in users() {
        let attack = Attack::new(user);
        attack.check("grep -q VICTIM=treasure /proc/$VICTIM_ID/environ").await;
        attack.check("grep -lz VICTIM=treasure /proc/[0-9]*/environ | grep -q .").await;
        attack.check("kill -0 $VICTIM_ID").await;
        attack.check("ls /proc/$VICTIM_ID/cwd/").await;
    }
}

#[tokio::test]
async fn the_network_is_kept_unless_it_is_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    for user in users() {
        let attack = Attack::new(user);
        let line = format!("exec 3<>/dev/tcp/127.0.0.1/{port}");
        assert!(attack.succeeds(&attack.bwrap(), &line).await);
        let view = SandboxView { network: NetworkAccess::None, ..attack.view() };
        let ended = attack.run(&attack.bwrap(), &view, &line, Duration::from_secs(60)).await;
        assert!(!ended.unwrap().status.success(), "{user:?}");
    }
}

#[tokio::test]
async fn input_output_and_exit_codes_pass_through() {
    for user in users() {
        let attack = Attack::new(user);
        let long = Duration::from_secs(60);
        let line = "cat; pwd; echo \"$TMPDIR ${SSH_AUTH_SOCK-none}\"; echo said >&2; exit 42";
        let ended = attack.run(&attack.bwrap(), &attack.view(), line, long).await.unwrap();
        let expected = format!("input{}\n/tmp none\n", attack.place.join("workspace"));
        assert_eq!(String::from_utf8(ended.stdout).unwrap(), expected);
        assert_eq!((ended.stderr.as_str(), ended.status.code()), ("said\n", Some(42)));
    }
}

/// Processes of `sleep` with this argument.
fn sleepers(argument: &str) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let ids = processes.filter_map(|one| one.file_name().to_str()?.parse::<u32>().ok());
    let wanted = format!("sleep\0{argument}\0");
    ids.filter(|id| {
        fs::read(format!("/proc/{id}/cmdline")).is_ok_and(|line| line == wanted.as_bytes())
    })
    .collect()
}

async fn wait_until_gone(argument: &str) {
    while !sleepers(argument).is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A program in a session of its own that does not care about signals, and has said so.
fn daemon(argument: &str) -> String {
    let inner = format!("trap \"\" TERM HUP; echo ready > ready; exec -a sleep sleep {argument}");
    format!("env -i setsid bash -c '{inner}' >/dev/null 2>&1 & until test -s ready; do :; done; ")
}

#[tokio::test]
async fn no_daemon_is_left() {
    for user in users() {
        let attack = Attack::new(user);
        let argument = format!("1000.{}{}", std::process::id(), user as u8);
        assert!(attack.succeeds(&NoSandbox, &daemon(&argument)).await);
        // It has said that it is ready, and becomes `sleep` at once.
        let mut left = sleepers(&argument);
        for _ in 0..2000 {
            if !left.is_empty() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
            left = sleepers(&argument);
        }
        assert!(!left.is_empty(), "without a sandbox it is left");
        for id in left {
            let id = rustix::process::Pid::from_raw(id.cast_signed()).unwrap();
            rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap();
        }
        wait_until_gone(&argument).await;
        fs::remove_file(attack.place.join("workspace/ready")).unwrap();
        assert!(attack.succeeds(&attack.bwrap(), &daemon(&argument)).await);
        wait_until_gone(&argument).await;
    }
}

#[tokio::test]
async fn a_timeout_ends_everything_in_the_sandbox() {
    for user in users() {
        let attack = Attack::new(user);
        let argument = format!("2000.{}{}", std::process::id(), user as u8);
        let line = format!("trap '' TERM; {} wait; sleep {argument}", daemon(&argument));
        let ready = attack.place.join("workspace/ready");
        // With a longer limit if the program had not begun before it was over.
        for milliseconds in [200, 800, 3200, 12800, 51200] {
            let limit = Duration::from_millis(milliseconds);
            let ended = attack.run(&attack.bwrap(), &attack.view(), &line, limit).await;
            assert_eq!(ended.unwrap_err().fault.kind, FaultKind::Timeout);
            wait_until_gone(&argument).await;
            if ready.exists() {
                break;
            }
        }
        assert!(ready.exists(), "the program never began");
    }
}

#[tokio::test]
async fn dropping_the_program_ends_everything_in_the_sandbox() {
    for user in users() {
        let attack = Attack::new(user);
        let argument = format!("3000.{}{}", std::process::id(), user as u8);
        let line = format!("{} sleep {argument}", daemon(&argument));
        let ready = attack.place.join("workspace/ready");
        let (bwrap, view) = (attack.bwrap(), attack.view());
        let long = Duration::from_secs(600);
        let seen = async {
            while !ready.exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::select! {
            _ = attack.run(&bwrap, &view, &line, long) => panic!("it should run on"),
            () = seen => {}
        }
        wait_until_gone(&argument).await;
    }
}

#[tokio::test]
async fn commands_of_checks_run_in_the_sandbox() {
    if users().is_empty() {
        return;
    }
    let run = TestRun::new(&[("x", "1")]);
    let case = run.prepare(&run.workspace()).await.unwrap();
    let suite = run.suite.join("template/x");
    let line = format!("cat x; ls {suite} || echo hidden; ls {}", case.path());
    let question = CommandQuestion {
        command: HookCommand::Shell(line),
        cwd: None,
        overlay: None,
        overlay_files: Vec::new(),
        overlay_others: Vec::new(),
        timeout_seconds: 60,
        collect: None,
    };
    let view = SandboxView::default();
    let used = SandboxUse { sandbox: &Bwrap::HERE, view: &view };
    match case.run_command(&question, Some(used)).await {
        Answer::Command(answer) => {
            assert_eq!(String::from_utf8(answer.stdout).unwrap(), "1hidden\n");
        }
        other => panic!("{other:?}"),
    }
    let missing =
        CommandQuestion { command: HookCommand::Argv(vec!["no-such".to_owned()]), ..question };
    match case.run_command(&missing, Some(used)).await {
        Answer::Failed(fault) => assert_eq!(fault.kind, FaultKind::Start),
        other => panic!("{other:?}"),
    }
    assert!(Utf8Path::new(&suite).exists());
}
