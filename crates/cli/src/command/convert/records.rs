//! `convert` from the `.co/evals` store: turns records into tests. An existing suite gets the tests
//! that it lacks; its other tests do not change.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::diagnostic::Diagnostic;
use evalrig_core::export::{LoggedTest, logged_suite, test_ids, with_logged_tests};
use evalrig_core::read::Findings;
use evalrig_core::repair::Overlay;
use evalrig_core::secrets::Secrets;
use evalrig_core::source::{EntryKind, Files, Reach, Span};
use evalrig_core::syntax::lone_tree;
use evalrig_run::disk::{Disk, read_whole};
use evalrig_run::runlog::{IMPORT_NEEDS_CRITERIA, Record, RecordTest, Store};
use evalrig_run::session::known_secrets;

use crate::args::Convert;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::{print_message, print_text};

use super::{Output, Reading, Replaces, write};

/// What the command line names.
pub(super) enum Source {
    Store(Store),
    Record(Store, String),
}

/// `None` if the path is neither a directory nor a record.
pub(super) fn source(path: &Utf8Path) -> Option<Source> {
    match Disk.kind(path)? {
        EntryKind::Directory => Some(Source::Store(Store::open(path))),
        EntryKind::File if is_record(path) => {
            let store = Store::open(path.parent()?);
            Some(Source::Record(store, path.file_stem()?.to_owned()))
        }
        _ => None,
    }
}

/// A suite or a record, which are no larger than this.
fn read_text(path: &Utf8Path) -> io::Result<String> {
    const LIMIT: u64 = 256 * 1024 * 1024;
    let bytes = read_whole(path, Reach::Anywhere, LIMIT)?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

/// Recognised by its path, or by its `turns`.
fn is_record(path: &Utf8Path) -> bool {
    if path.extension() != Some("yaml") {
        return false;
    }
    let parts: Vec<&str> = path.iter().collect();
    if parts.windows(2).any(|two| two == [".co", "evals"]) {
        return true;
    }
    let text = read_text(path).ok();
    let tree = text.and_then(|text| lone_tree(text).ok());
    tree.is_some_and(|tree| {
        let has = |key| tree.root().get(key).is_some();
        has("turns") && !has("tests")
    })
}

pub(super) fn run(
    context: &Context,
    args: &Convert,
    source: &Source,
) -> Result<Exit, CommandError> {
    let (records, name) = read(source)?;
    let tests: Vec<(&Record, RecordTest)> = records
        .iter()
        .filter_map(|record| Some((record, RecordTest::of(record)?)))
        .filter(|(record, test)| has_input(context, record, test))
        .collect();
    if tests.is_empty() {
        return Err(CommandError::NothingSelected(format!(
            "`{}` contains no record with a turn",
            args.file
        )));
    }
    let secrets = known_secrets(&context.load_options(&args.loading), &context.working_directory);
    let logged: Vec<LoggedTest> =
        tests.iter().map(|(_, test)| redacted(logged(test), &secrets)).collect();
    let made = Made::of(context, args, &name, &logged)?;
    made.check(context, args)?;
    if !context.global.quiet {
        warn_of_missing_criteria(context, &tests, &made.known);
    }
    let is_new = |test: &&LoggedTest| !made.known.contains(&test.id);
    made.write(context, logged.iter().filter(is_new).count())
}

/// A record with a blank user message cannot become a test; it is skipped with a warning.
fn has_input(context: &Context, record: &Record, test: &RecordTest) -> bool {
    let has_input = test.turns.iter().all(|(said, _)| !said.trim().is_empty());
    if !has_input {
        let file = context.shown(&record.file);
        print_message(&format!("`{file}` is skipped: its input is blank"));
    }
    has_input
}

fn read(source: &Source) -> Result<(Vec<Record>, String), CommandError> {
    match source {
        Source::Record(store, name) => {
            let record = store.read(name)?;
            let name = legal_name(&record.name);
            Ok((vec![record], name))
        }
        Source::Store(store) => {
            let listing = store.list()?;
            for fault in &listing.unreadable {
                print_message(&fault.to_string());
            }
            Ok((listing.records, "recorded-runs".to_owned()))
        }
    }
}

fn legal_name(slug: &str) -> String {
    let dashed: String =
        slug.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let legal = dashed.trim_start_matches(|c: char| c == '-' || c.is_ascii_digit());
    match legal.trim_end_matches('-') {
        "" => "recorded-run".to_owned(),
        legal => legal.to_owned(),
    }
}

/// A record may have been written by another program.
fn redacted(mut test: LoggedTest, secrets: &Secrets) -> LoggedTest {
    let (asked, answered): (Vec<_>, Vec<_>) =
        test.turns.iter_mut().map(|(asked, answer)| (asked, answer.as_mut())).unzip();
    let answered = answered.into_iter().flatten();
    let texts = asked.into_iter().chain(answered).chain(&mut test.criteria);
    for text in texts.chain([&mut test.id]) {
        secrets.redact_in_place(text);
    }
    test
}

fn logged(test: &RecordTest) -> LoggedTest {
    LoggedTest { id: test.id.clone(), turns: test.turns.clone(), criteria: test.expected.clone() }
}

/// The suite that will be written.
struct Made {
    place: Utf8PathBuf,
    /// The path as typed; `None` is standard output.
    shown: Option<String>,
    text: String,
    /// Tests are added to an existing suite.
    is_added: bool,
    /// The ids of its tests.
    known: Vec<String>,
    replaces: Replaces,
}

impl Made {
    fn of(
        context: &Context,
        args: &Convert,
        name: &str,
        tests: &[LoggedTest],
    ) -> Result<Self, CommandError> {
        let shown = args.output.clone().filter(|shown| shown != "-");
        let there = shown.as_ref().filter(|_| !args.force);
        let there = there.map(|shown| context.absolute(shown));
        let there = there.filter(|path| Disk.kind(path) == Some(EntryKind::File));
        if let (Some(place), Some(shown)) = (there, &shown) {
            return Self::added(place, shown, tests);
        }
        let output = Output::new(context, args).map_err(CommandError::CouldNotStart)?;
        Ok(Self {
            place: output.place(context),
            shown,
            text: logged_suite(name, tests),
            is_added: false,
            known: Vec::new(),
            replaces: if args.force { Replaces::Anything } else { Replaces::Nothing },
        })
    }

    fn added(place: Utf8PathBuf, shown: &str, tests: &[LoggedTest]) -> Result<Self, CommandError> {
        let there = read_text(&place).map_err(|error| {
            CommandError::CouldNotStart(format!("cannot read `{shown}`: {error}"))
        })?;
        let text = with_logged_tests(&there, tests).map_err(|reason| {
            CommandError::CouldNotStart(format!("cannot add tests to `{shown}`: {reason}"))
        })?;
        Ok(Self {
            place,
            shown: Some(shown.to_owned()),
            is_added: true,
            known: test_ids(&there),
            text: text.unwrap_or(there),
            replaces: Replaces::Anything,
        })
    }

    /// Reads the suite before it is written.
    fn check(&self, context: &Context, args: &Convert) -> Result<(), CommandError> {
        let mut files = Overlay::new(&Disk);
        files.insert(self.place.clone(), self.text.clone().into_bytes());
        let reading = Reading::of(context, args, &self.place, &files);
        if reading.sound().is_some() {
            return Ok(());
        }
        reading.show(context);
        Err(CommandError::CouldNotStart(
            "the converted suite is invalid; nothing was written".to_owned(),
        ))
    }

    fn write(&self, context: &Context, count: usize) -> Result<Exit, CommandError> {
        let Some(shown) = &self.shown else {
            print_text(&self.text)?;
            return Ok(Exit::Success);
        };
        let before = read_text(&self.place).ok();
        if self.is_added && before.as_deref() == Some(self.text.as_str()) {
            print_text(&format!("{shown} already has all of these tests\n"))?;
            return Ok(Exit::Success);
        }
        write(&self.place, self.text.as_bytes(), self.replaces)
            .map_err(|error| CommandError::cannot_write(shown, &error))?;
        if !context.global.quiet {
            let noun = if count == 1 { "record" } else { "records" };
            let verb = if self.is_added { "added to" } else { "wrote" };
            print_text(&format!("{verb} {shown} ({count} {noun})\n"))?;
        }
        Ok(Exit::Success)
    }
}

/// Warns of records without an expected answer, which give tests without criteria.
fn warn_of_missing_criteria(context: &Context, tests: &[(&Record, RecordTest)], known: &[String]) {
    let mut findings = Findings::new();
    for (record, test) in tests {
        // A test that the suite already has keeps its own criteria.
        if test.expected.is_some() || known.contains(&test.id) {
            continue;
        }
        let Ok(text) = read_text(&record.file) else {
            continue;
        };
        let first_line = text.find('\n').unwrap_or(text.len());
        let source = findings.parts_mut().0.add_file(record.file.clone(), text, 0);
        let span = Span::new(source, 0, u32::try_from(first_line).unwrap_or(0));
        let message = format!("record `{}` has no expected answer", test.id);
        let help = format!("evalrig log expect {} \"what a good answer does\"", test.id);
        findings.report(Diagnostic::new(&IMPORT_NEEDS_CRITERIA, span, message).help(help));
    }
    let reading = Reading { suite: None, findings };
    reading.show(context);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suite_names_are_legal() {
        for (slug, name) in [
            ("say_hello_to_alice", "say-hello-to-alice"),
            ("2_eggs", "eggs"),
            ("what_is_25_x_4", "what-is-25-x-4"),
            ("写一个爬虫", "recorded-run"),
        ] {
            assert_eq!(legal_name(slug), name);
        }
    }
}
