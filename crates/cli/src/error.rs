//! Errors that end a command. Commands return them; the error is printed once, where commands are
//! called.

use std::io;

use evalrig_run::runlog::StoreError;
use evalrig_run::session::SessionError;

use crate::config::ConfigRefusal;
use crate::exit::Exit;

#[derive(Debug)]
pub enum CommandError {
    /// The arguments, a file or the terminal do not allow the command.
    CouldNotStart(String),
    /// There is nothing to work on.
    NothingSelected(String),
    Session(SessionError),
    /// The settings cannot be used.
    Config(ConfigRefusal),
    /// The suite has errors; their diagnostics have been printed.
    InvalidSuite,
}

impl CommandError {
    pub fn not_a_suite(file: &str) -> Self {
        Self::CouldNotStart(format!("`{file}` is not a suite"))
    }

    pub fn cannot_write(file: &str, error: &io::Error) -> Self {
        Self::CouldNotStart(format!("cannot write `{file}`: {error}"))
    }

    pub fn exit(&self) -> Exit {
        match self {
            Self::CouldNotStart(_) | Self::InvalidSuite | Self::Config(_) => Exit::CouldNotStart,
            Self::NothingSelected(_) => Exit::NothingSelected,
            Self::Session(error) if error.is_nothing_selected() => Exit::NothingSelected,
            Self::Session(error) if error.is_incomplete() => Exit::Incomplete,
            Self::Session(_) => Exit::CouldNotStart,
        }
    }
}

impl From<SessionError> for CommandError {
    fn from(error: SessionError) -> Self {
        Self::Session(error)
    }
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        Self::CouldNotStart(error.to_string())
    }
}
