//! Text in, meaning out: reads agent evaluation suites, explains every mistake at its place and
//! builds one canonical model. Touches no file, clock, process or network; the caller lends it
//! [`source::Files`] and [`source::Environment`].

pub mod assertion;
pub mod codes;
pub mod compare;
pub mod diagnostic;
pub mod digest;
pub mod evidence;
pub mod export;
pub mod import;
pub mod judge_check;
pub mod model;
pub mod mutation;
pub mod plan;
pub mod read;
pub mod reader;
pub mod repair;
pub mod schema;
pub mod score;
pub mod secrets;
pub mod source;
pub mod stats;
pub mod syntax;
pub mod transpile_rules;
