//! The working directory, and the style of the terminal.

use anstream::ColorChoice;
use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::read::FoundSuite;
use evalrig_core::reader::{EnvFiles, ReadPolicy, World};
use evalrig_run::disk::{Disk, LoadEnvironment, LoadFiles, ProcessEnvironment};
use evalrig_run::report;
use evalrig_run::session::{LoadOptions, Notice};

use crate::args::{Global, Loading, When};
use crate::error::CommandError;
use crate::output::{self, StreamKind};
use evalrig_run::text::OutputStyle;

#[derive(Debug)]
pub struct Context {
    pub global: Global,
    pub working_directory: Utf8PathBuf,
}

impl Context {
    /// `None` without a working directory that can be read and whose name is UTF-8.
    pub fn new(global: Global) -> Option<Self> {
        let here = std::env::current_dir().ok()?;
        Some(Self { global, working_directory: Utf8PathBuf::from_path_buf(here).ok()? })
    }

    pub fn world(&self) -> World<'_> {
        World {
            files: &Disk,
            environment: &ProcessEnvironment,
            working_directory: &self.working_directory,
        }
    }

    /// How suites are loaded.
    pub fn load_options(&self, loading: &Loading) -> LoadOptions {
        LoadOptions {
            working_directory: self.working_directory.clone(),
            root: loading.root.as_ref().map(|root| self.absolute(root)),
            env_files: match (&loading.env_file, loading.no_env_file) {
                (Some(file), _) => EnvFiles::Only(self.absolute(file)),
                (None, true) => EnvFiles::None,
                (None, false) => EnvFiles::Search,
            },
            allow_outside_root: loading.allow_outside_root,
            targets_file: None,
            files: LoadFiles::default(),
            environment: LoadEnvironment::default(),
        }
    }

    pub fn limits(&self, loading: &Loading) -> ReadPolicy {
        self.load_options(loading).limits()
    }

    /// Fails if an option names a path that does not exist; ignoring it would look like success.
    pub fn check(&self, loading: &Loading) -> Result<(), CommandError> {
        Ok(self.load_options(loading).check()?)
    }

    /// The repository root of a suite.
    pub fn root(&self, loading: &Loading, suite: &Utf8Path) -> Utf8PathBuf {
        self.load_options(loading).root_of(suite)
    }

    pub fn absolute(&self, path: &str) -> Utf8PathBuf {
        let joined = self.working_directory.join(path);
        // Messages should show the path as the user typed it, so links are not resolved.
        camino::absolute_utf8(&joined).unwrap_or(joined)
    }

    /// The suite files that the arguments name.
    pub fn discover(&self, paths: &[String]) -> Result<Vec<FoundSuite>, CommandError> {
        let options = LoadOptions::new(self.working_directory.clone());
        Ok(options.discover(paths, &mut |notice| self.print_warning(notice))?)
    }

    /// Also, in a sentence each, files that look like suites and are not found as such.
    pub fn discover_noting(
        &self,
        paths: &[String],
    ) -> Result<(Vec<FoundSuite>, Vec<String>), CommandError> {
        let options = LoadOptions::new(self.working_directory.clone());
        Ok(options.discover_noting(paths, &mut |notice| self.print_warning(notice))?)
    }

    fn print_warning(&self, notice: Notice<'_>) {
        match notice {
            Notice::Warning(text) if !self.global.quiet => output::print_message(&text),
            _ => {}
        }
    }

    /// The style of standard output.
    pub fn look(&self) -> OutputStyle {
        self.look_of(output::stdout_kind())
    }

    /// The style of standard error.
    pub fn error_look(&self) -> OutputStyle {
        self.look_of(output::stderr_kind())
    }

    pub fn detail(&self) -> report::Detail {
        match (self.global.quiet, self.global.verbose) {
            (true, _) => report::Detail::Quiet,
            (_, true) => report::Detail::Verbose,
            _ => report::Detail::Normal,
        }
    }

    /// A path relative to the working directory, if it is below it.
    pub fn shown(&self, path: &Utf8Path) -> Utf8PathBuf {
        let near = path.strip_prefix(&self.working_directory);
        near.unwrap_or(path).to_owned()
    }

    fn look_of(&self, stream: StreamKind) -> OutputStyle {
        let is_terminal = stream.is_terminal;
        let color = match self.global.color {
            When::Always => true,
            When::Never => false,
            When::Auto => stream.color != ColorChoice::Never,
        };
        let width = is_terminal.then(terminal_size::terminal_size).flatten();
        OutputStyle {
            color,
            width: width.map(|(width, _)| usize::from(width.0)),
            unicode: !is_terminal || locale_is_utf8(),
        }
    }
}

/// Whether this is a CI system; all of them set the variable `CI`.
pub fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| !matches!(value.as_str(), "" | "false" | "0"))
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
