//! What stored results lack: cases without a row, shards that are not there, lines that are damaged.
//! The headers of the files say what there should be.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::secrets::Secrets;

use super::read::DamagedLine;
use super::row::CaseKey;
use super::run_header::{Completion, RunHeader};
use super::scan::Section;

/// Cases that are kept by name; the rest is counted.
const NAMED: usize = 10_000;
/// Cases, shards and lines in a sentence.
const TOLD: usize = 10;

/// What is missing or damaged. Nothing: the results are complete, as far as is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gaps {
    /// Planned cases of the files that name them.
    pub planned: u64,
    /// Cases without a row, in the order of the plan; at most 10,000 of them.
    pub missing: Vec<MissingCase>,
    /// How many there are.
    pub missing_count: u64,
    /// Shards without a file, as `I/N`.
    pub shards: Vec<String>,
    pub damaged: Vec<DamagedLine>,
    /// What else is wrong, in words, with the file.
    pub faults: Vec<String>,
    /// Why cases have no row, if it is known.
    pub reason: Option<String>,
    /// The results that can be resumed, if that would help.
    pub resumable: Option<Utf8PathBuf>,
    /// Files of older versions, which have no header: what they lack is unknown.
    pub without_plan: Vec<Utf8PathBuf>,
}

/// A planned case without a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingCase {
    pub suite: String,
    /// Relative to the repository root.
    pub file: String,
    pub test: String,
    /// Unknown for tests of a shard that is missing: how often and where they run is in its header.
    pub target: Option<String>,
    /// From 1; 0 if it is unknown.
    pub trial: u32,
}

impl MissingCase {
    /// With its target and trial where they are needed to tell cases apart.
    pub fn name(&self) -> String {
        match (&self.target, self.trial) {
            (None, _) => self.test.clone(),
            (Some(target), trial) if trial > 1 => {
                format!("{} [{target}, trial {trial}]", self.test)
            }
            (Some(target), _) => format!("{} [{target}]", self.test),
        }
    }
}

impl Gaps {
    pub fn is_empty(&self) -> bool {
        self.missing_count == 0
            && self.shards.is_empty()
            && self.damaged.is_empty()
            && self.faults.is_empty()
    }

    /// Everything that is missing, a sentence each, without a period.
    pub fn sentences(&self) -> Vec<String> {
        let mut said = Vec::new();
        said.extend(self.missing_sentence());
        if !self.shards.is_empty() {
            let verb = if self.shards.len() == 1 { "shard is" } else { "shards are" };
            said.push(format!(
                "{verb} missing: {}",
                listed(&self.shards, self.shards.len() as u64)
            ));
        }
        let lines = self.damaged.iter().take(TOLD);
        said.extend(lines.map(|one| format!("{}:{}: {}", one.file, one.line, one.reason)));
        if let more @ 1.. = self.damaged.len().saturating_sub(TOLD) {
            said.push(format!("{more} more lines are damaged"));
        }
        said.extend(self.faults.iter().cloned());
        said
    }

    /// `16 of 20 cases have no row`.
    pub fn count_text(&self) -> Option<String> {
        let cases = if self.planned == 1 { "case" } else { "cases" };
        let verb = if self.missing_count == 1 { "has" } else { "have" };
        (self.missing_count > 0)
            .then(|| format!("{} of {} {cases} {verb} no row", self.missing_count, self.planned))
    }

    /// The shortest text that says why the results cannot be trusted to be whole.
    pub fn headline(&self) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        let damaged = self.damaged.len();
        let lines = if damaged == 1 { "line is" } else { "lines are" };
        self.count_text()
            .or_else(|| (damaged > 0).then(|| format!("{damaged} {lines} damaged")))
            .or_else(|| Some("the results are incomplete".to_owned()))
    }

    fn missing_sentence(&self) -> Option<String> {
        let count = self.count_text()?;
        let targets: BTreeSet<_> = self.missing.iter().map(|case| &case.target).collect();
        let is_single = targets.len() <= 1 && self.missing.iter().all(|case| case.trial <= 1);
        let name = |case: &MissingCase| if is_single { case.test.clone() } else { case.name() };
        let names: Vec<String> = self.missing.iter().take(TOLD).map(name).collect();
        let resume = self
            .resumable
            .as_ref()
            .map(|file| format!("continue it with `evalrig run --resume={file}`"));
        let why: Vec<String> = self.reason.iter().cloned().chain(resume).collect();
        let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join("; ")) };
        if names.is_empty() {
            return Some(format!("{count}{why}"));
        }
        Some(format!("{count}: {}{why}", listed(&names, self.missing_count)))
    }

    /// Without the cases, which results made from these lack too.
    #[must_use]
    pub(crate) fn without_missing(&self) -> Self {
        let (shards, damaged) = (self.shards.clone(), self.damaged.clone());
        Self { shards, damaged, faults: self.faults.clone(), ..Self::default() }
    }

    /// Adds something that is wrong and has no place of its own.
    pub fn add_fault(&mut self, text: String) {
        self.faults.push(text);
    }

    /// Adds what other results lack.
    pub fn absorb(&mut self, other: Self) {
        self.planned += other.planned;
        self.missing_count += other.missing_count;
        self.missing.extend(other.missing);
        self.missing.truncate(NAMED);
        self.shards.extend(other.shards);
        self.damaged.extend(other.damaged);
        self.faults.extend(other.faults);
        self.reason = self.reason.take().or(other.reason);
        self.resumable = self.resumable.take().or(other.resumable);
        self.without_plan.extend(other.without_plan);
    }

    /// Paths as they are to be shown.
    #[must_use]
    pub fn with_paths(mut self, shown: impl Fn(&Utf8Path) -> Utf8PathBuf) -> Self {
        for damaged in &mut self.damaged {
            damaged.file = shown(&damaged.file);
        }
        let files = self.without_plan.iter_mut().chain(&mut self.resumable);
        files.for_each(|file| *file = shown(file));
        self
    }

    /// Without the secrets that names in a file from elsewhere may contain.
    pub(super) fn redacted(mut self, secrets: &Secrets) -> Self {
        if secrets.is_empty() {
            return self;
        }
        for case in &mut self.missing {
            for text in [&mut case.suite, &mut case.file, &mut case.test] {
                secrets.redact_in_place(text);
            }
        }
        self.faults.iter_mut().chain(&mut self.reason).for_each(|text| {
            secrets.redact_in_place(text);
        });
        self
    }

    /// One note on files that do not say what was planned.
    pub fn unknown_note(&self) -> Option<String> {
        let first = self.without_plan.first()?;
        let (files, verb) = match self.without_plan.len() {
            1 => (format!("`{first}`"), "does"),
            count => (format!("`{first}` and {} more", count - 1), "do"),
        };
        Some(format!(
            "{files} {verb} not say which cases were planned (written by an older version): \
             missing rows cannot be detected"
        ))
    }

    /// Adds what the sections of a file lack.
    pub(super) fn add_file(
        &mut self,
        path: &Utf8Path,
        shown: &Utf8Path,
        sections: &[Section],
        seen: &mut SeenPlans,
    ) {
        let is_older = |section: &Section| section.header.is_none() && section.has_plain_rows;
        if !sections.is_empty() && sections.iter().all(is_older) {
            self.without_plan.push(path.to_owned());
        }
        for section in sections {
            self.add_section(path, shown, section, seen);
            if let Some(header) = section.header.as_ref().filter(|_| !section.is_continued) {
                let rounds = section.end.as_ref().and_then(|end| {
                    let is_settled = end.completion == Completion::Settled;
                    end.rounds.as_ref().filter(|_| is_settled)
                });
                match rounds {
                    Some(rounds) => seen.add(&header.up_to_trial(rounds.rounds)),
                    None => seen.add(header),
                }
            }
        }
    }

    fn add_section(
        &mut self,
        path: &Utf8Path,
        shown: &Utf8Path,
        section: &Section,
        seen: &mut SeenPlans,
    ) {
        // The plan below has its cases, and names those without a row.
        if section.is_continued {
            return;
        }
        // A damaged header has its own message.
        let is_header_damaged = section.damaged.first().is_some_and(|one| one.line == 1);
        if section.lacks_header() && !is_header_damaged {
            self.faults.push(format!(
                "{shown}: the header is missing, so the file was cut; which other rows are missing is unknown"
            ));
        }
        let known = section.end.as_ref().map_or(0, |end| end.damaged);
        let is_replaced = section.end.is_some() && section.damaged.len() as u64 <= known;
        if !is_replaced {
            self.damaged.extend(section.damaged.iter().cloned());
        }
        match &section.end {
            Some(end) => {
                let is_whole =
                    end.rows == section.rows.count && end.digest == section.rows.digest();
                // A damaged line has its own message.
                if !is_whole && (is_replaced || section.damaged.is_empty()) {
                    let (found, written) = (section.rows.count, end.rows);
                    self.faults.push(format!(
                        "{shown}: rows were changed after the run: {found} found, {written} written"
                    ));
                }
                match end.completion {
                    Completion::Complete | Completion::Limited | Completion::Settled => {}
                    Completion::Interrupted => self.explain("the run was interrupted", path),
                    Completion::WriteError => self.explain("results could not be written", path),
                    Completion::Incomplete => {
                        self.reason.get_or_insert_with(|| "the run was incomplete".to_owned());
                    }
                }
            }
            None if section.header.is_some() => {
                self.explain("the run did not finish", path);
                seen.unfinished.push(shown.to_owned());
            }
            None => {}
        }
    }

    fn explain(&mut self, reason: &str, path: &Utf8Path) {
        self.reason.get_or_insert_with(|| reason.to_owned());
        self.resumable.get_or_insert_with(|| path.to_owned());
    }

    /// Adds what the plans have and the rows do not.
    pub(super) fn add_missing(&mut self, seen: &SeenPlans, has_row: impl Fn(&CaseKey) -> bool) {
        for header in &seen.headers {
            self.planned += header.cases;
            for suite in &header.suites {
                let file = suite.file.as_str();
                for key in suite.keys().filter(|key| !has_row(key)) {
                    self.add_case(|| MissingCase {
                        suite: key.suite,
                        file: file.to_owned(),
                        test: key.test,
                        target: Some(key.target),
                        trial: key.trial,
                    });
                }
            }
        }
        for (plan, shards) in &seen.shards {
            self.add_missing_shards(plan, shards, seen);
        }
        // Otherwise it is the reason why cases are missing.
        if self.missing_count == 0 || seen.unfinished.len() > 1 {
            for file in &seen.unfinished {
                self.faults.push(format!(
                    "{file}: the run did not finish; complete it with `evalrig run --resume={file}`"
                ));
            }
        }
    }

    fn add_missing_shards(&mut self, plan: &str, shards: &Shards, seen: &SeenPlans) {
        let missing: Vec<u64> =
            (1..=shards.count).filter(|index| !shards.found.contains(index)).collect();
        if missing.is_empty() {
            return;
        }
        self.shards.extend(missing.iter().map(|index| format!("{index}/{}", shards.count)));
        let headers = || seen.headers.iter().filter(|header| header.plan == plan);
        let mut known: HashSet<(String, String)> = HashSet::new();
        for key in headers().flat_map(RunHeader::keys) {
            known.insert((key.suite, key.test));
        }
        for suite in headers().flat_map(|header| &header.suites) {
            for test in &suite.other_shards {
                if known.insert((suite.name.clone(), test.clone())) {
                    self.planned += 1;
                    self.add_case(|| MissingCase {
                        suite: suite.name.clone(),
                        file: suite.file.clone(),
                        test: test.clone(),
                        target: None,
                        trial: 0,
                    });
                }
            }
        }
    }

    fn add_case(&mut self, case: impl FnOnce() -> MissingCase) {
        self.missing_count += 1;
        if self.missing.len() < NAMED {
            self.missing.push(case());
        }
    }
}

/// Up to ten names, and how many more there are.
fn listed(names: &[String], count: u64) -> String {
    let shown = names.len().min(TOLD);
    let text = names[..shown].join(", ");
    match count.saturating_sub(shown as u64) {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

/// The plans of several files. A plan that occurs twice, as when a file is named twice, counts once.
#[derive(Debug, Default)]
pub(super) struct SeenPlans {
    headers: Vec<RunHeader>,
    /// By plan.
    shards: BTreeMap<String, Shards>,
    /// Files without a last line, as they are shown.
    unfinished: Vec<Utf8PathBuf>,
}

#[derive(Debug, Default)]
struct Shards {
    count: u64,
    found: BTreeSet<u64>,
}

impl SeenPlans {
    /// Forgets that there are other shards.
    pub(super) fn ignore_shards(&mut self) {
        self.shards.clear();
    }

    /// Forgets trials after this one, which rounds did not need.
    pub(super) fn ignore_after(&mut self, last: u32) {
        for header in &mut self.headers {
            *header = header.up_to_trial(last);
        }
    }

    /// Forgets that files end without a last line.
    pub(super) fn ignore_unfinished(&mut self) {
        self.unfinished.clear();
    }

    /// Whether this shard is the only one.
    pub(super) fn is_only(&self, shard: &str) -> bool {
        self.headers.iter().all(|header| header.options.shard.as_deref() == Some(shard))
    }

    fn add(&mut self, header: &RunHeader) {
        let shard = header.options.shard.as_ref();
        let is_known = self
            .headers
            .iter()
            .any(|known| known.plan == header.plan && known.options.shard.as_ref() == shard);
        if let Some((index, count)) = shard.and_then(|text| shard_of(text)) {
            let shards = self.shards.entry(header.plan.clone()).or_default();
            shards.count = shards.count.max(count);
            shards.found.insert(index);
        }
        if !is_known {
            self.headers.push(header.clone());
        }
    }
}

/// More machines than this do not share a run.
const MOST_SHARDS: u64 = 100_000;

fn shard_of(text: &str) -> Option<(u64, u64)> {
    let (index, count) = text.split_once('/')?;
    let (index, count) = (index.parse().ok()?, count.parse().ok()?);
    (1 <= index && index <= count && count <= MOST_SHARDS).then_some((index, count))
}
