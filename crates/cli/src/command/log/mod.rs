//! `log`: the `.co/evals` store, one file for each thing that can be done with it.

mod diff;
mod list;
mod messages;
mod prune;
mod record;
mod revise;
mod show;
mod verify;

use camino::Utf8Path;
use evalrig_core::model::{JsonStyle, Value};
use evalrig_core::read::repository_root;
use evalrig_run::disk::Disk;
use evalrig_run::runlog::{Record, Store, StoreError};

use crate::args::{Log, LogCommand, TextOrJson};
use crate::context::{Context, print_text, report_error};
use crate::exit::Exit;
use evalrig_run::text;
use evalrig_run::text::numbers::counted_noun;

pub fn run(context: &Context, args: &Log) -> Result<Exit, Exit> {
    if args.store.is_none() && args.command.writes() {
        let root = repository_root(&Disk, &context.working_directory);
        Store::of_root(&root)
            .check_is_inside(&root)
            .map_err(refuse)?;
    }
    let log = LogContext {
        context,
        store: store(context, args.store.as_deref()),
        format: args.format,
    };
    match &args.command {
        LogCommand::List => list::run(&log),
        LogCommand::Show(args) => show::run(&log, args),
        LogCommand::Diff(args) => diff::run(&log, args),
        LogCommand::Messages(args) => messages::run(&log, args),
        LogCommand::Expect(args) => revise::expect(&log, args),
        LogCommand::Evaluate(args) => revise::evaluate(&log, args),
        LogCommand::Record(args) => record::run(&log, args),
        LogCommand::Prune(args) => prune::run(&log, args),
        LogCommand::Verify(args) => verify::run(&log, args),
    }
}

/// The store that was named, else that of the repository around the working directory.
pub fn store(context: &Context, named: Option<&str>) -> Store {
    match named {
        Some(directory) => Store::open(context.absolute(directory)),
        None => Store::of_root(&repository_root(&Disk, &context.working_directory)),
    }
}

/// What every subcommand works with.
struct LogContext<'a> {
    context: &'a Context,
    store: Store,
    format: TextOrJson,
}

impl LogContext<'_> {
    fn is_json(&self) -> bool {
        self.format == TextOrJson::Json
    }

    fn shown(&self, path: &Utf8Path) -> String {
        text::shown_path(path, &self.context.working_directory)
    }

    /// A missing store is an error, not an empty store: the path is probably wrong.
    fn check(&self) -> Result<(), Exit> {
        if self.store.directory().is_dir() {
            Ok(())
        } else {
            let directory = self.shown(self.store.directory());
            report_error(&format!("there is no store at `{directory}`"));
            Err(Exit::CouldNotStart)
        }
    }
}

fn refuse(error: StoreError) -> Exit {
    report_error(&error.to_string());
    Exit::CouldNotStart
}

fn json(value: impl Into<Value>) -> String {
    let text = value.into().to_json(JsonStyle::Pretty) + "\n";
    text::json(&text).into_owned()
}

/// Text of agents must not control the terminal.
fn print_paragraph(text: &str) -> Result<(), Exit> {
    print_text(&text::paragraph(text))
}

fn runs(log: &LogContext<'_>, record: &Record) -> u64 {
    // A directory that cannot be listed only hides numbers that the summary may have too.
    let counted = log.store.run_count(record);
    counted.unwrap_or_else(|_| record.summary.highest_run())
}

/// One line of at most so many characters.
fn brief(text: &str, longest: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
