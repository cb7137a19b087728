//! The first page: all runs, their trend, two runs to compare, and the records of the run log.

use evalrig_core::model::Outcome;
use evalrig_core::stats::percent;

use super::ServedRepository;
use super::answer::{Answer, scriptless};
use super::markup::{Markup, document, encoded};
use super::run_index::{ListedRun, RunListing};
use super::trend::trends;
use crate::clock::unix_milliseconds;
use crate::report::html::page_style;
use crate::results::{Completion, ResultsOverview};
use crate::runlog::{LoggedVerdict, Record, Store};
use crate::text::numbers;

/// What these pages have besides the style of the page of a run.
pub(super) const STYLE: &str = include_str!("view.css");

/// Marks in the history of a record.
const MOST_MARKS: usize = 20;

pub(super) fn overview_page(served: &ServedRepository) -> Answer {
    let listing = served.runs.list();
    let mut body = Markup::default();
    let name = served.root.file_name().unwrap_or("evalrig");
    body.raw("<header class=\"top\"><div>").element("h1", "", name);
    body.element("p", "muted mono", served.runs.place().as_str()).raw("</div></header>\n<main>\n");
    match listing {
        Ok(listing) => add_runs(&mut body, &listing),
        Err(error) => {
            body.element("p", "notice", &format!("The runs cannot be listed: {error}"));
        }
    }
    add_records(&mut body, served);
    body.raw("</main>\n");
    let style = page_style();
    let styles = [style.as_str(), STYLE];
    scriptless(document(&format!("{name} – evalrig"), &styles, &body), &styles)
}

fn add_runs(body: &mut Markup, listing: &RunListing) {
    let runs = &listing.runs;
    if runs.is_empty() {
        body.raw("<p class=\"notice\">There are no runs yet. Start one with <code>evalrig run</code>.</p>\n");
        return;
    }
    let trends = trends(runs);
    body.raw("<section class=\"trends\" aria-label=\"Pass rate over runs\">").add(&trends);
    body.raw(
        "</section>\n<form action=\"/compare\" method=\"get\">\n<section class=\"card list\">\n",
    );
    body.raw("<div class=\"bar\"><h2>Runs</h2>");
    if runs.len() > 1 {
        body.raw(
            "<button class=\"plain\" type=\"submit\">Compare the two that are chosen</button>",
        );
    }
    body.raw("</div>\n<div class=\"wide\"><table>\n<thead><tr>");
    let titles = [
        "Started",
        "Suites",
        "Target",
        "Result",
        "Pass rate",
        "Flaky",
        "Cost",
        "Time",
        "Base",
        "New",
    ];
    for title in &titles[..if runs.len() > 1 { titles.len() } else { titles.len() - 2 }] {
        body.element("th", "", title);
    }
    body.raw("</tr></thead>\n<tbody>\n");
    for (at, run) in runs.iter().enumerate() {
        body.raw("<tr>");
        add_run(body, run);
        if runs.len() > 1 {
            // At first, the newest run beside the one before it.
            add_choice(body, "base", run, at == 1);
            add_choice(body, "candidate", run, at == 0);
        }
        body.raw("</tr>\n");
    }
    body.raw("</tbody>\n</table></div>\n");
    if listing.unread > 0 {
        let files = numbers::counted(listing.unread as u64, "older file is", "older files are");
        body.element("p", "muted rest", &format!("{files} not listed."));
    }
    body.raw("</section>\n</form>\n");
}

fn add_run(body: &mut Markup, run: &ListedRun) {
    let address = format!("/runs/{}/", encoded(&run.id));
    body.raw("<td class=\"when\">").link(&address, &shown_time(&run.when)).raw("</td>");
    let overview = match &run.overview {
        Ok(overview) => overview,
        Err(reason) => {
            body.raw("<td colspan=\"7\">").text(reason).raw("</td>");
            return;
        }
    };
    let joined = |names: &std::collections::BTreeSet<String>| {
        names.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
    };
    body.element("td", "", &joined(&overview.suites));
    body.element("td", "", &joined(&overview.targets));
    let (word, tone) = verdict(run, overview);
    body.raw("<td><span class=\"word ").raw(tone).raw("\">").text(word).raw("</span>");
    if let Some(gaps) = overview.gaps.as_ref().filter(|_| !run.is_running) {
        body.raw(" ").element("span", "muted", gaps);
    }
    body.raw("</td>");
    body.element("td", "number", &pass_rate(run, overview));
    body.element("td", "number", &flaky(overview));
    body.element("td", "number", &cost(overview));
    body.element("td", "number", &duration(overview).unwrap_or_default());
}

fn add_choice(body: &mut Markup, name: &'static str, run: &ListedRun, is_chosen: bool) {
    let label = if name == "base" { "Base: the run of " } else { "New: the run of " };
    body.raw("<td class=\"choice\"><input type=\"radio\" required").attribute("name", name);
    body.attribute("value", &run.id);
    body.attribute("aria-label", &format!("{label}{}", shown_time(&run.when)));
    body.raw(if is_chosen { " checked></td>" } else { "></td>" });
}

/// The word, and the class of its colour.
fn verdict(run: &ListedRun, overview: &ResultsOverview) -> (&'static str, &'static str) {
    let of = |outcome| overview.counts.of(outcome);
    if run.is_running {
        ("running", "added")
    } else if of(Outcome::Failed) + of(Outcome::Borderline) > 0 {
        ("failed", "failed")
    } else if of(Outcome::Errored) > 0
        || overview.gaps.is_some()
        || !matches!(run.completion(), None | Some(Completion::Complete | Completion::Settled))
    {
        ("incomplete", "errored")
    } else if overview.counts.judged() == 0 {
        ("no verdict", "skipped")
    } else {
        ("passed", "passed")
    }
}

fn pass_rate(run: &ListedRun, overview: &ResultsOverview) -> String {
    let (passes, judged) = (overview.counts.of(Outcome::Passed), overview.counts.judged());
    let progress = if run.is_running && overview.planned > 0 {
        format!(" ({} of {})", overview.counts.total(), overview.planned)
    } else {
        String::new()
    };
    if judged == 0 {
        return format!("–{progress}");
    }
    format!("{} %{progress}", percent(passes, judged))
}

fn flaky(overview: &ResultsOverview) -> String {
    match overview.flaky {
        0 => String::new(),
        flaky => format!("{flaky} of {}", overview.tests),
    }
}

fn cost(overview: &ResultsOverview) -> String {
    let cost = &overview.cost;
    match cost.whole() {
        _ if cost.reported == 0 => String::new(),
        Some(whole) => numbers::money(whole),
        None => format!("at least {}", numbers::money(cost.known)),
    }
}

fn duration(overview: &ResultsOverview) -> Option<String> {
    let [start, end] = [&overview.started, &overview.ended]
        .map(|time| time.as_deref().and_then(unix_milliseconds));
    let took = u64::try_from(end? - start?).ok()?;
    // Both times are whole seconds.
    Some(match took {
        0..1_000 => "under 1 s".to_owned(),
        1_000..60_000 => format!("{} s", took / 1_000),
        _ => numbers::duration(took),
    })
}

/// `2026-11-16 20:00:00`, UTC as everywhere in results.
pub(super) fn shown_time(time: &str) -> String {
    time.replacen('T', " ", 1).trim_end_matches('Z').to_owned()
}

fn add_records(body: &mut Markup, served: &ServedRepository) {
    let store = Store::of_root(&served.root);
    let Ok(mut listing) = store.list() else {
        body.raw("<p class=\"notice\">The run log cannot be read.</p>\n");
        return;
    };
    if listing.records.is_empty() && listing.unreadable.is_empty() {
        return;
    }
    listing.records.sort_by(|one, other| other.summary.updated().cmp(&one.summary.updated()));
    body.raw("<section class=\"card list\">\n<div class=\"bar\"><h2>Records</h2>");
    body.raw("<span class=\"muted mono\">.co/evals</span></div>\n");
    for error in &listing.unreadable {
        body.element("p", "notice", &served.secrets.redact(&error.to_string()));
    }
    body.raw("<div class=\"wide\"><table>\n<thead><tr>");
    for title in ["Record", "Updated", "Model", "Runs", "History, newest last"] {
        body.element("th", "", title);
    }
    body.raw("</tr></thead>\n<tbody>\n");
    for record in &listing.records {
        let address = format!("/records/{}", encoded(&record.name));
        let summary = &record.summary;
        body.raw("<tr><td>").link(&address, &served.secrets.redact(&record.name)).raw("</td>");
        body.element("td", "", summary.updated().unwrap_or_default());
        body.element("td", "", &served.secrets.redact(summary.model().unwrap_or_default()));
        let runs = store.run_count(record).unwrap_or_else(|_| summary.highest_run());
        body.element("td", "number", &runs.to_string());
        body.raw("<td>");
        add_history(body, record);
        body.raw("</td></tr>\n");
    }
    body.raw("</tbody>\n</table></div>\n</section>\n");
}

/// The verdicts of the last turn, oldest first.
pub(super) fn add_history(body: &mut Markup, record: &Record) {
    let Some(turn) = record.summary.turns.last() else { return };
    let mut verdicts: Vec<LoggedVerdict> =
        turn.entries().take(MOST_MARKS).map(|entry| entry.verdict()).collect();
    verdicts.reverse();
    body.raw("<span class=\"marks\">");
    for verdict in verdicts {
        let (word, tone) = verdict_words(verdict);
        body.raw("<span class=\"").raw(tone).raw("\"").attribute("title", word);
        body.raw(if verdict == LoggedVerdict::Pass { ">●</span>" } else { ">○</span>" });
    }
    body.raw("</span>");
}

/// The word, and the class of its colour.
pub(super) fn verdict_words(verdict: LoggedVerdict) -> (&'static str, &'static str) {
    match verdict {
        LoggedVerdict::Pass => ("pass", "passed"),
        LoggedVerdict::Borderline => ("borderline", "borderline"),
        LoggedVerdict::Fail => ("fail", "failed"),
        LoggedVerdict::Error => ("error", "errored"),
        LoggedVerdict::Ungraded => ("not graded", "skipped"),
    }
}
