//! `export`: writes suites and results in the formats of other tools. One file per kind.

mod harbor;
mod skill_creator;

use crate::args::{Export, ExportKind};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;

pub fn run(context: &Context, args: &Export) -> Result<Exit, CommandError> {
    match &args.kind {
        ExportKind::Harbor(args) => harbor::run(context, args),
        ExportKind::SkillCreator(args) => skill_creator::run(context, args),
    }
}
