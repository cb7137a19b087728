//! `log`: the `.co/evals` store, one file for each thing that can be done with it.

pub mod args;
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

use crate::args::TextOrJson;
use crate::context::{Context, complain, print};
use crate::exit::Exit;
use evalrig_run::text;
use evalrig_run::text::numbers::counted_noun;

use args::{Log, LogCommand};

pub fn run(context: &Context, log: &Log) -> Result<Exit, Exit> {
    if log.store.is_none() && log.command.writes() {
        let root = repository_root(&Disk, &context.working_directory.join("any"));
        Store::of_root(&root).stays_in(&root).map_err(refuse)?;
    }
    let desk = Desk {
        context,
        store: store(context, log.store.as_deref()),
        format: log.format,
    };
    match &log.command {
        LogCommand::List => list::run(&desk),
        LogCommand::Show(args) => show::run(&desk, args),
        LogCommand::Diff(args) => diff::run(&desk, args),
        LogCommand::Messages(args) => messages::run(&desk, args),
        LogCommand::Expect(args) => revise::expect(&desk, args),
        LogCommand::Evaluate(args) => revise::evaluate(&desk, args),
        LogCommand::Record(args) => record::run(&desk, args),
        LogCommand::Prune(args) => prune::run(&desk, args),
        LogCommand::Verify(args) => verify::run(&desk, args),
    }
}

/// The store that was named, else that of the repository around the working directory.
pub fn store(context: &Context, named: Option<&str>) -> Store {
    match named {
        Some(directory) => Store::open(context.absolute(directory)),
        None => {
            let here = context.working_directory.join("any");
            Store::of_root(&repository_root(&Disk, &here))
        }
    }
}

/// What every subcommand works with.
struct Desk<'a> {
    context: &'a Context,
    store: Store,
    format: TextOrJson,
}

impl Desk<'_> {
    fn is_json(&self) -> bool {
        self.format == TextOrJson::Json
    }

    fn shown(&self, path: &Utf8Path) -> String {
        text::shown_path(path, &self.context.working_directory)
    }

    /// A store that is not there is no empty store: somebody looks in the wrong place.
    fn check(&self) -> Result<(), Exit> {
        if self.store.directory().is_dir() {
            Ok(())
        } else {
            let directory = self.shown(self.store.directory());
            complain(&format!("there is no store at `{directory}`"));
            Err(Exit::CouldNotStart)
        }
    }
}

fn refuse(error: StoreError) -> Exit {
    complain(&error.to_string());
    Exit::CouldNotStart
}

fn json(value: impl Into<Value>) -> String {
    let text = value.into().to_json(JsonStyle::Pretty) + "\n";
    text::json(&text).into_owned()
}

/// For people: what agents said must not steer their terminal.
fn tell(text: &str) -> Result<(), Exit> {
    print(&text::paragraph(text))
}

fn runs(desk: &Desk<'_>, record: &Record) -> u64 {
    // A directory that cannot be listed only hides numbers that the summary may have too.
    let counted = desk.store.run_count(record);
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
