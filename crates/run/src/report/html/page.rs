//! The page as a file: template, style, script, and everything the script knows as blocks of JSON.

use std::borrow::Borrow;
use std::fmt::Write as _;
use std::io::{self, Write};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::super::{ReportedRun, SuiteText};
use super::page_budget::{PageBudget, PageCase};
use super::page_mode::PageMode;
use super::summary::SummaryPanel;
use super::{case, comparison, earlier};
use crate::results::Row;
use crate::text;

pub const TEMPLATE: &str = include_str!("template.html");
pub const STYLE: &str = include_str!("report.css");
/// One script, in files by subject. Those that others build on come first, and only the last one acts.
pub const SCRIPT: &str = concat!(
    "\"use strict\";\n(() => {\n",
    include_str!("script/node.js"),
    include_str!("script/number.js"),
    include_str!("script/data.js"),
    include_str!("script/theme.js"),
    include_str!("script/summary.js"),
    include_str!("script/plot.js"),
    include_str!("script/history.js"),
    include_str!("script/list.js"),
    include_str!("script/bar.js"),
    include_str!("script/conversation.js"),
    include_str!("script/check.js"),
    include_str!("script/case.js"),
    include_str!("script/cases.js"),
    include_str!("script/comparison.js"),
    include_str!("script/start.js"),
    "})();\n",
);

/// Cases per block of details. The script reads a block when one of its cases is
/// opened, so that a page with many cases is there at once.
const BLOCK: usize = 50;

/// Writes the page of these rows.
pub fn render_page<R: Borrow<Row>>(
    rows: impl IntoIterator<Item = R>,
    end: &ReportedRun,
    text: &SuiteText,
    mode: &PageMode,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut page = Page::new(text.clone(), mode.clone());
    for row in rows {
        page.add(row.borrow());
    }
    page.write(end, out)
}

/// Rows as they will be in the page.
#[derive(Debug)]
pub struct Page {
    text: SuiteText,
    mode: PageMode,
    summary: SummaryPanel,
    cases: PageBudget,
}

impl Page {
    pub fn new(text: SuiteText, mode: PageMode) -> Self {
        Self { text, mode, summary: SummaryPanel::default(), cases: PageBudget::default() }
    }

    pub fn add(&mut self, row: &Row) {
        self.summary.add(row);
        self.cases.put(case::kept(row, &self.text));
    }

    pub fn write(&self, end: &ReportedRun, out: &mut dyn Write) -> io::Result<()> {
        let (style, script) = (without_returns(STYLE), without_returns(SCRIPT));
        // The template is taken apart before anything is put in, so that a text that looks like a
        // placeholder of it is not replaced.
        for part in TEMPLATE.split("{{") {
            let (hole, rest) = part.split_once("}}").unwrap_or(("", part));
            match hole {
                "policy" => out.write_all(policy(&style, &script, &self.mode).as_bytes())?,
                "mode" => out.write_all(self.mode.elements().as_bytes())?,
                "style" => out.write_all(style.as_bytes())?,
                "script" => out.write_all(script.as_bytes())?,
                "data" => self.write_data(end, out)?,
                _ => {}
            }
            out.write_all(rest.as_bytes())?;
        }
        out.flush()
    }

    /// Everything the script knows, as blocks of JSON.
    fn write_data(&self, end: &ReportedRun, out: &mut dyn Write) -> io::Result<()> {
        let run = self.summary.document(end, &self.cases.notes());
        write_block(out, "run", &inert_value(&run))?;
        if let Some(compared) = &end.compared {
            write_block(out, "compared", &comparison::block(compared))?;
            write_block(out, "earlier", &earlier::block(compared))?;
        }
        if let Some(labels) = &self.mode.labels {
            write_block(out, "labels", &inert_value(&Value::Array(labels.stored.clone())))?;
        }
        let cases = self.cases.cases();
        let lines = cases.iter().map(|case| case.line.as_str());
        write_block(out, "cases", &list(lines))?;
        for (number, block) in cases.chunks(BLOCK).enumerate() {
            let cases = block.iter().map(PageCase::document);
            let cases: Vec<String> = cases.collect();
            let text = list(cases.iter().map(String::as_str));
            write_block(out, &format!("details-{number}"), &text)?;
        }
        Ok(())
    }
}

/// Nothing may be loaded from anywhere, and of all scripts and styles only ours run: they are known
/// by their digests. A page that was served may also talk to its server.
pub fn policy(style: &str, script: &str, mode: &PageMode) -> String {
    let digest = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text.as_bytes()));
    let connect = if mode.connects() { " connect-src 'self';" } else { "" };
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}';{connect} base-uri \
         'none'; form-action 'none'",
        digest(style),
        digest(script)
    )
}

/// The policy of a page in this mode, for a server that sends it as a header too.
pub fn page_policy(mode: &PageMode) -> String {
    policy(&page_style(), &without_returns(SCRIPT), mode)
}

/// The style sheet, which other pages of a server share.
pub fn page_style() -> String {
    without_returns(STYLE)
}

/// Browsers drop them before they compute digests; a checkout on Windows may have them.
fn without_returns(text: &str) -> String {
    text.replace('\r', "")
}

/// JSON in which nothing can end or open an element, whatever the strings in it say. The signs can
/// occur in strings only, so the value stays the same.
pub fn inert(json: &str) -> String {
    let json = text::json(json);
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

pub fn inert_value(value: &Value) -> String {
    inert(&value.to_string())
}

pub fn list<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let mut out = "[".to_owned();
    for text in texts {
        if out.len() > 1 {
            out.push_str(",\n");
        }
        out.push_str(text);
    }
    out.push(']');
    out
}

fn write_block(out: &mut dyn Write, id: &str, json: &str) -> io::Result<()> {
    writeln!(out, r#"<script type="application/json" id="{id}">{json}</script>"#)
}
