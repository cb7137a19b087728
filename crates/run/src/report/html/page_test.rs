//! A test with its cases, as text that is ready to be written.

use super::super::SuiteText;
use super::case;
use super::check::CheckSpecs;
use super::page::list;
use super::page_budget::PageCase;
use crate::results::Row;

#[derive(Debug, Default)]
pub struct PageTest {
    /// Of the table, an object.
    line: String,
    source: String,
    /// See [`case::common`]; usually one.
    common: Vec<String>,
    specs: CheckSpecs,
    pub cases: Vec<PageCase>,
}

impl PageTest {
    pub fn of(row: &Row, text: &SuiteText) -> Self {
        Self {
            line: case::test_line(row),
            source: case::source(row, text),
            common: Vec::new(),
            specs: CheckSpecs::default(),
            cases: Vec::new(),
        }
    }

    /// The case of a row of this test; it is not added yet.
    pub fn make_case(&mut self, row: &Row, text: &SuiteText) -> PageCase {
        let common = case::common(row);
        let at = self.common.iter().position(|known| *known == common).unwrap_or_else(|| {
            self.common.push(common);
            self.common.len() - 1
        });
        case::kept(row, text, at, &mut self.specs)
    }

    /// How much room it takes without its cases.
    pub fn own_size(&self) -> usize {
        let of = |texts: &[String]| texts.iter().map(String::len).sum::<usize>();
        self.line.len() + self.source.len() + of(&self.common) + of(self.specs.list())
    }

    /// Its line of the table.
    pub fn line(&self) -> String {
        let cases = self.cases.iter().map(|case| case.line.as_str());
        format!("{},\"cases\":{}}}", open(&self.line), list(cases, ","))
    }

    /// Everything else.
    pub fn details(&self) -> String {
        let texts = |texts: &[String]| list(texts.iter().map(String::as_str), ",");
        let cases: Vec<String> = self.cases.iter().map(PageCase::document).collect();
        format!(
            "{{\"common\":{},\"specs\":{},\"source\":{},\"cases\":{}}}",
            texts(&self.common),
            texts(self.specs.list()),
            self.source,
            texts(&cases)
        )
    }

    /// Both, for a page that is open already.
    pub fn event(&self) -> String {
        format!("{},\"details\":{}}}", open(&self.line()), self.details())
    }
}

/// An object without its end.
fn open(object: &str) -> &str {
    object.strip_suffix('}').unwrap_or(object)
}
