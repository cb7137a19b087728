//! Programs that are run for real.

use std::fs;
use std::path::Path;

use camino::Utf8PathBuf;

use super::*;

/// A timeout that must not be reached.
const LONG: Duration = Duration::from_secs(60);

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn spec<'a>(args: &'a [String], cwd: &'a Utf8Path) -> ProcessSpec<'a> {
    ProcessSpec {
        program: "sh",
        args,
        cwd,
        env: &[],
        without: &[],
        stdin: None,
        timeout: LONG,
        grace: LONG,
        output_limit: OUTPUT_LIMIT,
    }
}

struct Place {
    directory: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self { directory }
    }

    fn path(&self) -> Utf8PathBuf {
        Utf8PathBuf::from_path_buf(self.directory.path().to_owned()).unwrap()
    }

    fn has(&self, name: &str) -> bool {
        let found = fs::metadata(self.directory.path().join(name));
        found.is_ok_and(|found| found.len() > 0)
    }

    async fn run(
        &self,
        line: &str,
        change: impl Fn(&mut ProcessSpec<'_>),
    ) -> Result<ProcessOutput, AttemptFault> {
        let args = words(&["-c", line]);
        let cwd = self.path();
        let mut spec = spec(&args, &cwd);
        change(&mut spec);
        run(&spec).await
    }

    /// Runs into a timeout; retries with a longer one if the program had not written `ready`
    /// before. So the test does not depend on the speed of the machine.
    async fn run_out(&self, line: &str, grace: Duration) -> AttemptFault {
        for milliseconds in [100, 400, 1600, 6400, 25600] {
            let ended = self.run(line, |spec| {
                spec.timeout = Duration::from_millis(milliseconds);
                spec.grace = grace;
            });
            let fault = ended.await.unwrap_err();
            if self.has("ready") {
                return fault;
            }
        }
        panic!("the program never got ready");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.directory.path().join(name)).unwrap()
    }

    /// Waits until the process whose pid is in a file is gone.
    async fn wait_for_end_of(&self, name: &str) {
        let id = self.read(name).trim().to_owned();
        let raw: i32 = id.parse().unwrap();
        let pid = rustix::process::Pid::from_raw(raw).unwrap();
        let is_zombie = || {
            let stat = fs::read_to_string(Path::new("/proc").join(&id).join("stat"));
            stat.is_ok_and(|stat| stat.contains(") Z "))
        };
        while rustix::process::test_kill_process(pid).is_ok() && !is_zombie() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

#[tokio::test]
async fn input_is_fed_while_output_is_read() {
    let text = "0123456789abcde\n".repeat(100_000);
    let (place, args) = (Place::new(), words(&["/dev/stderr"]));
    let cwd = place.path();
    let spec = ProcessSpec { program: "tee", stdin: Some(text.as_bytes()), ..spec(&args, &cwd) };
    let ended = run(&spec).await.unwrap();
    assert!(ended.stdout == text.as_bytes());
    let end = &text[text.len() - STDERR_CHARS..];
    assert_eq!(ended.stderr, format!("…{end}"));
    assert_eq!(describe(ended.status), None);
}

#[tokio::test]
async fn a_program_need_not_read_its_input() {
    let text = vec![b'x'; 1024 * 1024];
    let (place, args) = (Place::new(), words(&["-c", "echo done"]));
    let cwd = place.path();
    let spec = ProcessSpec { stdin: Some(&text), ..spec(&args, &cwd) };
    assert_eq!(run(&spec).await.unwrap().stdout, b"done\n");
}

#[tokio::test]
async fn a_program_may_close_its_output_and_go_on() {
    let line = "exec >&- 2>&-; sleep 0.02; exit 3";
    let ended = Place::new().run(line, |_| {}).await.unwrap();
    assert_eq!(describe(ended.status).as_deref(), Some("exit status 3"));
}

#[tokio::test]
async fn signals_are_named() {
    let ended = Place::new().run("kill -9 $$", |_| {}).await.unwrap();
    assert_eq!(describe(ended.status).as_deref(), Some("killed by signal 9"));
}

#[tokio::test]
async fn only_the_end_of_complaints_is_kept_in_whole_characters() {
    let line = "yes aé漢😀 | head -n 20000 >&2";
    let ended = Place::new().run(line, |_| {}).await.unwrap();
    assert_eq!(ended.stderr.chars().count(), 1 + STDERR_CHARS);
    assert!(ended.stderr.ends_with("aé漢😀\n"));
    assert!(!ended.stderr.contains('\u{fffd}'));
}

#[test]
fn a_tail_of_long_characters_is_as_long_as_any() {
    let mut tail = Tail::default();
    for _ in 0..5000 {
        tail.bytes.extend_from_slice("😀".as_bytes());
        tail.shorten();
    }
    assert_eq!(tail.text(), format!("…{}", "😀".repeat(STDERR_CHARS)));
}

#[tokio::test]
async fn a_flood_is_stopped() {
    let place = Place::new();
    let line = "echo $$ > ready; exec yes";
    let fault = place.run(line, |spec| spec.output_limit = 100_000).await;
    let fault = fault.unwrap_err();
    assert_eq!(fault.fault.kind, FaultKind::Limit);
    assert_eq!(fault.fault.message, "more than 100000 bytes of output");
    place.wait_for_end_of("ready").await;
    let exact = place.run("printf 12345", |spec| spec.output_limit = 5);
    assert_eq!(exact.await.unwrap().stdout, b"12345");
}

#[tokio::test]
async fn a_timeout_ends_the_whole_group() {
    let place = Place::new();
    let line = "sleep 1000 & echo $! > below; echo $$ > ready; echo why >&2; wait";
    let fault = place.run_out(line, LONG).await;
    assert_eq!(fault.fault.kind, FaultKind::Timeout);
    assert!(fault.fault.message.starts_with("no answer after "));
    place.wait_for_end_of("ready").await;
    place.wait_for_end_of("below").await;
    assert_eq!(fault.retry, Retry::Soon);
}

#[tokio::test]
async fn a_program_is_asked_before_it_is_ended() {
    let place = Place::new();
    let line = "trap 'echo bye > asked; exit 0' TERM; echo $$ > ready; \
                while :; do sleep 0.01; done";
    place.run_out(line, LONG).await;
    assert_eq!(place.read("asked"), "bye\n");
}

#[tokio::test]
async fn one_that_does_not_listen_is_ended_after_the_grace() {
    let place = Place::new();
    let line = "trap '' TERM; sleep 1000 & echo $! > below; echo $$ > ready; wait";
    place.run_out(line, Duration::from_millis(50)).await;
    place.wait_for_end_of("ready").await;
    place.wait_for_end_of("below").await;
}

#[tokio::test]
async fn what_is_started_below_has_its_own_time_to_end() {
    let place = Place::new();
    let below = "trap 'echo bye > asked; exit 0' TERM; echo $$ > ready; \
                 while :; do sleep 0.01; done";
    let line = format!("sh -c \"{}\" >/dev/null 2>&1 & wait", below.replace('$', "\\$"));
    place.run_out(&line, LONG).await;
    place.wait_for_end_of("ready").await;
    assert_eq!(place.read("asked"), "bye\n");
}

#[tokio::test]
async fn what_keeps_a_pipe_open_does_not_keep_us() {
    let place = Place::new();
    let line = "sleep 1000 & echo $! > below; echo answer";
    let ended = place.run(line, |_| {}).await.unwrap();
    assert_eq!(ended.stdout, b"answer\n");
    assert_eq!(describe(ended.status), None);
    place.wait_for_end_of("below").await;
}

#[tokio::test]
async fn dropping_the_future_ends_the_group() {
    let place = Place::new();
    let line = "trap '' TERM; sleep 1000 & echo $! > below; echo $$ > ready; wait";
    let seen = async {
        while !(place.has("ready") && place.has("below")) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        _ = place.run(line, |_| {}) => panic!("it should run on"),
        () = seen => {}
    }
    place.wait_for_end_of("ready").await;
    place.wait_for_end_of("below").await;
}

async fn refused(change: impl Fn(&mut ProcessSpec<'_>)) -> String {
    let fault = Place::new().run("true", change).await.unwrap_err();
    assert_eq!(fault.fault.kind, FaultKind::Start);
    fault.fault.message
}

#[tokio::test]
async fn what_cannot_start_says_why() {
    assert_eq!(
        refused(|spec| spec.program = "no-such-program-here").await,
        "cannot start `no-such-program-here`: no such program"
    );
    assert_eq!(refused(|spec| spec.program = "./x").await, "cannot start `./x`: no such program");
    assert_eq!(
        refused(|spec| spec.program = "a\0b").await,
        "cannot start `a\0b`: an argument or a variable holds a NUL byte"
    );
    assert_eq!(
        refused(|spec| spec.cwd = Utf8Path::new("/no/such/place")).await,
        "cannot start `sh`: the working directory `/no/such/place` does not exist"
    );
    assert_eq!(
        refused(|spec| spec.program = "/").await,
        "cannot start `/`: permission denied; is it executable?"
    );
}

#[tokio::test]
async fn variables_are_added_and_taken_away() {
    let env = [("EVALRIG_A".to_owned(), "a\nb".to_owned())];
    let args = words(&["-c", "printf %s \"$EVALRIG_A${HOME-none}\""]);
    let place = Place::new();
    let cwd = place.path();
    let spec = ProcessSpec {
        env: &env,
        without: &["HOME".to_owned()],
        stdin: Some(b""),
        ..spec(&args, &cwd)
    };
    assert_eq!(run(&spec).await.unwrap().stdout, b"a\nbnone");
}
