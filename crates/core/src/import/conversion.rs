//! From a file to a suite: open it, recognise its format, read it.

use crate::diagnostic::Diagnostics;
use crate::model::Loss;
use crate::source::Sources;

use super::foreign_file::{FileSyntax, ForeignFile};
use super::format::ImportFormat;
use super::importer::{ImportRequest, Importer};
use super::suite_draft::ImportedSuite;
use super::{FORMATS, foreign_file};

/// A file whose text has been parsed.
#[derive(Debug)]
pub struct Opened {
    /// `None` when it cannot be read; the diagnostics say why.
    pub file: Option<ForeignFile>,
    sources: Sources,
    out: Diagnostics,
}

/// A format that a file fits, and the keys that show it.
#[derive(Debug, Clone)]
pub struct DetectedFormat {
    pub format: &'static ImportFormat,
    pub keys: Vec<&'static str>,
}

/// What came of reading a file.
#[derive(Debug)]
pub struct Conversion {
    /// `None` when no suite can be made; the diagnostics say why.
    pub suite: Option<ImportedSuite>,
    pub losses: Vec<Loss>,
    pub sources: Sources,
    pub diagnostics: Diagnostics,
}

impl Opened {
    /// Opens the file of the request. `Err` has the endings that are known.
    pub fn new(request: &ImportRequest<'_>) -> Result<Self, &'static str> {
        if FileSyntax::of(request.path).is_none() {
            return Err(foreign_file::ENDINGS);
        }
        let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
        let reach = crate::source::Reach::Anywhere;
        let file = ForeignFile::open(request.files, &mut sources, &mut out, request.path, reach);
        Ok(Self { file, sources, out })
    }

    /// The formats that the file fits.
    pub fn detect(&self) -> Vec<DetectedFormat> {
        let Some(file) = &self.file else { return Vec::new() };
        let detected = FORMATS.iter().filter_map(|format| {
            let keys = (format.detect)(file)?;
            Some(DetectedFormat { format, keys })
        });
        detected.collect()
    }

    /// Reads the file in a format.
    pub fn convert(self, request: &ImportRequest<'_>, format: &ImportFormat) -> Conversion {
        let Self { file, sources, out } = self;
        let mut importer = Importer::new(request, sources, out);
        let suite = file.and_then(|file| {
            let draft = (format.read)(&mut importer, &file)?;
            let whole = file.root.span.at_start();
            importer.check_map_is_used(whole, format.title)?;
            if draft.tests.is_empty() {
                let message = "there are no tests in this file";
                return importer.refuse(whole, message, "name a file that has some");
            }
            Some(draft.finish(&mut importer, whole))
        });
        let (sources, diagnostics, losses) = importer.into_parts();
        Conversion { suite, losses, sources, diagnostics }
    }

    /// A file that could not be read.
    pub fn into_failure(self) -> Conversion {
        let Self { sources, out, .. } = self;
        Conversion { suite: None, losses: Vec::new(), sources, diagnostics: out }
    }
}

/// The format with this name; `_` and `-` are equivalent.
pub(super) fn format_named(name: &str) -> Option<&'static ImportFormat> {
    let name = name.to_lowercase().replace('_', "-");
    FORMATS.iter().copied().find(|format| format.name == name)
}
