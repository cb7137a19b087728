//! One file per command, and the call of the one that was typed.

mod compare;
mod completions;
mod config;
mod convert;
mod explain;
mod export;
mod grade;
mod init;
mod judge;
mod list;
mod log;
#[cfg(feature = "lsp")]
mod lsp;
mod man;
#[cfg(feature = "mcp")]
mod mcp;
mod mutate;
mod notice;
#[cfg(feature = "queue")]
mod queue;
mod report;
mod run;
mod schema;
mod show;
mod stats;
mod suite;
mod transpile;
mod validate;
#[cfg(feature = "view")]
mod view;
#[cfg(feature = "queue")]
mod worker;

use evalrig_core::secrets::Secrets;
use evalrig_run::session::SessionError;

use crate::args::{Command, ParsedArguments};
use crate::config::ConfigRefusal;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::print_message;

use notice::show_refusal;
use suite::show;

pub fn run(parsed: ParsedArguments) -> Exit {
    let cli = parsed.cli;
    let Some(context) = Context::new(cli.global) else {
        print_message("the working directory cannot be read, or its name is not UTF-8");
        return Exit::CouldNotStart;
    };
    if let Some(refusal) = parsed.refusal {
        print_error(&context, CommandError::Config(refusal));
        return Exit::CouldNotStart;
    }
    let done = match cli.command {
        Command::Init(args) => init::run(&context, &args),
        Command::Validate(args) => validate::run(&context, &args),
        Command::Run(args) => run::run(&context, &args),
        Command::Report(args) => report::run(&context, &args),
        Command::Compare(args) => compare::run(&context, &args),
        #[cfg(feature = "view")]
        Command::View(args) => view::run(&context, &args),
        Command::Grade(args) => grade::run(&context, &args),
        Command::Judge(args) => judge::run(&context, &args),
        Command::Mutate(args) => mutate::run(&context, &args),
        Command::Stats(args) => stats::run(&context, &args),
        #[cfg(feature = "queue")]
        Command::Worker(args) => worker::run(&context, &args),
        #[cfg(feature = "queue")]
        Command::Queue(args) => queue::run(&context, &args),
        Command::Log(args) => log::run(&context, &args),
        Command::Explain(args) => explain::run(&args),
        Command::List(args) => list::run(&context, &args),
        Command::Show(args) => show::run(&context, &args),
        Command::Convert(args) => convert::run(&context, &args),
        Command::Transpile(args) => transpile::run(&context, &args),
        Command::Export(args) => export::run(&context, &args),
        Command::Config(args) => config::run(&context, &args),
        #[cfg(feature = "lsp")]
        Command::Lsp(args) => lsp::run(&args),
        #[cfg(feature = "mcp")]
        Command::Mcp(args) => mcp::run(&context, &args),
        Command::Schema(args) => schema::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&context, &args),
    };
    done.unwrap_or_else(|error| {
        let exit = error.exit();
        print_error(&context, error);
        exit
    })
}

pub(crate) fn print_error(context: &Context, error: CommandError) {
    match error {
        CommandError::CouldNotStart(message) | CommandError::NothingSelected(message) => {
            print_message(&message);
        }
        CommandError::Session(SessionError::Refused(suites)) => {
            for refusal in suites {
                show_refusal(context, refusal);
            }
        }
        CommandError::Config(ConfigRefusal::Message(message)) => print_message(&message),
        CommandError::Config(ConfigRefusal::Diagnostics(sources, diagnostics)) => {
            show(context, &sources, diagnostics, &Secrets::default());
        }
        CommandError::Session(error) => print_message(&error.to_string()),
        CommandError::InvalidSuite => {}
    }
}
