//! Runs the scripts that assertions ask for.

mod script;

pub use script::{SCRIPT_GRACE, run_script};
