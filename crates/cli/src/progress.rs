//! What a run shows while it works: bars on a terminal, few quiet lines elsewhere. Always on
//! standard error, so that standard output holds nothing but reports.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use evalrig_core::model::Outcome;
use evalrig_run::event::Event;
use evalrig_run::record::Row;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use evalrig_run::text;

/// Running cases that have a line of their own.
const LINES: usize = 8;

/// How often a line is printed where there is no terminal.
const EVERY: Duration = Duration::from_secs(10);

#[derive(Debug, Default, Clone)]
struct Counts {
    passed: u64,
    borderline: u64,
    failed: u64,
    errored: u64,
    skipped: u64,
    cost_usd: f64,
}

impl Counts {
    fn count(&mut self, row: &Row) {
        match row.outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Borderline => self.borderline += 1,
            Outcome::Failed => self.failed += 1,
            Outcome::Errored => self.errored += 1,
            Outcome::Skipped => self.skipped += 1,
        }
        let judged = row.judge_usage.and_then(|usage| usage.cost_usd);
        self.cost_usd += row.cost_usd.unwrap_or(0.0) + judged.unwrap_or(0.0);
    }

    /// Only what there is.
    fn sentence(&self) -> String {
        let words = [
            (self.passed, "passed"),
            (self.borderline, "borderline"),
            (self.failed, "failed"),
            (self.errored, "errored"),
            (self.skipped, "skipped"),
        ];
        let mut parts: Vec<String> = words
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        if self.cost_usd > 0.0 {
            parts.push(format!("{:.4} USD", self.cost_usd));
        }
        parts.join(", ")
    }
}

/// Hears events from all workers.
pub struct Progress(Mutex<Display>);

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Progress")
    }
}

enum Display {
    Silent,
    Bars(Bars),
    Lines(Lines),
}

impl Progress {
    pub fn new(cases: usize, is_quiet: bool) -> Self {
        let display = match (is_quiet, io::stderr().is_terminal()) {
            (true, _) => Display::Silent,
            (false, true) => Display::Bars(Bars::new(cases)),
            (false, false) => Display::Lines(Lines::new(cases)),
        };
        Self(Mutex::new(display))
    }

    pub fn hear(&self, event: &Event) {
        let mut display = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *display {
            Display::Silent => {}
            Display::Bars(bars) => bars.hear(event),
            Display::Lines(lines) => lines.hear(event),
        }
    }

    /// Leaves the terminal as it was.
    pub fn clear(&self) {
        let display = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Display::Bars(bars) = &*display {
            let _ = bars.all.clear();
        }
    }
}

/// One bar for the whole, and one line for each of the longest running cases.
struct Bars {
    all: MultiProgress,
    whole: ProgressBar,
    counts: Counts,
    running: BTreeMap<usize, Running>,
}

struct Running {
    label: Arc<str>,
    line: Option<ProgressBar>,
}

impl Bars {
    fn new(cases: usize) -> Self {
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(12));
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
            counts: Counts::default(),
            running: BTreeMap::new(),
        }
    }

    fn hear(&mut self, event: &Event) {
        match event {
            Event::Planned { finished, .. } => self.whole.inc(*finished as u64),
            Event::Started { case, label } => self.start(*case, label),
            Event::Retrying {
                case,
                reason,
                seconds,
            } => self.retry(*case, reason, *seconds),
            Event::Finished { case, row, .. } => self.finish(*case, row),
            Event::Warning(text) => {
                let _ = self
                    .all
                    .println(format!("warning: {}", text::single_line(text)));
            }
            Event::Stopping(reason) => {
                let _ = self
                    .all
                    .println(format!("stopping: {}", text::single_line(reason)));
            }
        }
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
        if let Some(Running {
            label,
            line: Some(line),
        }) = self.running.get(&case)
        {
            let told = format!("{label}: trying again in {seconds:.0} s: {reason}");
            line.set_message(text::single_line(&told));
        }
    }

    fn finish(&mut self, case: usize, row: &Row) {
        if let Some(Running {
            line: Some(line), ..
        }) = self.running.remove(&case)
        {
            line.finish_and_clear();
            self.all.remove(&line);
            // Whoever waited longest for a line of their own gets it.
            let next = self.running.iter().find(|(_, one)| one.line.is_none());
            if let Some((waiting, label)) = next.map(|(at, one)| (*at, Arc::clone(&one.label))) {
                let line = self.line(&label);
                if let Some(one) = self.running.get_mut(&waiting) {
                    one.line = Some(line);
                }
            }
        }
        self.counts.count(row);
        self.whole.set_message(self.counts.sentence());
        self.whole.inc(1);
    }
}

/// For logs: a line now and then.
struct Lines {
    cases: usize,
    done: usize,
    counts: Counts,
    last: Instant,
}

impl Lines {
    fn new(cases: usize) -> Self {
        Self {
            cases,
            done: 0,
            counts: Counts::default(),
            last: Instant::now(),
        }
    }

    fn hear(&mut self, event: &Event) {
        match event {
            Event::Planned { finished, .. } => self.done += finished,
            Event::Finished { row, .. } => {
                self.done += 1;
                self.counts.count(row);
                if self.last.elapsed() >= EVERY && self.done < self.cases {
                    self.last = Instant::now();
                    let (done, cases) = (self.done, self.cases);
                    say(&format!("{done}/{cases}: {}", self.counts.sentence()));
                }
            }
            Event::Retrying {
                reason, seconds, ..
            } => say(&format!("trying again in {seconds:.0} s: {reason}")),
            Event::Warning(text) => say(&format!("warning: {text}")),
            Event::Stopping(reason) => say(&format!("stopping: {reason}")),
            Event::Started { .. } => {}
        }
    }
}

fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{}", text::single_line(text));
}
