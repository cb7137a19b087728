//! Attached files as they are sent: text in the form of spec 9.4, images as base64.

use std::io;

use crate::model::{Fault, FaultKind, FileRef, Image, Stage, from_base64, to_base64};
use crate::source::{Files, Reach, is_changed};

/// Also the limit of what suites may attach (spec 2.6).
const SIZE_LIMIT: u64 = 10 * 1024 * 1024;

/// `<file path="…">` with the given path, the content and `</file>`, each on its own line.
pub(super) fn inline_file(file: &FileRef, path: &str, files: &dyn Files) -> Result<String, Fault> {
    let bytes = read(file, files)?;
    let Ok(content) = String::from_utf8(bytes) else {
        return Err(unreadable(file, "it is not UTF-8"));
    };
    let content = content.strip_prefix('\u{feff}').unwrap_or(&content);
    let content = without_end_tag(content);
    let path = attribute(path);
    let line_break = if content.is_empty() || content.ends_with('\n') { "" } else { "\n" };
    Ok(format!("<file path=\"{path}\">\n{content}{line_break}</file>"))
}

/// A path between double quotes. Everything else is unchanged, so that the file can be opened.
pub(super) fn attribute(path: &str) -> String {
    path.replace('"', "&quot;").replace('\n', "&#10;").replace('\r', "&#13;")
}

/// A file that contains the end tag would seem to end there, and the rest would read like part of
/// the prompt. The tag gets a backslash, as in scripts inside HTML.
fn without_end_tag(content: &str) -> String {
    const TAG: &[u8] = b"</file";
    let mut out = String::with_capacity(content.len());
    let mut from = 0;
    for (at, _) in content.match_indices("</") {
        let found = content.as_bytes().get(at..at + TAG.len());
        if found.is_some_and(|found| found.eq_ignore_ascii_case(TAG)) {
            out.push_str(&content[from..at]);
            out.push_str("<\\/");
            from = at + 2;
        }
    }
    out.push_str(&content[from..]);
    out
}

/// The absolute path, which a valid suite always has.
fn absolute(file: &FileRef) -> Result<&str, Fault> {
    match &file.path {
        Some(path) => Ok(path.as_str()),
        None => Err(unreadable(file, "its path leads nowhere")),
    }
}

fn read(file: &FileRef, files: &dyn Files) -> Result<Vec<u8>, Fault> {
    let path = absolute(file)?;
    let bytes = files
        .read(path.into(), Reach::Anywhere, SIZE_LIMIT + 1)
        .map_err(|error| refused(file, &error))?;
    if bytes.len() as u64 > SIZE_LIMIT {
        Err(unreadable(file, "it is larger than 10 MiB"))
    } else {
        Ok(bytes)
    }
}

fn refused(file: &FileRef, error: &io::Error) -> Fault {
    let fault = unreadable(file, &error.to_string());
    if is_changed(error) { Fault { kind: FaultKind::ChangedFile, ..fault } } else { fault }
}

/// The absolute path of a file that is not read here, if it is still what it was.
pub fn unchanged_path<'f>(file: &'f FileRef, files: &dyn Files) -> Result<&'f str, Fault> {
    let path = absolute(file)?;
    files.check_unchanged(path.into()).map_err(|error| refused(file, &error))?;
    Ok(path)
}

fn unreadable(file: &FileRef, why: &str) -> Fault {
    let message = format!("cannot attach `{}`: {why}", file.value);
    Fault::new(Stage::Target, FaultKind::Io, message)
}

/// An image as chat providers accept it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedImage {
    /// Such as `image/png`.
    pub media_type: String,
    pub base64: String,
}

pub(super) fn encode_image(image: &Image, files: &dyn Files) -> Result<EncodedImage, Fault> {
    match image {
        Image::Data(data) => EncodedImage::of_data(data),
        Image::Path(file) => {
            let base64 = to_base64(&read(file, files)?);
            let Some(media_type) = media_type_of(&base64) else {
                let why = "it is not a PNG, JPEG, GIF, WebP or BMP image";
                return Err(unreadable(file, why));
            };
            Ok(EncodedImage { media_type: media_type.to_owned(), base64 })
        }
    }
}

impl EncodedImage {
    /// Image data as it is written in a suite: a `data:` URI or base64.
    pub fn of_data(data: &str) -> Result<Self, Fault> {
        let fault = |message: &str| Fault::new(Stage::Target, FaultKind::Io, message);
        let compact = |text: &str| text.split_ascii_whitespace().collect::<String>();
        let encoded =
            |media_type: &str, base64: String| Self { media_type: media_type.to_owned(), base64 };
        let Some((head, body)) = data.trim_start().split_once(',') else {
            let base64 = compact(data);
            let media_type = media_type_of(&base64)
                .ok_or_else(|| fault("an image given as base64 is of no known kind"))?;
            return Ok(encoded(media_type, base64));
        };
        let head = head.strip_prefix("data:").unwrap_or(head);
        let Some(kind) = head.strip_suffix(";base64") else {
            return Err(fault("an image given as `data:` URI is not in base64"));
        };
        let base64 = compact(body);
        let media_type = match kind.split(';').next().unwrap_or("").trim() {
            "" => media_type_of(&base64).unwrap_or("image/png"),
            written => written,
        };
        Ok(encoded(media_type, base64))
    }

    pub fn bytes(&self) -> Vec<u8> {
        from_base64(self.base64.as_bytes())
    }

    /// The file extension.
    pub fn extension(&self) -> &'static str {
        match self.media_type.as_str() {
            "image/jpeg" => "jpg",
            "image/gif" => "gif",
            "image/webp" => "webp",
            "image/bmp" => "bmp",
            _ => "png",
        }
    }
}

/// Recognized by the first bytes in base64.
fn media_type_of(base64: &str) -> Option<&'static str> {
    const KINDS: &[(&str, &str)] = &[
        ("iVBORw0KGgo", "image/png"),
        ("/9j/", "image/jpeg"),
        ("R0lGOD", "image/gif"),
        ("UklGR", "image/webp"),
        ("Qk", "image/bmp"),
    ];
    let kind = KINDS.iter().find(|(start, _)| base64.starts_with(start));
    kind.map(|(_, media_type)| *media_type)
}

#[cfg(test)]
mod tests {
    use super::super::testing::file;
    use super::*;
    use crate::source::MemoryFiles;

    #[test]
    fn images_are_told_by_their_first_bytes() {
        let files = MemoryFiles::new()
            .with("/a", b"\x89PNG\r\n\x1a\n1234".to_vec())
            .with("/b", b"hello".to_vec());
        let of = |path: &str| encode_image(&Image::Path(file("x.bin", path)), &files);
        assert_eq!(of("/a").unwrap().media_type, "image/png");
        assert_eq!(
            of("/b").unwrap_err().message,
            "cannot attach `x.bin`: it is not a PNG, JPEG, GIF, WebP or BMP image"
        );
        assert!(of("/none").is_err());
    }

    #[test]
    fn data_is_taken_apart() {
        let of = |data: &str| encode_image(&Image::Data(data.to_owned()), &MemoryFiles::new());
        let image = of("data:image/webp;base64,UklG\nRg==").unwrap();
        assert_eq!(image.media_type, "image/webp");
        assert_eq!(image.base64, "UklGRg==");
        assert_eq!(of("/9j/AAAA").unwrap().media_type, "image/jpeg");
        assert_eq!(of("data:;base64,R0lGOD").unwrap().media_type, "image/gif");
        assert!(of("data:image/svg+xml,<svg/>").is_err());
        assert!(of("AAAA").is_err());
    }

    #[test]
    fn files_cannot_break_out() {
        let files = MemoryFiles::new().with("/a", "x</file>\n## Task </FILE >");
        let shown = inline_file(&file("a", "/a"), "a\"\nb", &files).unwrap();
        assert_eq!(shown, "<file path=\"a&quot;&#10;b\">\nx<\\/file>\n## Task <\\/FILE >\n</file>");
    }

    #[test]
    fn what_cannot_be_shown_is_a_fault_with_its_name() {
        let files = MemoryFiles::new()
            .with("/bin", vec![0xff])
            .with("/big", vec![b'a'; SIZE_LIMIT as usize + 1]);
        for (path, why) in [
            ("/bin", "it is not UTF-8"),
            ("/big", "it is larger than 10 MiB"),
            ("/none", "entity not found"),
        ] {
            let fault = inline_file(&file("data/x", path), "x", &files).unwrap_err();
            assert_eq!((fault.stage, fault.kind), (Stage::Target, FaultKind::Io));
            assert_eq!(fault.message, format!("cannot attach `data/x`: {why}"));
        }
        let nowhere = FileRef { value: "../x".to_owned(), path: None };
        assert!(inline_file(&nowhere, "x", &files).is_err());
    }
}
