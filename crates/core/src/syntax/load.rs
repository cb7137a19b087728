//! Path → source: a whole file within the limits of spec 2.6. What cannot become text is
//! reported in the file itself, so that every fault has a place.

use std::io;

use camino::Utf8Path;

use crate::diagnostic::{Diagnostic, Diagnostics, declare_codes};
use crate::source::{Files, Reach, SourceId, Sources, Span, is_outside};

use super::codes::{FILE_TOO_LARGE, INVALID_ENCODING};
use super::encoding::{BYTE_ORDER_MARK, DecodeError, FILE_LIMIT, Undecoded, decode_or_return};

declare_codes! {
    UNREADABLE_FILE = "unreadable-file", Blocking, Syntax, r#"The operating system does not let the file be read.

## Example
```text
a file without read permission, a directory or a FIFO where a file is expected, a link that
leads out of the repository
```

## Instead
```text
the same file with the right to read it: chmod +r EVAL.yaml
```

## Why
Skipping a file that cannot be opened would mean a suite that silently never runs.
"#;
}

/// Reads a YAML or JSON file and registers its text. `None` without usable text;
/// then the reason has been reported.
pub fn read_source(
    files: &dyn Files,
    sources: &mut Sources,
    out: &mut Diagnostics,
    path: &Utf8Path,
    reach: Reach<'_>,
) -> Option<SourceId> {
    let bytes = match files.read(path, reach, FILE_LIMIT + 1) {
        Ok(bytes) => bytes,
        Err(error) => {
            let span = without_text(sources, path);
            out.report(unreadable(span, path, &error));
            return None;
        }
    };
    if bytes.len() as u64 > FILE_LIMIT {
        let span = without_text(sources, path);
        out.report(too_large(span));
        return None;
    }
    match decode_or_return(bytes) {
        Ok((text, offset)) => Some(sources.add_file(path.to_owned(), text, offset)),
        Err(undecoded) => {
            out.report(invalid_encoding(sources, path, undecoded));
            None
        }
    }
}

/// A file that cannot be read. `place` is the file itself, or where it is named.
pub fn unreadable(place: Span, path: &Utf8Path, error: &io::Error) -> Diagnostic {
    let name = path.file_name().unwrap_or(path.as_str());
    let message = format!("`{name}` cannot be read: {error}");
    let help = is_outside(error)
        .then(|| "keep the file in the repository, or pass `--allow-outside-root`".to_owned());
    Diagnostic::new(&UNREADABLE_FILE, place, message).help_if(help)
}

/// The beginning of a file whose text is not kept.
fn without_text(sources: &mut Sources, path: &Utf8Path) -> Span {
    let id = sources.add_file(path.to_owned(), String::new(), 0);
    Span::new(id, 0, 0)
}

fn too_large(span: Span) -> Diagnostic {
    let message = format!("the file is larger than {} MiB", FILE_LIMIT / (1024 * 1024));
    Diagnostic::new(&FILE_TOO_LARGE, span, message)
        .help("keep the tests as JSONL, one per line: such a file has no limit")
}

fn invalid_encoding(sources: &mut Sources, path: &Utf8Path, undecoded: Undecoded) -> Diagnostic {
    const HELP: &str = "save the file as UTF-8";
    match undecoded.error {
        // Shown as UTF-8, such a file would be noise.
        DecodeError::Encoding { name } => {
            let span = without_text(sources, path);
            let message = format!(
                "the file is {name}, not UTF-8: it starts with a byte order mark of that encoding"
            );
            Diagnostic::new(&INVALID_ENCODING, span, message).help(HELP)
        }
        DecodeError::InvalidByte { offset, line } => {
            let byte = undecoded.bytes[offset as usize];
            let span = replacement(sources, path, &undecoded.bytes, offset);
            let message =
                format!("byte 0x{byte:02X} at offset {offset}, line {line}, is not UTF-8");
            Diagnostic::new(&INVALID_ENCODING, span, message).help(HELP)
        }
    }
}

/// Registers the text with U+FFFD in place of invalid bytes and points at the first of them. All bytes
/// before it are valid, so its offset is unchanged.
fn replacement(sources: &mut Sources, path: &Utf8Path, bytes: &[u8], offset: u64) -> Span {
    let mut mark = [0; 4];
    let mark = BYTE_ORDER_MARK.encode_utf8(&mut mark).as_bytes();
    let (bytes, dropped) = match bytes.strip_prefix(mark) {
        Some(rest) => (rest, mark.len() as u64),
        None => (bytes, 0),
    };
    let text = String::from_utf8_lossy(bytes).into_owned();
    let at = (offset - dropped) as u32;
    let id = sources.add_file(path.to_owned(), text, dropped);
    let length = char::REPLACEMENT_CHARACTER.len_utf8() as u32;
    Span::new(id, at, at + length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{MemoryFiles, Position};

    fn read(bytes: impl Into<Vec<u8>>) -> (Option<String>, Sources, Vec<Diagnostic>) {
        let files = MemoryFiles::new().with("/p/a.yaml", bytes);
        let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
        let id = read_source(&files, &mut sources, &mut out, "/p/a.yaml".into(), Reach::Anywhere);
        let text = id.map(|id| sources.get(id).text().to_owned());
        (text, sources, out.into_vec())
    }

    #[test]
    fn a_good_file_becomes_a_source_without_its_mark() {
        let (text, _, out) = read("\u{feff}a: é");
        assert_eq!(text.as_deref(), Some("a: é"));
        assert_eq!(out, []);
    }

    #[test]
    fn a_bad_byte_is_pointed_at_and_counted_with_the_mark() {
        let (text, sources, out) = read(b"\xef\xbb\xbfa: \xc3\xa9\nb: \xff\xfe!".to_vec());
        assert_eq!(text, None);
        assert_eq!(out[0].code.name, "invalid-encoding");
        assert_eq!(out[0].message, "byte 0xFF at offset 12, line 2, is not UTF-8");
        assert_eq!(sources.text_of(out[0].span), "\u{fffd}");
        let place = Position { line: 2, column: 4 };
        assert_eq!(sources.position(out[0].span), place);
    }

    #[test]
    fn a_character_cut_off_at_the_end_is_a_bad_byte() {
        let (_, sources, out) = read(b"a: \xe2\x82".to_vec());
        assert_eq!(out[0].message, "byte 0xE2 at offset 3, line 1, is not UTF-8");
        assert_eq!(sources.text_of(out[0].span), "\u{fffd}");
    }

    #[test]
    fn another_encoding_is_named() {
        let (text, _, out) = read(vec![0xff, 0xfe, b'a', 0]);
        assert_eq!(text, None);
        let message =
            "the file is UTF-16, not UTF-8: it starts with a byte order mark of that encoding";
        assert_eq!(out[0].message, message);
    }

    #[test]
    fn the_limit_itself_is_allowed_and_one_byte_more_is_not() {
        let (text, _, out) = read(vec![b' '; FILE_LIMIT as usize]);
        assert!(text.is_some() && out.is_empty());
        let (text, _, out) = read(vec![b' '; FILE_LIMIT as usize + 1]);
        assert_eq!(text, None);
        assert_eq!(out[0].message, "the file is larger than 32 MiB");
    }

    #[test]
    fn a_file_that_cannot_be_opened_is_reported_at_its_path() {
        let (mut sources, mut out) = (Sources::new(), Diagnostics::new());
        let files = MemoryFiles::new();
        let path = Utf8Path::new("/p/none.yaml");
        let id = read_source(&files, &mut sources, &mut out, path, Reach::Anywhere);
        assert_eq!(id, None);
        let out = out.into_vec();
        assert_eq!(out[0].code.name, "unreadable-file");
        assert_eq!(sources.get(out[0].span.source).path(), "/p/none.yaml");
    }
}
