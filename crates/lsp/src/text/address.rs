//! `file:` addresses ↔ absolute paths, percent-encoded.

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::source::without_dots;
use lsp_types::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What is written out in a path: unreserved characters and the separator.
const ENCODED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// The path of a file on this machine, without `.` and `..`; `None` for other addresses.
pub(crate) fn path_of(uri: &Uri) -> Option<Utf8PathBuf> {
    let text = uri.as_ref();
    let (scheme, rest) = text.split_once("://")?;
    let end = rest.find(['?', '#']).unwrap_or(rest.len());
    let (host, path) = rest[..end].split_at(rest[..end].find('/')?);
    let is_local = host.is_empty() || host.eq_ignore_ascii_case("localhost");
    if !scheme.eq_ignore_ascii_case("file") || !is_local {
        return None;
    }
    let path = percent_decode_str(path).decode_utf8().ok()?;
    (!path.contains('\0')).then(|| without_dots(Utf8Path::new(&*path)))
}

pub(crate) fn uri_of(path: &Utf8Path) -> Uri {
    Uri(format!("file://{}", utf8_percent_encode(path.as_str(), ENCODED)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_survives_the_way_there_and_back() {
        for path in ["/a/b.yaml", "/with space/ü/%41#x?.yaml", "/a@b:c/é😀"] {
            let uri = uri_of(path.into());
            assert!(uri.as_ref().is_ascii(), "{uri}");
            assert_eq!(path_of(&uri).as_deref(), Some(Utf8Path::new(path)));
        }
        assert_eq!(uri_of("/a b/é.yaml".into()).as_ref(), "file:///a%20b/%C3%A9.yaml");
    }

    #[test]
    fn clients_may_encode_less_or_more() {
        let path = |uri: &str| path_of(&uri.into()).map(Utf8PathBuf::into_string);
        assert_eq!(path("file:///a%2Fb/x.yaml").as_deref(), Some("/a/b/x.yaml"));
        assert_eq!(path("file://localhost/a/./b/../c.yaml").as_deref(), Some("/a/c.yaml"));
        assert_eq!(path("FILE:///é.yaml").as_deref(), Some("/é.yaml"));
    }

    #[test]
    fn what_is_not_a_file_here_has_no_path() {
        for uri in [
            "untitled:Untitled-1",
            "http://x/y",
            "file://host/x",
            "file:///%ff",
            "",
            "file:///a%00",
        ] {
            assert_eq!(path_of(&uri.into()), None, "{uri}");
        }
    }
}
