//! `schema`: JSON Schemas, built from the tables that reading uses.

use evalrig_core::model::JsonStyle;
use evalrig_core::schema::{self, Draft};

use crate::args::{DraftName, Schema, SchemaKind};
use crate::context::print_text;
use crate::exit::Exit;

pub fn run(args: &Schema) -> Result<Exit, Exit> {
    let draft = match args.draft {
        DraftName::D2020 => Draft::D2020,
        DraftName::D07 => Draft::D07,
    };
    let value = match args.kind {
        SchemaKind::Suite => schema::suite(draft),
        SchemaKind::EvalsJson => schema::evals_json(draft),
        SchemaKind::Results => evalrig_run::record::results_schema(draft),
        SchemaKind::Targets => evalrig_run::target::schema(draft),
    };
    print_text(&(value.to_json(JsonStyle::Pretty) + "\n"))?;
    Ok(Exit::Success)
}
