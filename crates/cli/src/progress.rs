//! The progress of a run: bars on a terminal, occasional lines elsewhere. Printed to standard error,
//! so that standard output contains only reports.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use evalrig_core::model::Outcome;
use evalrig_run::event::Event;
use evalrig_run::results::{Row, RunTotals};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use evalrig_run::text;

use crate::output::{self, print_status};

/// At most this many running cases have their own line.
const LINES: usize = 8;

/// The same for workers.
const WORKER_LINES: usize = 16;

/// Interval between lines without a terminal.
const EVERY: Duration = Duration::from_secs(10);

/// `12 passed, 1 failed, 0.0400 USD`, without zeros.
fn totals_text(totals: &RunTotals) -> String {
    let mut parts: Vec<String> = Outcome::ALL
        .iter()
        .map(|outcome| (totals.counts.of(*outcome), outcome.word()))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    let cost = totals.known_cost_usd();
    if cost > 0.0 {
        parts.push(format!("{cost:.4} USD"));
    }
    parts.join(", ")
}

/// Receives the events of all workers.
pub struct Progress(Mutex<Display>);

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Progress")
    }
}

enum Display {
    Silent,
    /// Bars, once the number of cases is known.
    Planned,
    Bars(Bars),
    Lines(Lines),
}

impl Progress {
    pub fn new(is_quiet: bool) -> Self {
        let display = match (is_quiet, output::stderr_kind().is_terminal) {
            (true, _) => Display::Silent,
            (false, true) => Display::Planned,
            (false, false) => Display::Lines(Lines::new()),
        };
        Self(Mutex::new(display))
    }

    pub fn hear(&self, event: &Event) {
        let mut display = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Display::Planned, Event::Planned { cases, .. }) = (&*display, event) {
            *display = Display::Bars(Bars::new(*cases));
        }
        match &mut *display {
            Display::Silent | Display::Planned => {}
            Display::Bars(bars) => bars.hear(event),
            Display::Lines(lines) => lines.hear(event),
        }
    }

    /// Removes the bars from the terminal.
    pub fn clear(&self) {
        let display = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Display::Bars(bars) = &*display {
            let _ = bars.all.clear();
        }
    }
}

/// One bar for the run, and one line for each of the longest running cases.
struct Bars {
    all: MultiProgress,
    whole: ProgressBar,
    totals: RunTotals,
    running: BTreeMap<usize, Running>,
    /// The workers of a queue. Those beyond the first have no line.
    workers: BTreeMap<Arc<str>, Option<ProgressBar>>,
    /// `and 4 more workers`.
    more_workers: Option<ProgressBar>,
}

struct Running {
    label: Arc<str>,
    line: Option<ProgressBar>,
}

impl Bars {
    fn new(cases: usize) -> Self {
        let all = MultiProgress::with_draw_target(output::progress_target());
        let whole = all.add(ProgressBar::new(cases as u64));
        if let Ok(style) =
            ProgressStyle::with_template("{bar:28.green/dim} {pos}/{len}  {msg}  {elapsed:.dim}")
        {
            whole.set_style(style.progress_chars("━╸─"));
        }
        whole.enable_steady_tick(Duration::from_millis(200));
        Self {
            all,
            whole,
            totals: RunTotals::default(),
            running: BTreeMap::new(),
            workers: BTreeMap::new(),
            more_workers: None,
        }
    }

    fn hear(&mut self, event: &Event) {
        match event {
            Event::Planned { finished, .. } => self.whole.inc(*finished as u64),
            Event::Started { case, label } => self.start(*case, label),
            Event::Retrying { case, reason, seconds } => self.retry(*case, reason, *seconds),
            Event::Finished { case, row } => self.finish(*case, row),
            Event::StopRequested => {}
            Event::Worker { name, text } => self.worker(name, text.as_deref()),
            Event::Warning(text) => {
                let _ = self.all.println(format!("warning: {}", text::single_line(text)));
            }
            Event::Stopping(reason) => {
                let _ = self.all.println(format!("stopping: {}", text::single_line(reason)));
            }
        }
    }

    fn worker(&mut self, name: &Arc<str>, text: Option<&str>) {
        let lines = |bars: &Self| bars.workers.values().flatten().count();
        if let Some(text) = text {
            let label = text::single_line(&format!("{name}: {text}"));
            let has_line = lines(self) < WORKER_LINES;
            match self.workers.get(name) {
                Some(Some(line)) => line.set_message(label),
                // It gets one that became free.
                Some(None) | None => {
                    let line = has_line.then(|| self.line(&label));
                    self.workers.insert(Arc::clone(name), line);
                }
            }
        } else if let Some(Some(line)) = self.workers.remove(name) {
            self.remove_line(&line);
        }
        let more = self.workers.len() - lines(self);
        self.show_more_workers(more);
    }

    fn show_more_workers(&mut self, more: usize) {
        if more == 0 {
            if let Some(line) = self.more_workers.take() {
                self.remove_line(&line);
            }
            return;
        }
        let label = format!("and {}", text::numbers::counted_noun(more, "more worker"));
        match &self.more_workers {
            Some(line) => line.set_message(label),
            None => self.more_workers = Some(self.line(&label)),
        }
    }

    fn remove_line(&self, line: &ProgressBar) {
        line.finish_and_clear();
        self.all.remove(line);
    }

    fn start(&mut self, case: usize, label: &Arc<str>) {
        let lines = self.running.values().filter(|one| one.line.is_some());
        let line = (lines.count() < LINES).then(|| self.line(label));
        let label = Arc::clone(label);
        self.running.insert(case, Running { label, line });
    }

    fn line(&self, label: &str) -> ProgressBar {
        let line = self.all.add(ProgressBar::new_spinner());
        if let Ok(style) = ProgressStyle::with_template("  {spinner:.cyan} {msg} {elapsed:.dim}") {
            line.set_style(style);
        }
        line.set_message(text::single_line(label));
        line.enable_steady_tick(Duration::from_millis(200));
        line
    }

    fn retry(&mut self, case: usize, reason: &str, seconds: f64) {
        if let Some(Running { label, line: Some(line) }) = self.running.get(&case) {
            let message = format!("{label}: retrying in {seconds:.0} s: {reason}");
            line.set_message(text::single_line(&message));
        }
    }

    fn finish(&mut self, case: usize, row: &Row) {
        if let Some(Running { line: Some(line), .. }) = self.running.remove(&case) {
            self.remove_line(&line);
            // The line goes to the case that has waited longest for one.
            let next = self.running.iter().find(|(_, one)| one.line.is_none());
            if let Some((waiting, label)) = next.map(|(at, one)| (*at, Arc::clone(&one.label))) {
                let line = self.line(&label);
                if let Some(one) = self.running.get_mut(&waiting) {
                    one.line = Some(line);
                }
            }
        }
        self.totals.add(row);
        self.whole.set_message(totals_text(&self.totals));
        self.whole.inc(1);
    }
}

/// For logs: a line every ten seconds.
struct Lines {
    cases: usize,
    done: usize,
    totals: RunTotals,
    last: Instant,
}

impl Lines {
    fn new() -> Self {
        Self { cases: 0, done: 0, totals: RunTotals::default(), last: Instant::now() }
    }

    fn hear(&mut self, event: &Event) {
        match event {
            Event::Planned { cases, finished } => {
                self.cases = *cases;
                self.done += finished;
            }
            Event::Finished { row, .. } => {
                self.done += 1;
                self.totals.add(row);
                if self.last.elapsed() >= EVERY && self.done < self.cases {
                    self.last = Instant::now();
                    let (done, cases) = (self.done, self.cases);
                    print_status(&format!("{done}/{cases}: {}", totals_text(&self.totals)));
                }
            }
            Event::Retrying { reason, seconds, .. } => {
                print_status(&format!("retrying in {seconds:.0} s: {reason}"))
            }
            Event::Warning(text) => print_status(&format!("warning: {text}")),
            Event::Stopping(reason) => print_status(&format!("stopping: {reason}")),
            Event::Started { .. } | Event::Worker { .. } | Event::StopRequested => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_without_a_line_are_counted_and_get_one_that_becomes_free() {
        let mut bars = Bars::new(1);
        let more = |bars: &Bars| bars.more_workers.as_ref().map(ProgressBar::message);
        let name = |number: usize| -> Arc<str> { format!("w{number:02}").into() };
        for number in 0..WORKER_LINES {
            bars.worker(&name(number), Some("1 of 4 running"));
        }
        assert_eq!(more(&bars), None);
        bars.worker(&name(20), Some("idle"));
        assert_eq!(more(&bars).as_deref(), Some("and 1 more worker"));
        bars.worker(&name(21), Some("idle"));
        assert_eq!(more(&bars).as_deref(), Some("and 2 more workers"));
        bars.worker(&name(3), None);
        bars.worker(&name(21), Some("busy"));
        assert_eq!(more(&bars).as_deref(), Some("and 1 more worker"));
        bars.worker(&name(20), None);
        assert_eq!(more(&bars), None);
    }
}
