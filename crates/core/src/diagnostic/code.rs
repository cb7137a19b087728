//! The name of a fault, declared beside the place that reports it.

/// How severe a fault is, and which work it blocks (spec, table of levels).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Level {
    /// E!: nothing can be done with the file.
    Blocking,
    /// Er: the touched tests cannot be run.
    BlocksRun,
    /// Et: the suite cannot be transpiled.
    BlocksTranspile,
    /// E: the file does not conform, but its meaning is clear.
    Error,
    Warning,
    Note,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    Note,
    Warning,
    Error,
}

impl Severity {
    pub fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl Level {
    pub fn severity(self) -> Severity {
        match self {
            Self::Blocking | Self::BlocksRun | Self::BlocksTranspile | Self::Error => {
                Severity::Error
            }
            Self::Warning => Severity::Warning,
            Self::Note => Severity::Note,
        }
    }

    pub fn blocks_run(self) -> bool {
        matches!(self, Self::Blocking | Self::BlocksRun)
    }

    pub fn blocks_transpile(self) -> bool {
        matches!(self, Self::Blocking | Self::BlocksTranspile)
    }

    /// The words of `blocks` in machine-readable output.
    pub fn blocks(self) -> &'static [&'static str] {
        match self {
            Self::Blocking => &["run", "transpile"],
            Self::BlocksRun => &["run"],
            Self::BlocksTranspile => &["transpile"],
            Self::Error | Self::Warning | Self::Note => &[],
        }
    }

    /// What `--strict` makes of it.
    pub fn strict(self) -> Self {
        match self {
            Self::Warning | Self::Error => Self::Blocking,
            other => other,
        }
    }

    /// The mark that the specification uses.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Blocking => "E!",
            Self::BlocksRun => "Er",
            Self::BlocksTranspile => "Et",
            Self::Error => "E",
            Self::Warning => "W",
            Self::Note => "N",
        }
    }

    /// One sentence for people who ask what the level means.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Blocking => "error; `run` and `transpile` refuse the file",
            Self::BlocksRun => "error; affected tests cannot run",
            Self::BlocksTranspile => "error; the suite cannot be transpiled",
            Self::Error => "error; the file does not conform, but it still runs",
            Self::Warning => "warning",
            Self::Note => "note; shown with `--verbose`",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    Syntax,
    Shape,
    Reference,
    Assertion,
    Deprecated,
    Conformance,
    Export,
    Target,
}

impl Family {
    pub fn word(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::Shape => "shape",
            Self::Reference => "reference",
            Self::Assertion => "assertion",
            Self::Deprecated => "deprecated",
            Self::Conformance => "conformance",
            Self::Export => "export",
            Self::Target => "target",
        }
    }
}

/// One named fault. `doc` is Markdown in four parts; [`super::Doc`] reads it.
#[derive(Debug)]
pub struct Code {
    pub name: &'static str,
    pub level: Level,
    pub family: Family,
    pub doc: &'static str,
}

/// Declares the codes that a file reports, and lists them as its `CODES`, so that none can be
/// missing from [`crate::codes`]: `NAME = "kebab-name", Level, Family, "doc";`
#[macro_export]
macro_rules! declare_codes {
    ($($constant:ident = $name:literal, $level:ident, $family:ident, $doc:literal;)*) => {
        $(pub static $constant: $crate::diagnostic::Code = $crate::diagnostic::Code {
            name: $name,
            level: $crate::diagnostic::Level::$level,
            family: $crate::diagnostic::Family::$family,
            doc: $doc,
        };)*
        /// Every code this file declares.
        pub const CODES: &[&$crate::diagnostic::Code] = &[$(&$constant),*];
    };
}
impl PartialEq for Code {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Code {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_raises_warnings_and_conformance_errors_but_not_notes() {
        assert_eq!(Level::Warning.strict(), Level::Blocking);
        assert_eq!(Level::Error.strict(), Level::Blocking);
        assert_eq!(Level::BlocksRun.strict(), Level::BlocksRun);
        assert_eq!(Level::Note.strict(), Level::Note);
    }
}
