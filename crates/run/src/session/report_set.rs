//! The reports of a run, each with its output.

use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::diagnostic::did_you_mean;
use evalrig_core::secrets::Secrets;

use crate::disk::{Access, Durability, NamedOutput, create_directory_of, is_plain_file};
use crate::report::{REPORTS, Report, ReportOptions, ReportedRun, report_named};
use crate::results::{ExitRule, Row, header_of_file};

use super::error::SessionError;
use super::spec::{LoadOptions, ReportSpec};
use super::suite_text::suite_text;

#[derive(Debug)]
pub(super) struct ReportSet {
    open: Vec<OpenReport>,
    /// Whether the report on standard output shows the gate.
    pub(super) shows_gate: bool,
    /// Whether a report shows earlier runs from the run log.
    pub(super) shows_history: bool,
    /// Paths below it are shown relative to it.
    working_directory: Utf8PathBuf,
}

#[derive(Debug)]
struct OpenReport {
    report: Box<dyn Report>,
    output: ReportOutput,
    /// The first error; nothing is written after it.
    error: Option<io::Error>,
}

#[derive(Debug)]
enum ReportOutput {
    Stdout(BufWriter<io::Stdout>),
    File {
        path: Utf8PathBuf,
        /// In its place when complete.
        file: BufWriter<NamedOutput>,
    },
    #[cfg(feature = "view")]
    Memory(SharedBytes),
}

/// Bytes that can be taken when the report is complete.
#[cfg(feature = "view")]
#[derive(Debug, Clone, Default)]
pub(super) struct SharedBytes(Arc<std::sync::Mutex<Vec<u8>>>);

#[cfg(feature = "view")]
impl SharedBytes {
    pub(super) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut crate::lock::locked(&self.0))
    }
}

#[cfg(feature = "view")]
impl Write for SharedBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        crate::lock::locked(&self.0).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl ReportOutput {
    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Stdout(out) => out,
            Self::File { file, .. } => file,
            #[cfg(feature = "view")]
            Self::Memory(bytes) => bytes,
        }
    }

    fn path(&self) -> Option<&Utf8Path> {
        match self {
            Self::Stdout(_) => None,
            #[cfg(feature = "view")]
            Self::Memory(_) => None,
            Self::File { path, .. } => Some(path),
        }
    }
}

impl ReportSet {
    /// No report: only the end is of interest.
    #[cfg(feature = "view")]
    pub(super) fn none() -> Self {
        Self {
            open: Vec::new(),
            shows_gate: false,
            shows_history: true,
            working_directory: Utf8PathBuf::new(),
        }
    }

    /// One report that is kept in memory.
    #[cfg(feature = "view")]
    pub(super) fn in_memory(report: Box<dyn Report>, bytes: SharedBytes) -> Self {
        let output = ReportOutput::Memory(bytes);
        Self { open: vec![OpenReport { report, output, error: None }], ..Self::none() }
    }

    /// Opens every report before anything is run.
    pub(super) fn open(
        loading: &LoadOptions,
        spec: &ReportSpec,
        rule: ExitRule,
        roots: Vec<Utf8PathBuf>,
        secrets: Arc<Secrets>,
    ) -> Result<Self, SessionError> {
        let setting = ReportOptions {
            style: spec.style,
            detail: spec.detail,
            text: suite_text(&loading.working_directory, roots).redacted(secrets),
            exit_rule: rule,
        };
        let mut set = Self {
            open: Vec::with_capacity(spec.list.len()),
            shows_gate: false,
            shows_history: false,
            working_directory: loading.working_directory.clone(),
        };
        let mut printed = 0;
        for one in &spec.list {
            let (name, path) = match one.split_once('=') {
                Some((name, path)) => (name, Some(loading.working_directory.join(path))),
                None => (one.as_str(), None),
            };
            let Some(kind) = report_named(name) else {
                return Err(SessionError::argument("--report", unknown(name)));
            };
            printed += usize::from(path.is_none());
            set.shows_history |= kind.shows_history;
            set.shows_gate |= path.is_none() && kind.shows_gate;
            if printed > 1 {
                let reason = "only one report can go to standard output; give the others a path";
                return Err(SessionError::argument("--report", reason));
            }
            set.open.push(OpenReport {
                report: (kind.make)(&setting),
                output: open_output(path.as_deref())?,
                error: None,
            });
        }
        Ok(set)
    }

    pub(super) fn row(&mut self, row: &Row) {
        for one in &mut self.open {
            one.write(|report, out| report.row(row, out));
        }
    }

    /// Completes every report; returns what could not be written. Files come first, so that the report
    /// on standard output names those that were written.
    pub(super) fn finish(self, end: &ReportedRun) -> Vec<String> {
        let (mut errors, mut end) = (Vec::new(), end.clone());
        let (files, printed): (Vec<_>, Vec<_>) =
            self.open.into_iter().partition(|one| one.output.path().is_some());
        for mut one in files.into_iter().chain(printed) {
            one.write(|report, out| report.finish(&end, out));
            let path = one.output.path().map(Utf8Path::to_owned);
            match one.close() {
                Ok(()) => {
                    let file = path.filter(|path| is_plain_file(path));
                    end.reports.extend(file.map(|path| shown(&path, &self.working_directory)));
                }
                Err(error) => errors.push(error),
            }
        }
        errors
    }
}

impl OpenReport {
    fn write(&mut self, write: impl FnOnce(&mut dyn Report, &mut dyn Write) -> io::Result<()>) {
        if self.error.is_none() {
            self.error = write(&mut *self.report, self.output.writer()).err();
        }
    }

    fn close(mut self) -> Result<(), String> {
        let flushed = match self.error.take() {
            Some(error) => Err(error),
            None => self.output.writer().flush(),
        };
        match (self.output, flushed) {
            (ReportOutput::Stdout(_), Err(error)) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(format!("cannot write to standard output: {error}"))
            }
            (ReportOutput::Stdout(_), _) => Ok(()),
            #[cfg(feature = "view")]
            (ReportOutput::Memory(_), _) => Ok(()),
            (ReportOutput::File { path, file }, flushed) => {
                // The buffer is empty, or its contents are lost.
                let (output, _) = file.into_parts();
                let placed = flushed.and_then(|()| output.finish(Durability::Contents));
                placed.map_err(|error| format!("cannot write `{path}`: {error}"))
            }
        }
    }
}

/// A report must not take the place of results: neither of a stored run, nor of one that is read or
/// written at the same time.
pub(super) fn check_report_paths(
    loading: &LoadOptions,
    spec: &ReportSpec,
    used: &[Utf8PathBuf],
) -> Result<(), SessionError> {
    for (name, path) in spec.list.iter().filter_map(|one| one.split_once('=')) {
        let path = loading.working_directory.join(path);
        let real = |path: &Utf8Path| path.canonicalize_utf8().ok();
        let is_used = used
            .iter()
            .any(|file| *file == path || real(file).is_some_and(|file| Some(file) == real(&path)));
        let is_results = is_plain_file(&path) && header_of_file(&path).is_some();
        if is_results || (is_used && !is_device(&path)) {
            let path = loading.shown(&path);
            let reason = format!("`{path}` is a results file; write the {name} report to another");
            return Err(SessionError::argument("--report", reason));
        }
    }
    Ok(())
}

/// A pipe or a device can be written to more than once.
fn is_device(path: &Utf8Path) -> bool {
    path.exists() && !is_plain_file(path)
}

fn open_output(path: Option<&Utf8Path>) -> Result<ReportOutput, SessionError> {
    let Some(path) = path else {
        return Ok(ReportOutput::Stdout(BufWriter::new(io::stdout())));
    };
    let made = create_directory_of(path, Access::Shared);
    match made.and_then(|()| NamedOutput::open(path, Access::Private)) {
        Ok(output) => {
            Ok(ReportOutput::File { path: path.to_owned(), file: BufWriter::new(output) })
        }
        Err(error) => {
            let reason = format!("cannot write `{path}`: {error}");
            Err(SessionError::argument("--report", reason))
        }
    }
}

fn shown(path: &Utf8Path, working_directory: &Utf8Path) -> Utf8PathBuf {
    path.strip_prefix(working_directory).unwrap_or(path).to_owned()
}

fn unknown(name: &str) -> String {
    let names = REPORTS.iter().map(|report| report.name);
    match did_you_mean(name, names.clone()) {
        Some(near) => format!("unknown report `{name}`; did you mean `{near}`?"),
        None => {
            let names: Vec<&str> = names.collect();
            format!("unknown report `{name}`; expected {}", names.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(list: &[&str]) -> Result<ReportSet, SessionError> {
        let folder = tempfile::tempdir().unwrap();
        let loading = LoadOptions::new(Utf8Path::from_path(folder.path()).unwrap());
        let spec = ReportSpec {
            list: list.iter().map(|one| (*one).to_owned()).collect(),
            ..ReportSpec::default()
        };
        ReportSet::open(&loading, &spec, ExitRule::default(), Vec::new(), Arc::default())
    }

    #[test]
    fn only_one_report_goes_to_standard_output() {
        assert!(open(&["json", "junit=a/junit.xml"]).is_ok());
        let error = open(&["json", "terminal"]).unwrap_err();
        assert!(error.to_string().starts_with("--report: only one report"));
    }

    #[test]
    fn an_unknown_report_suggests_a_known_one() {
        let error = open(&["juni"]).unwrap_err();
        assert_eq!(error.to_string(), "--report: unknown report `juni`; did you mean `junit`?");
    }

    #[test]
    fn only_a_report_on_standard_output_shows_the_gate() {
        let shows_gate = |list: &[&str]| open(list).unwrap().shows_gate;
        assert!(shows_gate(&["terminal"]));
        assert!(!shows_gate(&["json"]));
        assert!(!shows_gate(&["markdown=a.md"]));
    }
}
