//! The page as a file: template, style, script, and everything the script knows as blocks of JSON.

use std::borrow::Borrow;
use std::fmt::Write as _;
use std::io::{self, Write};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::super::{ReportedRun, SuiteText};
use super::page_budget::PageBudget;
use super::page_mode::PageMode;
use super::page_test::PageTest;
use super::summary::SummaryPanel;
use super::{comparison, earlier};
use crate::results::{ExitRule, Row};
use crate::text;

pub const TEMPLATE: &str = include_str!("template.html");
/// One style sheet, in files by subject.
pub const STYLE: &str = concat!(
    include_str!("style/base.css"),
    include_str!("style/summary.css"),
    include_str!("style/plot.css"),
    include_str!("style/list.css"),
    include_str!("style/case.css"),
    include_str!("style/markdown.css"),
    include_str!("style/print.css"),
);
/// One script, in files by subject. Those that others build on come first, and only the last one acts.
pub const SCRIPT: &str = concat!(
    "\"use strict\";\n(() => {\n",
    include_str!("script/node.js"),
    include_str!("script/number.js"),
    include_str!("script/data.js"),
    include_str!("script/address.js"),
    include_str!("script/theme.js"),
    include_str!("script/copy.js"),
    include_str!("script/plot.js"),
    include_str!("script/history.js"),
    include_str!("script/pips.js"),
    include_str!("script/inline.js"),
    include_str!("script/markdown.js"),
    include_str!("script/text_block.js"),
    include_str!("script/list.js"),
    include_str!("script/bar.js"),
    include_str!("script/top.js"),
    include_str!("script/tests.js"),
    include_str!("script/tabs.js"),
    include_str!("script/panels.js"),
    include_str!("script/summary.js"),
    include_str!("script/verdict.js"),
    include_str!("script/rounds.js"),
    include_str!("script/arms.js"),
    include_str!("script/conversation.js"),
    include_str!("script/files.js"),
    include_str!("script/question.js"),
    include_str!("script/check.js"),
    include_str!("script/word_diff.js"),
    include_str!("script/before.js"),
    include_str!("script/labels.js"),
    include_str!("script/answer.js"),
    include_str!("script/case.js"),
    include_str!("script/live.js"),
    include_str!("script/print.js"),
    include_str!("script/start.js"),
    "})();\n",
);

/// Tests per block of details. The blocks come after the script, which reads one of them when a test
/// of it is opened, so that a page with many tests is there at once.
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

    /// With tests that pass as the exit code has it.
    #[must_use]
    pub fn judged_by(self, rule: ExitRule) -> Self {
        Self { summary: SummaryPanel::new(rule), ..self }
    }

    pub fn add(&mut self, row: &Row) {
        self.summary.add(row);
        self.cases.put(row, &self.text);
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
                "details" => self.write_details(end, out)?,
                _ => {}
            }
            out.write_all(rest.as_bytes())?;
        }
        out.flush()
    }

    /// What the script needs at once, as blocks of JSON.
    fn write_data(&self, end: &ReportedRun, out: &mut dyn Write) -> io::Result<()> {
        let run = self.summary.document(end, &self.cases.notes());
        write_block(out, "run", &inert_value(&run))?;
        if let Some(compared) = &end.compared {
            write_block(out, "compared", &comparison::block(compared))?;
        }
        if let Some(rounds) = &end.rounds {
            write_block(out, "rounds-data", &inert_value(&rounds.page()))?;
        }
        if let Some(labels) = &self.mode.labels {
            write_block(out, "labels", &inert_value(&Value::Array(labels.stored.clone())))?;
        }
        write_list(out, "tests", self.cases.tests().map(PageTest::line))
    }

    /// What it needs when a test is opened.
    fn write_details(&self, end: &ReportedRun, out: &mut dyn Write) -> io::Result<()> {
        if let Some(compared) = &end.compared {
            write_block(out, "earlier", &earlier::block(compared))?;
        }
        let mut tests = self.cases.tests().map(PageTest::details).peekable();
        for number in 0.. {
            if tests.peek().is_none() {
                break;
            }
            write_list(out, &format!("details-{number}"), tests.by_ref().take(BLOCK))?;
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

pub fn list<'a>(texts: impl Iterator<Item = &'a str>, between: &str) -> String {
    let mut out = "[".to_owned();
    for text in texts {
        if out.len() > 1 {
            out.push_str(between);
        }
        out.push_str(text);
    }
    out.push(']');
    out
}

/// One entry per line.
fn write_list(
    out: &mut dyn Write,
    id: &str,
    texts: impl Iterator<Item = String>,
) -> io::Result<()> {
    let texts: Vec<String> = texts.collect();
    write_block(out, id, &list(texts.iter().map(String::as_str), ",\n"))
}

fn write_block(out: &mut dyn Write, id: &str, json: &str) -> io::Result<()> {
    writeln!(out, r#"<script type="application/json" id="{id}">{json}</script>"#)
}
