//! `schema`: prints JSON Schemas, built from the tables that the readers use.

use evalrig_core::model::JsonStyle;
use evalrig_core::schema;

use crate::args::{Schema, SchemaKind};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::print_json;

pub fn run(args: &Schema) -> Result<Exit, CommandError> {
    let draft = args.draft;
    if args.strict && !matches!(args.kind, SchemaKind::Suite | SchemaKind::Targets) {
        let message = "`--strict` is for the schemas of suites and targets files";
        return Err(CommandError::CouldNotStart(message.to_owned()));
    }
    let value = match args.kind {
        SchemaKind::Suite if args.strict => schema::strict_suite(draft),
        SchemaKind::Suite => schema::suite(draft),
        SchemaKind::EvalsJson => schema::evals_json(draft),
        SchemaKind::Results => evalrig_run::results::results_schema(draft),
        SchemaKind::Targets if args.strict => evalrig_run::target::strict_schema(draft),
        SchemaKind::Targets => evalrig_run::target::schema(draft),
    };
    print_json(&(value.to_json(JsonStyle::Pretty) + "\n"))?;
    Ok(Exit::Success)
}
