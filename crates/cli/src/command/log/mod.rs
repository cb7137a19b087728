//! `log`: the `.co/evals` store, one file per subcommand.

mod diff;
mod list;
mod messages;
mod prune;
mod record;
mod revise;
mod show;
mod verify;

use camino::Utf8Path;
use evalrig_core::diagnostic::did_you_mean;
use evalrig_core::model::{JsonStyle, Value};
use evalrig_core::read::repository_root;
use evalrig_core::secrets::Secrets;
use evalrig_run::disk::Disk;
use evalrig_run::runlog::{Record, Store};
use evalrig_run::session::{LoadOptions, known_secrets};

use crate::args::{Log, LogCommand, TextOrJson};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use evalrig_run::text;
use evalrig_run::text::numbers::counted_noun;

pub fn run(context: &Context, args: &Log) -> Result<Exit, CommandError> {
    let command = args.command.as_ref().unwrap_or(&LogCommand::List);
    if args.store.is_none() && command.writes() {
        let root = repository_root(&Disk, &context.working_directory);
        Store::of_root(&root).check_is_inside(&root)?;
    }
    let loading = LoadOptions::new(context.working_directory.clone());
    let log = LogContext {
        context,
        store: store(context, args.store.as_deref()),
        format: args.format,
        secrets: known_secrets(&loading, &context.working_directory),
    };
    match command {
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

/// The named store, or that of the repository around the working directory.
pub fn store(context: &Context, named: Option<&str>) -> Store {
    match named {
        Some(directory) => Store::open(context.absolute(directory)),
        None => Store::of_root(&repository_root(&Disk, &context.working_directory)),
    }
}

/// The input of every subcommand.
struct LogContext<'a> {
    context: &'a Context,
    store: Store,
    format: TextOrJson,
    /// A store may have been written by another program, or before a value was secret.
    secrets: Secrets,
}

impl LogContext<'_> {
    fn is_json(&self) -> bool {
        self.format == TextOrJson::Json
    }

    fn shown(&self, path: &Utf8Path) -> String {
        text::shown_path(path, &self.context.working_directory)
    }

    fn redacted(&self, text: &str) -> String {
        self.secrets.redact(text)
    }

    fn json(&self, value: impl Into<Value>) -> String {
        let mut value = value.into();
        self.secrets.redact_document(&mut value);
        value.to_json(JsonStyle::Pretty) + "\n"
    }

    /// The record whose name was typed, or the only one whose name begins like that.
    fn record_name(&self, typed: &str) -> Result<String, CommandError> {
        let typed = typed.strip_suffix(".yaml").unwrap_or(typed);
        let names = self.store.names().unwrap_or_default();
        let begins: Vec<&str> =
            names.iter().map(String::as_str).filter(|name| name.starts_with(typed)).collect();
        let message = match begins.as_slice() {
            _ if names.iter().any(|name| name == typed) || typed.is_empty() => {
                return Ok(typed.to_owned());
            }
            [only] => return Ok((*only).to_owned()),
            [] => match near_name(typed, &names) {
                Some(near) => format!("no record is named `{typed}`; did you mean `{near}`?"),
                // The store explains what is wrong.
                None => return Ok(typed.to_owned()),
            },
            several => {
                let shown: Vec<&str> = several.iter().copied().take(5).collect();
                let more = if several.len() > shown.len() { ", …" } else { "" };
                let count = several.len();
                format!("`{typed}` is the beginning of {count} records: {}{more}", shown.join(", "))
            }
        };
        Err(CommandError::CouldNotStart(self.redacted(&message)))
    }

    /// A missing store is an error, not an empty store: the path is probably wrong.
    fn check(&self) -> Result<(), CommandError> {
        if self.store.directory().is_dir() {
            Ok(())
        } else {
            let directory = self.shown(self.store.directory());
            Err(CommandError::CouldNotStart(format!(
                "no store found at `{directory}`; use `--store DIR`"
            )))
        }
    }
}

/// The name that was probably meant: a misspelling, or the only one with that part.
fn near_name<'n>(typed: &str, names: &'n [String]) -> Option<&'n str> {
    let near = did_you_mean(typed, names.iter().map(String::as_str));
    let mut with_part = names.iter().filter(|name| name.contains(typed));
    let only = with_part.next().filter(|_| with_part.next().is_none());
    near.or(only.map(String::as_str))
}

fn runs(log: &LogContext<'_>, record: &Record) -> u64 {
    // If the directory cannot be listed, the summary may still have the numbers.
    let counted = log.store.run_count(record);
    counted.unwrap_or_else(|_| record.summary.highest_run())
}

/// The text as one line of at most `longest` characters.
fn brief(text: &str, longest: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
