//! `export`: writes results in the formats of other tools. One file per kind.

mod skill_creator;

use crate::args::{Export, ExportKind};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;

pub fn run(context: &Context, args: &Export) -> Result<Exit, CommandError> {
    match &args.kind {
        ExportKind::SkillCreator(args) => skill_creator::run(context, args),
    }
}
