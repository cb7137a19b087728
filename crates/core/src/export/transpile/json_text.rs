//! The layout of the written JSON (spec 12.6): two spaces, one element per line, short lists
//! of paths on one line.

use std::fmt::Write as _;

use crate::model::write_json_string;

/// Writes the members of one object, each on a line of its own.
pub(super) struct Object<'o> {
    out: &'o mut String,
    indent: usize,
    is_empty: bool,
}

impl<'o> Object<'o> {
    /// `indent` is that of the braces.
    pub(super) fn open(out: &'o mut String, indent: usize) -> Self {
        out.push('{');
        Self {
            out,
            indent,
            is_empty: true,
        }
    }

    pub(super) fn close(self) {
        break_line(self.out, self.indent);
        self.out.push('}');
    }

    /// Writes the key; the caller appends the value to the returned text.
    pub(super) fn key(&mut self, name: &str) -> &mut String {
        if !self.is_empty {
            self.out.push(',');
        }
        self.is_empty = false;
        break_line(self.out, self.indent + 1);
        // Keys are constants that need no escaping.
        self.out.push('"');
        self.out.push_str(name);
        self.out.push_str("\": ");
        self.out
    }

    /// The value is JSON already.
    pub(super) fn plain(&mut self, name: &str, value: &str) {
        self.key(name).push_str(value);
    }

    pub(super) fn text(&mut self, name: &str, value: &str) {
        write_json_string(self.key(name), value);
    }

    pub(super) fn number(&mut self, name: &str, value: u64) {
        let _ = write!(self.key(name), "{value}");
    }

    pub(super) fn boolean(&mut self, name: &str, value: bool) {
        self.plain(name, if value { "true" } else { "false" });
    }

    /// One text per line.
    pub(super) fn lines<'t>(&mut self, name: &str, texts: impl Iterator<Item = &'t str>) {
        let indent = self.indent + 1;
        list(self.key(name), indent, texts, write_json_string);
    }

    /// All texts on this line.
    pub(super) fn row<'t>(&mut self, name: &str, texts: impl Iterator<Item = &'t str>) {
        let out = self.key(name);
        out.push('[');
        for (at, text) in texts.enumerate() {
            if at > 0 {
                out.push_str(", ");
            }
            write_json_string(out, text);
        }
        out.push(']');
    }
}

/// One element per line; `indent` is that of the brackets.
pub(super) fn list<T>(
    out: &mut String,
    indent: usize,
    items: impl Iterator<Item = T>,
    mut write: impl FnMut(&mut String, T),
) {
    out.push('[');
    let mut is_empty = true;
    for item in items {
        if !is_empty {
            out.push(',');
        }
        is_empty = false;
        break_line(out, indent + 1);
        write(out, item);
    }
    if !is_empty {
        break_line(out, indent);
    }
    out.push(']');
}

fn break_line(out: &mut String, indent: usize) {
    // Lists of entries are the deepest level.
    const LINE: &str = "\n          ";
    out.push_str(&LINE[..1 + 2 * indent]);
}
