//! Files that programs write: results, journals, the run log, replies of judges, and targets files.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::diagnostic::Diagnostics;
use evalrig_core::evidence::{ScriptEnd, read_score_reply, read_script};
use evalrig_core::reader::World;
use evalrig_core::secrets::Secrets;
use evalrig_core::source::{MemoryFiles, Reach, Sources, Variables};
use evalrig_run::report::{Detail, REPORTS, ReportOptions, ReportedRun, SuiteText};
use evalrig_run::results::{
    ExitRule, Interrupted, Labels, ResultsPaths, Rows, append_label, read_finished,
};
use evalrig_run::runlog::{RecordSummary, RunFile, SessionFormat, read_session};
use evalrig_run::session::{LoadOptions, read_cases};
use evalrig_run::target::read_targets;
use evalrig_run::text::OutputStyle;
use tempfile::TempDir;

/// A finished row, for the journal beside it.
const ROW: &[u8] = include_bytes!("../../../fuzz/seeds/rows/passed.jsonl");

/// Files in memory, where the system has such a directory.
struct Scratch(TempDir);

impl Scratch {
    fn new() -> Self {
        let memory = std::path::Path::new("/dev/shm");
        let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        Self(made.expect("a temporary directory"))
    }

    fn path(&self, name: &str) -> Utf8PathBuf {
        let directory = Utf8Path::from_path(self.0.path()).expect("its name is UTF-8");
        directory.join(name)
    }
}

thread_local! {
    static SCRATCH: Scratch = Scratch::new();
}

/// A results file: every way in which it is read, and every report of its rows.
pub(super) fn rows(bytes: &[u8]) {
    SCRATCH.with(|scratch| {
        let path = scratch.path("r.jsonl");
        let _ = fs::remove_file(ResultsPaths::existing(&path).journal());
        fs::write(&path, bytes).expect("the file can be written");
        let _ = read_finished(&path);
        let _ = read_cases(&LoadOptions::new("/"), &[vec![path.clone()]]);
        if let Ok(found) = Interrupted::read(&path) {
            let _ = found.notices();
        }
        if let Ok(rows) = Rows::open(&path) {
            report(rows);
        }
    });
}

fn report(rows: Rows) {
    let options = ReportOptions {
        style: OutputStyle::default(),
        detail: Detail::Verbose,
        text: SuiteText::new(|_, line| Some(format!("line {line}"))),
        exit_rule: ExitRule::default(),
    };
    let mut stored = rows;
    let rows: Vec<_> = stored.by_ref().map_while(Result::ok).collect();
    let end = ReportedRun { gaps: stored.gaps(), ..ReportedRun::default() };
    for kind in REPORTS {
        let (mut report, mut out) = ((kind.make)(&options), Vec::new());
        for row in &rows {
            report.row(row, &mut out).expect("memory can be written");
        }
        report.finish(&end, &mut out).expect("memory can be written");
        assert!(String::from_utf8(out).is_ok(), "`{}` is not UTF-8", kind.name);
    }
}

/// A journal beside sound results, and beside none.
pub(super) fn journal(bytes: &[u8]) {
    SCRATCH.with(|scratch| {
        let path = scratch.path("j.jsonl");
        fs::write(ResultsPaths::existing(&path).journal(), bytes).expect("the file can be written");
        for rows in [ROW, b""] {
            fs::write(&path, rows).expect("the file can be written");
            if let Ok(found) = Interrupted::read(&path) {
                let _ = (found.notices(), found.rows().len());
            }
        }
    });
}

/// The labels of a repository: what is read can be written, and then says the same.
pub(super) fn labels(bytes: &[u8]) {
    let file = Utf8Path::new("labels.jsonl");
    let labels = Labels::parse(file, bytes);
    let kept: Vec<_> = labels.iter().cloned().collect();
    assert!(kept.iter().all(|label| label.fault().is_none() && label.label.is_some()));
    assert!(labels.damaged().iter().all(|line| line.line > 0 && !line.reason.is_empty()));
    if kept.len() > 20 {
        return;
    }
    SCRATCH.with(|scratch| {
        let root = scratch.path("labels");
        let _ = fs::remove_dir_all(&root);
        fs::create_dir(&root).expect("a directory");
        for label in &kept {
            append_label(&root, label, &Secrets::default()).expect("it was read");
        }
        let again = Labels::read(&root).expect("it was written");
        assert!(again.damaged().is_empty() && again.iter().eq(&kept));
    });
}

/// Files of the run log: what can be read can be written, and what was written says the same
/// whenever it is read again.
pub(super) fn runlog(bytes: &[u8]) {
    if let Ok(summary) = RecordSummary::read(bytes.to_vec()) {
        let written = summary.to_yaml();
        let again = RecordSummary::read(written.clone().into_bytes()).expect("it was written");
        assert_eq!(again.to_yaml(), written);
        assert!(again.inputs().eq(summary.inputs()));
    }
    if let Ok(run) = RunFile::read(bytes.to_vec()) {
        let written = RunFile::read(run.to_text().into_bytes()).expect("it was written");
        let again = RunFile::read(written.to_text().into_bytes()).expect("it was written");
        assert_eq!(again.messages, written.messages);
    }
}

/// A session for `log record`, in every format.
pub(super) fn session(bytes: &[u8]) {
    for format in SessionFormat::all() {
        if let Ok(session) = read_session(bytes, format) {
            let run = session.with_question("Hi").into_run();
            assert!(!run.asked.is_empty());
        }
    }
    let _ = SessionFormat::guess(bytes);
}

/// What a judge or a script says: marks, or a reason why there are none.
pub(super) fn reply(bytes: &[u8]) {
    for failure in [None, Some("exit status 1")] {
        let end = ScriptEnd { stdout: bytes, stderr: "", failure };
        if let Err(fault) = read_script(end) {
            assert!(!fault.message.is_empty());
        }
    }
    if let Err(reason) = read_score_reply(&String::from_utf8_lossy(bytes)) {
        assert!(!reason.is_empty());
    }
}

/// A targets file, with the default target and its judge.
pub(super) fn targets(bytes: &[u8]) {
    let (file, root) = (Utf8Path::new("/p/.evalrig/targets.yaml"), Utf8Path::new("/p"));
    let files = MemoryFiles::new().with("/p/.git/HEAD", "x").with(file.as_str(), bytes);
    let environment = Variables::default().with("SECRET", "hidden-value");
    let world = World { files: &files, environment: &environment, working_directory: root };
    let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
    match read_targets(world, &mut sources, &mut out, file, root, Reach::Anywhere) {
        Some(targets) => {
            // A target with an error has a name and nothing else.
            let sound = targets.names().filter(|name| targets.get(name).is_some());
            assert!(sound.count() <= targets.names().count());
            let _ = targets.secrets_with(&|_| Some("hidden-value".to_owned()));
        }
        None => assert!(!out.is_empty(), "gave up without a reason"),
    }
}
