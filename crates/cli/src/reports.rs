//! Reports that were asked for, each with the place it goes to.

use std::collections::HashMap;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::sync::{Mutex, PoisonError};

use camino::Utf8PathBuf;
use evalrig_core::diagnostic::did_you_mean;
use evalrig_core::source::LineIndex;
use evalrig_run::disk::{Durability, FileDraft};
use evalrig_run::record::Row;
use evalrig_run::report::{REPORTS, Report, RunEnd, Setting, SuiteText, report_named};

use crate::context::{Context, complain};
use crate::exit::Exit;

/// The report of those who ask for none.
const DEFAULT: &str = "terminal";

/// Who hears what a run came to, besides the program that started it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// Whoever reads standard output.
    Somebody,
    /// Everything goes to files, or is for machines.
    Nobody,
}

#[derive(Debug)]
pub struct Reports {
    open: Vec<Open>,
    pub told: Told,
    /// Whether somebody wants to see what the run log remembers.
    pub want_history: bool,
}

#[derive(Debug)]
struct Open {
    report: Box<dyn Report>,
    out: Out,
    /// The first thing that went wrong; nothing is written after it.
    fault: Option<io::Error>,
}

#[derive(Debug)]
enum Out {
    Stdout(BufWriter<io::Stdout>),
    /// Placed when it is complete.
    File(BufWriter<FileDraft>),
}

impl Out {
    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Stdout(out) => out,
            Self::File(file) => file,
        }
    }
}

impl Reports {
    /// `NAME` or `NAME=PATH` each. Everything is opened before anything is run.
    pub fn open(context: &Context, list: &[String], setting: &Setting) -> Result<Self, Exit> {
        let default = [DEFAULT.to_owned()];
        let list = if list.is_empty() { &default } else { list };
        let mut open = Vec::with_capacity(list.len());
        let mut printed = 0;
        let (mut want_history, mut told) = (false, Told::Nobody);
        for one in list {
            let (name, path) = match one.split_once('=') {
                Some((name, path)) => (name, Some(path)),
                None => (one.as_str(), None),
            };
            let Some(kind) = report_named(name) else {
                complain(&unknown(name));
                return Err(Exit::CouldNotStart);
            };
            printed += usize::from(path.is_none());
            want_history |= kind.shows_history;
            if path.is_none() && kind.shows_gate {
                told = Told::Somebody;
            }
            if printed > 1 {
                complain("two reports cannot both go to standard output: give one a path");
                return Err(Exit::CouldNotStart);
            }
            open.push(Open {
                report: (kind.make)(setting),
                out: open_out(context, path)?,
                fault: None,
            });
        }
        Ok(Self {
            open,
            told,
            want_history,
        })
    }

    pub fn row(&mut self, row: &Row) {
        for one in &mut self.open {
            one.write(|report, out| report.row(row, out));
        }
    }

    /// Completes every report. Whether all of them were written.
    pub fn finish(mut self, end: &RunEnd) -> bool {
        let mut is_well = true;
        for mut one in self.open.drain(..) {
            one.write(|report, out| report.finish(end, out));
            is_well &= one.close();
        }
        is_well
    }
}

impl Open {
    fn write(&mut self, write: impl FnOnce(&mut dyn Report, &mut dyn Write) -> io::Result<()>) {
        if self.fault.is_none() {
            self.fault = write(&mut *self.report, self.out.writer()).err();
        }
    }

    fn close(mut self) -> bool {
        let flushed = match self.fault.take() {
            Some(error) => Err(error),
            None => self.out.writer().flush(),
        };
        match (self.out, flushed) {
            (Out::Stdout(_), Err(error)) if error.kind() != io::ErrorKind::BrokenPipe => {
                complain(&format!("cannot write to standard output: {error}"));
                false
            }
            (Out::Stdout(_), _) => true,
            (Out::File(file), flushed) => {
                // The buffer is empty or its contents are lost.
                let (draft, _) = file.into_parts();
                let path = draft.path().to_owned();
                let placed = flushed.and_then(|()| draft.place(Durability::Unsynced));
                if let Err(error) = &placed {
                    complain(&format!("cannot write `{path}`: {error}"));
                }
                placed.is_ok()
            }
        }
    }
}

fn open_out(context: &Context, path: Option<&str>) -> Result<Out, Exit> {
    let Some(path) = path else {
        return Ok(Out::Stdout(BufWriter::new(io::stdout())));
    };
    let path = context.absolute(path);
    let made = path.parent().map_or(Ok(()), fs::create_dir_all);
    match made.and_then(|()| FileDraft::create(&path)) {
        Ok(draft) => Ok(Out::File(BufWriter::new(draft))),
        Err(error) => {
            complain(&format!("--report: cannot write `{path}`: {error}"));
            Err(Exit::CouldNotStart)
        }
    }
}

fn unknown(name: &str) -> String {
    let names = REPORTS.iter().map(|report| report.name);
    match did_you_mean(name, names.clone()) {
        Some(near) => format!("--report: there is no `{name}`; did you mean `{near}`?"),
        None => {
            let names: Vec<&str> = names.collect();
            format!(
                "--report: there is no `{name}`; it takes {}",
                names.join(", ")
            )
        }
    }
}

/// Lines of suites by their path from a repository root, each file read once.
pub fn suite_text(context: &Context, roots: Vec<Utf8PathBuf>) -> SuiteText {
    let (here, places) = (context.working_directory.clone(), roots.clone());
    let shown = move |file: &str| {
        let mut paths = places.iter().map(|root| root.join(file));
        match paths.find(|path| path.is_file()) {
            Some(path) => path.strip_prefix(&here).unwrap_or(&path).to_string(),
            None => file.to_owned(),
        }
    };
    let known: Mutex<HashMap<String, Option<Text>>> = Mutex::default();
    SuiteText::new(move |file, line| {
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.contains_key(file) {
            let mut paths = roots.iter().map(|root| root.join(file));
            let text = paths.find_map(|path| fs::read_to_string(path).ok());
            known.insert(file.to_owned(), text.map(Text::new));
        }
        known.get(file)?.as_ref()?.line(line)
    })
    .with_paths(shown)
}

/// A file whose lines are asked for. Suites may have a hundred thousand, of which few are shown.
struct Text {
    whole: String,
    lines: LineIndex,
}

impl Text {
    fn new(whole: String) -> Self {
        let lines = LineIndex::new(&whole);
        Self { whole, lines }
    }

    /// From 1, without its line break.
    fn line(&self, line: u32) -> Option<String> {
        if line == 0 || line as usize > self.lines.line_count() {
            return None;
        }
        let range = self.lines.line_range(&self.whole, line);
        // Behind the last line break there is no line.
        if range.start == self.whole.len() {
            return None;
        }
        let text = &self.whole[range];
        Some(text.strip_suffix('\r').unwrap_or(text).to_owned())
    }
}
