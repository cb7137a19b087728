//! The rows of one results file or several, each case once, or once per run: of several rows of a case,
//! as a resumed run may leave them, the last one counts. Memory is bounded by the longest line and the number of
//! cases, never by the answers.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use evalrig_core::secrets::Secrets;

use super::error::ReadError;
use super::gaps::{Gaps, SeenPlans};
use super::read::{DamagedLine, Finished, LineReader, read_row};
use super::redact::redact_stored_row;
use super::round_record::{RoundRecord, RoundSettings};
use super::row::{CaseKey, Row};
use super::run_header::{RunEnd, RunHeader};
use super::scan::{Section, scan_results};

/// Where a row is: the number of its file, and the offset there.
type RowPlace = (usize, u64);

/// Every case of a results file with what its last row says.
pub fn read_finished(results: &Utf8Path) -> Result<HashMap<CaseKey, Finished>, ReadError> {
    let mut found = HashMap::new();
    scan_results(results, |_, key, finished| {
        found.insert(key, finished);
    })?
    .known(results)?;
    Ok(found)
}

/// What becomes of the rows of a case that are not the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repeated {
    Replaced,
    /// The last one of each run counts.
    OfEachRun,
}

/// The rows in order. Damaged lines are passed over; [`Rows::gaps`] lists them.
#[derive(Debug)]
pub struct Rows {
    paths: Vec<Utf8PathBuf>,
    sections: Vec<Vec<Section>>,
    /// Of each case, the row that counts.
    last: HashMap<CaseKey, (RowPlace, Finished)>,
    counted: HashSet<RowPlace>,
    /// Cases with rows in more than one file.
    repeated: u64,
    is_foreign: bool,
    /// Whether a case counts for more than one run.
    has_several_runs: bool,
    /// The file that is being read, and the rest of them.
    current: Option<(usize, LineReader)>,
    next_file: usize,
    /// Lines that only a closer look found to be damaged.
    damaged: Vec<DamagedLine>,
    damaged_places: HashSet<RowPlace>,
    is_over: bool,
    /// What rows and gaps are shown without.
    secrets: Arc<Secrets>,
}

impl Rows {
    /// Reads the file once to see which rows count; iterating reads it again.
    pub fn open(results: &Utf8Path) -> Result<Self, ReadError> {
        Self::open_all(&[results.to_owned()])
    }

    /// The rows of several files that belong together, such as those of shards.
    pub fn open_all(paths: &[Utf8PathBuf]) -> Result<Self, ReadError> {
        Self::open_with(paths, Repeated::Replaced)
    }

    /// As [`Rows::open_all`], but a case that several runs have counts once for each of them. A resumed
    /// run keeps its id.
    pub fn open_by_run(paths: &[Utf8PathBuf]) -> Result<Self, ReadError> {
        Self::open_with(paths, Repeated::OfEachRun)
    }

    fn open_with(paths: &[Utf8PathBuf], rule: Repeated) -> Result<Self, ReadError> {
        let mut last: HashMap<CaseKey, (RowPlace, Finished)> = HashMap::new();
        let mut others: HashMap<(Option<u64>, CaseKey), RowPlace> = HashMap::new();
        let mut sections = Vec::with_capacity(paths.len());
        let (mut repeated, mut is_foreign) = (0, false);
        for (number, path) in paths.iter().enumerate() {
            let scanned = scan_results(path, |extent, key, row| {
                let (at, run) = ((number, extent.offset), row.run_digest);
                let mut known = match last.entry(key) {
                    Entry::Occupied(known) => known,
                    Entry::Vacant(new) => {
                        new.insert((at, row));
                        return;
                    }
                };
                let (place, before) = known.insert((at, row));
                repeated += u64::from(place.0 != number);
                if rule == Repeated::OfEachRun && before.run_digest != run {
                    others.remove(&(run, known.key().clone()));
                    others.insert((before.run_digest, known.key().clone()), place);
                }
            })?;
            let scanned = scanned.resumable(path)?;
            is_foreign |= scanned.is_foreign;
            sections.push(scanned.sections);
        }
        Ok(Self {
            paths: paths.to_vec(),
            sections,
            has_several_runs: !others.is_empty(),
            counted: last.values().map(|(place, _)| *place).chain(others.into_values()).collect(),
            last,
            repeated,
            is_foreign,
            current: None,
            next_file: 0,
            damaged: Vec::new(),
            damaged_places: HashSet::new(),
            is_over: false,
            secrets: Arc::default(),
        })
    }

    /// Rows and gaps without these secrets. For rows that are shown: the file may be from elsewhere.
    #[must_use]
    pub fn redacting(mut self, secrets: Arc<Secrets>) -> Self {
        self.secrets = secrets;
        self
    }

    /// What the files lack. Rows that cannot be read in full are known only after iterating.
    pub fn gaps(&self) -> Gaps {
        self.gaps_shown(None, Utf8Path::to_owned)
    }

    /// As [`Rows::gaps`], with paths as they are to be shown. With `shard`, the cases of other shards do
    /// not count as missing.
    pub fn gaps_shown(
        &self,
        shard: Option<&str>,
        shown: impl Fn(&Utf8Path) -> Utf8PathBuf,
    ) -> Gaps {
        self.gaps_of(shown, |seen| {
            if shard.is_some_and(|shard| seen.is_only(shard)) {
                seen.ignore_shards();
            }
        })
    }

    /// What the files of a run lack that is about to write their last lines.
    /// With `rounds`, only so many were needed.
    pub(crate) fn gaps_of_run(
        &self,
        rounds: Option<u32>,
        shown: impl Fn(&Utf8Path) -> Utf8PathBuf,
    ) -> Gaps {
        let mut gaps = self.gaps_of(shown, |seen| {
            seen.ignore_shards();
            seen.ignore_unfinished();
            if let Some(rounds) = rounds {
                seen.ignore_after(rounds);
            }
        });
        // The run itself knows why, and has run the cases of damaged lines again.
        (gaps.reason, gaps.resumable) = (None, None);
        gaps.damaged.clear();
        gaps
    }

    fn gaps_of(
        &self,
        shown: impl Fn(&Utf8Path) -> Utf8PathBuf,
        change: impl FnOnce(&mut SeenPlans),
    ) -> Gaps {
        let (mut gaps, mut seen) = (Gaps::default(), SeenPlans::default());
        for (path, sections) in self.paths.iter().zip(&self.sections) {
            gaps.add_file(path, &shown(path), sections, &mut seen);
        }
        change(&mut seen);
        gaps.damaged.extend(self.damaged.iter().cloned());
        gaps.add_missing(&seen, |key| {
            self.last.get(key).is_some_and(|(place, _)| !self.damaged_places.contains(place))
        });
        gaps.with_paths(shown).redacted(&self.secrets)
    }

    /// Cases that have rows in more than one file; those of the last file count.
    pub fn repeated(&self) -> u64 {
        self.repeated
    }

    /// Whether several runs have a case in common; only if the rows were opened by run.
    pub(crate) fn has_several_runs(&self) -> bool {
        self.has_several_runs
    }

    /// Whether a file has nothing but part of a line that is not known to be ours.
    pub(crate) fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    /// What was planned, in the order of the files; without plans that others replace.
    pub fn headers(&self) -> impl Iterator<Item = &RunHeader> {
        let sections = self.sections.iter().flatten().filter(|section| !section.is_continued);
        sections.filter_map(|section| section.header.as_ref())
    }

    /// How the last section of the files ended; `None` if it is unknown.
    pub fn last_end(&self) -> Option<&RunEnd> {
        self.sections.iter().flatten().last()?.end.as_ref()
    }

    /// The plan of the rounds and how they went, if the files are of one run in rounds.
    pub fn rounds(&self) -> Option<(&RoundSettings, &RoundRecord)> {
        let mut plans = self.headers().map(|header| header.rounds.as_ref());
        let first = plans.next()??;
        let ids: HashSet<&Option<String>> = self.headers().map(|header| &header.run).collect();
        let is_one = ids.len() == 1 && plans.all(|plan| plan == Some(first));
        let record = self.last_end()?.rounds.as_ref()?;
        is_one.then_some((first, record))
    }

    /// Every case with what its last row says.
    pub fn finished(&self) -> impl Iterator<Item = (&CaseKey, &Finished)> {
        self.last.iter().map(|(key, (_, finished))| (key, finished))
    }

    /// Suites of the rows, each once.
    pub fn suites(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.last.keys().map(|key| key.suite.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn read(&mut self) -> Result<Option<Row>, ReadError> {
        loop {
            let (number, lines) = match &mut self.current {
                Some(current) => (current.0, &mut current.1),
                None => {
                    let Some(path) = self.paths.get(self.next_file) else {
                        return Ok(None);
                    };
                    let opened = (self.next_file, LineReader::open(path)?);
                    self.next_file += 1;
                    let current = self.current.insert(opened);
                    (current.0, &mut current.1)
                }
            };
            let Some((extent, line)) = lines.next()? else {
                self.current = None;
                continue;
            };
            if !self.counted.contains(&(number, extent.offset)) {
                continue;
            }
            match read_row(line) {
                Ok(mut row) => {
                    if std::str::from_utf8(line).is_ok_and(|line| self.secrets.is_in(line)) {
                        redact_stored_row(&mut row, &self.secrets);
                    }
                    return Ok(Some(row));
                }
                Err(reason) => {
                    let file = self.paths[number].clone();
                    self.damaged.push(DamagedLine { file, line: extent.line, reason });
                    self.damaged_places.insert((number, extent.offset));
                }
            }
        }
    }
}

impl Iterator for Rows {
    type Item = Result<Row, ReadError>;

    /// Ends after the first error.
    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let row = self.read().transpose();
        self.is_over = !matches!(row, Some(Ok(_)));
        row
    }
}
