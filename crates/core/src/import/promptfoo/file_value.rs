//! `file://…` in a configuration: where it leads, and what kind of file it is.

use camino::{Utf8Path, Utf8PathBuf};

/// A file that a configuration names, perhaps with a function in it.
#[derive(Debug, Clone)]
pub(super) struct FileReference {
    pub(super) path: Utf8PathBuf,
    pub(super) function: Option<String>,
}

/// What promptfoo does with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    JavaScript,
    TypeScript,
    Python,
    Ruby,
    /// JSON or YAML.
    Data,
    Image,
    Text,
    Other,
}

impl FileReference {
    /// `None` if the text does not begin with `file://`.
    pub(super) fn of(text: &str, directory: &Utf8Path) -> Option<Self> {
        text.strip_prefix("file://").map(|path| Self::of_path(path, directory))
    }

    /// `path.js:name` names a function.
    pub(super) fn of_path(written: &str, directory: &Utf8Path) -> Self {
        let (path, function) = match written.rsplit_once(':') {
            Some((path, name)) if !name.contains(['/', '\\', '.']) && path.contains('.') => {
                (path, Some(name.to_owned()))
            }
            _ => (written, None),
        };
        Self { path: directory.join(path), function }
    }

    pub(super) fn kind(&self) -> FileKind {
        let ending = self.path.extension().unwrap_or("").to_ascii_lowercase();
        match ending.as_str() {
            "js" | "cjs" | "mjs" => FileKind::JavaScript,
            "ts" | "cts" | "mts" => FileKind::TypeScript,
            "py" => FileKind::Python,
            "rb" => FileKind::Ruby,
            "json" | "yaml" | "yml" => FileKind::Data,
            "png" | "jpg" | "jpeg" | "gif" | "webp" | "bmp" => FileKind::Image,
            "pdf" | "mp3" | "mp4" | "wav" | "xlsx" | "xls" => FileKind::Other,
            _ => FileKind::Text,
        }
    }
}

impl FileKind {
    /// Whether promptfoo runs it.
    pub(super) fn is_code(self) -> bool {
        matches!(self, Self::JavaScript | Self::TypeScript | Self::Python | Self::Ruby)
    }
}
