//! One file per feature of the protocol. Each answers from the project and changes nothing.

mod completion;
mod completion_names;
mod definition;
mod fixes;
mod folding;
mod hover;
mod inlays;
mod lenses;
mod rename;
mod snippet;
mod spot;
mod symbols;
mod tokens;

pub(crate) use completion::completion;
pub(crate) use definition::definition;
pub(crate) use fixes::code_actions;
pub(crate) use folding::folding_ranges;
pub(crate) use hover::hover;
pub(crate) use inlays::inlay_hints;
pub(crate) use lenses::code_lenses;
pub(crate) use rename::{prepare_rename, references, rename};
pub(crate) use spot::Spot;
pub(crate) use symbols::document_symbols;
pub(crate) use tokens::{TOKEN_TYPES, semantic_tokens};
