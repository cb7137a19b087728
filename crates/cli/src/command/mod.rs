//! One file per command; this one only hands over.

mod compare;
mod completions;
mod convert;
mod explain;
mod grade;
mod init;
mod list;
mod log;
mod man;
mod refusal;
mod report;
mod run;
mod schema;
mod show;
mod suite;
mod transpile;
mod validate;

pub use validate::Check;

use crate::args::{Cli, Command};
use crate::context::Context;
use crate::exit::Exit;

pub fn run(cli: Cli) -> Exit {
    let context = match Context::new(cli.global) {
        Ok(context) => context,
        Err(exit) => return exit,
    };
    let done = match cli.command {
        Command::Init(args) => init::run(&context, &args),
        Command::Validate(args) => validate::run(&context, &args),
        Command::Explain(args) => explain::run(&context, &args),
        Command::Schema(args) => schema::run(&args),
        Command::List(args) => list::run(&context, &args),
        Command::Show(args) => show::run(&context, &args),
        Command::Convert(args) => convert::run(&context, &args),
        Command::Transpile(args) => transpile::run(&context, &args),
        Command::Run(args) => run::run(&context, &args),
        Command::Grade(args) => grade::run(&context, &args),
        Command::Compare(args) => compare::run(&context, &args),
        Command::Report(args) => report::run(&context, &args),
        Command::Log(args) => log::run(&context, &args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&context, &args),
    };
    done.unwrap_or_else(|exit| exit)
}
