//! Answers what assertions ask of the world.

mod script;

pub use script::{SCRIPT_GRACE, run_script};
