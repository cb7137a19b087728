//! Where the user stands and how the terminal looks.

use std::io::{self, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::read::{Discovery, FoundSuite, repository_root};
use evalrig_core::reader::{EnvFiles, Limits, TargetNames, World};
use evalrig_core::source::{EntryKind, Files};
use evalrig_run::disk::{Disk, ProcessEnvironment};
use evalrig_run::report;

use crate::args::{Global, Loading, When};
use crate::exit::Exit;
use evalrig_run::text::OutputStyle;

#[derive(Debug)]
pub struct Context {
    pub global: Global,
    pub working_directory: Utf8PathBuf,
}

impl Context {
    pub fn new(global: Global) -> Result<Self, Exit> {
        let current = std::env::current_dir();
        let here = current
            .ok()
            .and_then(|path| Utf8PathBuf::from_path_buf(path).ok());
        match here {
            Some(working_directory) => Ok(Self {
                global,
                working_directory,
            }),
            None => {
                complain("the working directory cannot be read, or its name is not UTF-8");
                Err(Exit::CouldNotStart)
            }
        }
    }

    pub fn world(&self) -> World<'_> {
        World {
            files: &Disk,
            environment: &ProcessEnvironment,
            working_directory: &self.working_directory,
        }
    }

    pub fn limits(&self, loading: &Loading) -> Limits {
        Limits {
            allow_outside_root: loading.allow_outside_root,
            env_files: match (&loading.env_file, loading.no_env_file) {
                (Some(file), _) => EnvFiles::Only(self.absolute(file)),
                (None, true) => EnvFiles::None,
                (None, false) => EnvFiles::Search,
            },
            targets: TargetNames::Unchecked,
        }
    }

    /// Options that name a place are worth nothing when the place is not there, and silence about
    /// it would look like success.
    pub fn check(&self, loading: &Loading) -> Result<(), Exit> {
        let wanted = [
            ("--root", &loading.root, EntryKind::Directory, "a directory"),
            ("--env-file", &loading.env_file, EntryKind::File, "a file"),
        ];
        for (option, given, kind, noun) in wanted {
            let Some(path) = given else { continue };
            let found = Disk.kind(&self.absolute(path));
            if found != Some(kind) {
                complain(&match found {
                    None => format!("{option}: `{path}` does not exist"),
                    Some(_) => format!("{option}: `{path}` is not {noun}"),
                });
                return Err(Exit::CouldNotStart);
            }
        }
        Ok(())
    }

    /// The repository root of a suite.
    pub fn root(&self, loading: &Loading, suite: &Utf8Path) -> Utf8PathBuf {
        match &loading.root {
            Some(root) => self.absolute(root),
            None => repository_root(&Disk, suite),
        }
    }

    pub fn absolute(&self, path: &str) -> Utf8PathBuf {
        let joined = self.working_directory.join(path);
        // Links are kept: the user's own spelling of a path is what messages should show.
        camino::absolute_utf8(&joined).unwrap_or(joined)
    }

    /// The files that the arguments name. Complains and says how to exit otherwise.
    pub fn discover(&self, paths: &[String]) -> Result<Vec<FoundSuite>, Exit> {
        match FoundSuite::from_arguments(&Disk, &self.working_directory, paths) {
            Ok(found) if found.is_empty() => {
                complain("no suite found: looked for `EVAL.yaml`, `*.eval.yaml` and `evals.json`");
                Err(Exit::NothingSelected)
            }
            Ok(found) => Ok(found),
            Err(problem) => {
                complain(&match problem {
                    Discovery::Missing(path) => format!("`{path}` does not exist"),
                    Discovery::Ending(path) => {
                        format!("`{path}` is no suite: it must end in .yaml, .yml, .jsonl or .json")
                    }
                    Discovery::Pattern(pattern) => format!("`{pattern}` is not a pattern"),
                    Discovery::Unreadable(path) => {
                        format!("the directory `{path}` cannot be read; take it away with `!`")
                    }
                });
                Err(Exit::CouldNotStart)
            }
        }
    }

    /// Whether standard output gets colours, and how wide it is.
    pub fn look(&self) -> OutputStyle {
        let stdout = io::stdout();
        self.look_of(AutoStream::choice(&stdout), stdout.is_terminal())
    }

    /// The same for standard error.
    pub fn error_look(&self) -> OutputStyle {
        let stderr = io::stderr();
        self.look_of(AutoStream::choice(&stderr), stderr.is_terminal())
    }

    pub fn detail(&self) -> report::Detail {
        match (self.global.quiet, self.global.verbose) {
            (true, _) => report::Detail::Quiet,
            (_, true) => report::Detail::Verbose,
            _ => report::Detail::Normal,
        }
    }

    /// A path as the user would write it.
    pub fn shown(&self, path: &Utf8Path) -> Utf8PathBuf {
        let near = path.strip_prefix(&self.working_directory);
        near.unwrap_or(path).to_owned()
    }

    fn look_of(&self, choice: ColorChoice, is_terminal: bool) -> OutputStyle {
        let color = match self.global.color {
            When::Always => true,
            When::Never => false,
            When::Auto => choice != ColorChoice::Never,
        };
        let width = is_terminal.then(terminal_size::terminal_size).flatten();
        OutputStyle {
            color,
            width: width.map(|(width, _)| usize::from(width.0)),
            unicode: !is_terminal || locale_is_utf8(),
        }
    }
}

/// Without a locale, as in most CI systems, Unicode is safe.
fn locale_is_utf8() -> bool {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty());
    set.is_none_or(|value| {
        let value = value.to_uppercase();
        value.contains("UTF-8") || value.contains("UTF8")
    })
}

/// One line on standard error.
pub fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "evalrig: {message}");
}

/// Writes to standard output.
pub fn print(text: &str) -> Result<(), Exit> {
    written(io::stdout().write_all(text.as_bytes()))
}

/// A reader that went away is not an error of ours; a full disk is.
pub fn written(outcome: io::Result<()>) -> Result<(), Exit> {
    match outcome {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            complain(&format!("cannot write to standard output: {error}"));
            Err(Exit::CouldNotStart)
        }
        _ => Ok(()),
    }
}
