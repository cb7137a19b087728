//! The language server of evalrig: diagnostics, fixes, completion and navigation for suites, test
//! lists and targets files, over the Language Server Protocol. One thread works on one message at a
//! time; another one reads. Starts no program and writes no file.

mod feature;
mod last_run;
mod outline;
mod project;
mod server;
mod text;
mod transport;

pub use server::{ServeEnd, serve};
pub use transport::MESSAGE_LIMIT;
