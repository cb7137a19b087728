//! One source file: its lines by kind, its functions and its type names.

use std::ops::AddAssign;

use crate::mask::{Class, classify};
use crate::token::{Token, closing, end_of_item, tokens};

#[derive(Debug)]
pub struct SourceFile {
    /// From `src`, with `/`.
    pub path: String,
    pub text: String,
    /// The module is declared behind `#[cfg(test)]`.
    pub is_test: bool,
    /// As `text`, with spaces for comments, texts and test items. Every byte and line keeps its
    /// place.
    code: String,
    classes: Vec<Class>,
    /// Byte ranges of the items behind `#[cfg(test)]`.
    tests: Vec<(usize, usize)>,
    /// Modules behind `#[cfg(test)]` that have files of their own.
    test_modules: Vec<String>,
}

/// Lines by kind. A line has one kind only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineCount {
    pub code: usize,
    /// Lines that begin inside a string literal: docs of diagnostics and of assertion kinds.
    pub doc_text: usize,
    pub comment: usize,
    pub blank: usize,
    pub test: usize,
}

impl LineCount {
    pub fn all(self) -> usize {
        self.code + self.doc_text + self.comment + self.blank + self.test
    }
}

impl AddAssign for LineCount {
    fn add_assign(&mut self, other: Self) {
        self.code += other.code;
        self.doc_text += other.doc_text;
        self.comment += other.comment;
        self.blank += other.blank;
        self.test += other.test;
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    /// From 1.
    pub line: usize,
    /// From `fn` to the closing brace.
    pub lines: usize,
}

impl SourceFile {
    pub(crate) fn new(path: String, text: String) -> Self {
        let classes = classify(&text);
        let mut code = blank_unless(&text, |at| classes[at] == Class::Code);
        let mut tests = Vec::new();
        let mut test_modules = Vec::new();
        for (start, end, module) in test_items(&code) {
            tests.push((start, end));
            test_modules.extend(module);
        }
        code = blank_unless(&code, |at| !tests.iter().any(|(from, to)| (*from..*to).contains(&at)));
        Self { path, text, is_test: false, code, classes, tests, test_modules }
    }

    /// The top-level module; empty for the root of the crate.
    pub fn room(&self) -> &str {
        let first = self.path.split('/').next().unwrap_or("");
        match first.trim_end_matches(".rs") {
            "lib" | "main" => "",
            room => room,
        }
    }

    /// The name of the file without `.rs`.
    pub fn stem(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or("");
        name.trim_end_matches(".rs")
    }

    /// The text without comments, string contents and tests; every byte keeps its place.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// The path of the module below `crate`, such as `read::test`.
    pub(crate) fn module(&self) -> String {
        self.module_path().join("::")
    }

    pub(crate) fn module_path(&self) -> Vec<String> {
        let path = self.path.trim_end_matches(".rs");
        let parts = path.split('/').map(str::to_owned);
        let mut parts: Vec<String> = parts.collect();
        if matches!(self.stem(), "mod" | "lib" | "main") {
            parts.pop();
        }
        parts
    }

    /// The modules below `crate` that only tests have, and that are in other files.
    pub(crate) fn test_modules(&self) -> Vec<String> {
        let own = self.module_path();
        let names = self.test_modules.iter();
        names
            .map(|name| {
                let mut path = own.clone();
                path.push(name.clone());
                path.join("::")
            })
            .collect()
    }

    pub(crate) fn tokens(&self) -> Vec<Token<'_>> {
        tokens(&self.code)
    }

    pub fn count_lines(&self) -> LineCount {
        let mut count = LineCount::default();
        let mut start = 0;
        for line in self.text.split_inclusive('\n') {
            let range = start..start + line.trim_end().len();
            let is_in_test = self.tests.iter().any(|(from, to)| (*from..*to).contains(&start));
            let begins_in_text = self.classes.get(start) == Some(&Class::Text);
            let mut classes =
                range.clone().filter(|at| !self.text.as_bytes()[*at].is_ascii_whitespace());
            if self.is_test || is_in_test {
                count.test += 1;
            } else if line.trim().is_empty() {
                count.blank += 1;
            } else if begins_in_text {
                count.doc_text += 1;
            } else if classes.all(|at| self.classes[at] == Class::Comment) {
                count.comment += 1;
            } else {
                count.code += 1;
            }
            start += line.len();
        }
        count
    }

    pub fn functions(&self) -> Vec<Function> {
        let tokens = self.tokens();
        let mut found = Vec::new();
        for at in 0..tokens.len().saturating_sub(1) {
            let name = tokens[at + 1];
            if tokens[at].text != "fn" || !name.is_word() {
                continue;
            }
            let end = tokens[end_of_item(&tokens, at)];
            if end.text != "}" {
                continue;
            }
            let first = self.line_at(tokens[at].at);
            found.push(Function {
                name: name.text.to_owned(),
                line: first,
                lines: self.line_at(end.at) - first + 1,
            });
        }
        found
    }

    /// The structs, enums, traits, unions and aliases that are declared here. Associated types have
    /// no name of their own.
    pub fn type_names(&self) -> Vec<String> {
        let tokens = self.tokens();
        let mut found = Vec::new();
        // Where the innermost `impl` or `trait` ends.
        let mut associated_until = 0;
        for at in 0..tokens.len().saturating_sub(1) {
            let keyword = tokens[at].text;
            let name = tokens[at + 1];
            let opens_item = at == 0
                || matches!(tokens[at - 1].text, "{" | "}" | ";" | ")" | "]" | "pub" | "unsafe");
            if !opens_item {
                continue;
            }
            let declares = match keyword {
                "struct" | "enum" | "trait" | "union" => name.is_word(),
                "type" => name.is_word() && at >= associated_until,
                _ => false,
            };
            if declares {
                found.push(name.text.to_owned());
            }
            if matches!(keyword, "impl" | "trait") {
                associated_until = associated_until.max(end_of_block(&tokens, at));
            }
        }
        found
    }

    /// From 1.
    fn line_at(&self, at: usize) -> usize {
        1 + self.text.as_bytes()[..at].iter().filter(|b| **b == b'\n').count()
    }
}

/// As [`end_of_item`], over the commas of bounds and generics.
fn end_of_block(tokens: &[Token<'_>], start: usize) -> usize {
    let open = (start..tokens.len()).find(|at| tokens[*at].text == "{");
    open.map_or(tokens.len(), |open| closing(tokens, open))
}

/// Spaces for the bytes that are not kept; line breaks stay.
fn blank_unless(text: &str, keep: impl Fn(usize) -> bool) -> String {
    let bytes = text.bytes().enumerate();
    let kept = bytes.map(|(at, byte)| if byte == b'\n' || keep(at) { byte } else { b' ' });
    String::from_utf8_lossy(&kept.collect::<Vec<u8>>()).into_owned()
}

/// Start and end of every item behind `#[cfg(test)]` or `#![cfg(test)]`, and the name of a module
/// in another file.
fn test_items(code: &str) -> Vec<(usize, usize, Option<String>)> {
    let tokens = tokens(code);
    let mut found = Vec::new();
    let mut at = 0;
    while at + 3 < tokens.len() {
        let Some(mut start) = end_of_test_mark(&tokens, at) else {
            at += 1;
            continue;
        };
        while tokens[start].text == "#" {
            start = closing(&tokens, start + 1) + 1;
        }
        let end = end_of_item(&tokens, start);
        let module = (start..end).find(|at| tokens[*at].text == "mod");
        let module = module.filter(|_| tokens[end].text == ";");
        let module = module.map(|at| tokens[at + 1].text.to_owned());
        found.push((tokens[at].at, tokens[end].at + 1, module));
        at = end + 1;
    }
    found
}

/// The token behind `#[cfg(test)]` or `#[cfg(all(test, …))]`, if that is at `at`.
fn end_of_test_mark(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let opening = ["#", "[", "cfg", "("];
    let is_cfg = opening.iter().zip(&tokens[at..]).all(|(text, token)| *text == token.text);
    if !is_cfg {
        return None;
    }
    let end = closing(tokens, at + 1);
    let condition: Vec<&str> = tokens[at + 4..end].iter().map(|token| token.text).collect();
    let is_test = match condition.as_slice() {
        ["test", ")"] => true,
        ["all", "(", rest @ ..] => rest.contains(&"test") && !rest.contains(&"not"),
        _ => false,
    };
    is_test.then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> SourceFile {
        SourceFile::new("room/file.rs".to_owned(), text.to_owned())
    }

    #[test]
    fn every_line_has_one_kind() {
        let text = "//! Head.\n\nconst A: &str = \"\n  doc\n\";\nfn f() {} // end\n#[cfg(test)]\nmod tests {\n    fn g() {}\n}\n";
        let expected = LineCount { code: 3, doc_text: 1, comment: 1, blank: 1, test: 4 };
        assert_eq!(file(text).count_lines(), expected);
    }

    #[test]
    fn functions_are_measured_to_their_closing_brace() {
        let text =
            "fn a() -> [u8; 2] {\n    [0, 1]\n}\ntrait T { fn b(); }\n#[cfg(test)]\nfn c() {}\n";
        let found = file(text).functions();
        let expected = Function { name: "a".to_owned(), line: 1, lines: 3 };
        assert_eq!(found, [expected]);
    }

    #[test]
    fn associated_types_have_no_name_of_their_own() {
        let text = "type A = u8;\nimpl Iterator for B { type Item = u8; }\npub(crate) struct B;\n\
                    trait C { type D; }\nenum E {}\n#[cfg(test)]\nmod tests { struct F; }\n";
        assert_eq!(file(text).type_names(), ["A", "B", "C", "E"]);
    }

    #[test]
    fn a_module_behind_cfg_test_is_a_test() {
        let file = file(
            "#[cfg(test)]\nmod testing;\n#[cfg(all(test, unix))]\nuse a::{b, c};\nfn f() {}\n",
        );
        assert_eq!(file.test_modules(), ["room::file::testing"]);
        assert_eq!(file.count_lines().code, 1);
    }
}
