//! Values as they are quoted in hits and misses.

use std::borrow::Cow;

use crate::model::{JsonStyle, Value};

/// Maximum length of a quoted value in characters (spec 7.1).
const MOST: usize = 200;

/// The text, truncated if it is long.
pub(super) fn excerpt(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MOST) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
    }
}

/// A value as compact JSON, truncated if it is long.
pub(super) fn json_excerpt(value: &Value) -> String {
    excerpt(&value.to_json(JsonStyle::Compact)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_hundred_characters_are_kept_and_more_are_cut() {
        let full = "é".repeat(200);
        assert_eq!(excerpt(&full), full);
        assert_eq!(excerpt(&format!("{full}x")), format!("{full}…"));
        assert_eq!(excerpt(""), "");
    }
}
