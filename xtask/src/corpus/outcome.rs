//! How many files of the corpus are read, and why the others are not.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use evalrig_core::diagnostic::{Level, Severity};
use evalrig_run::disk::Disk;

use super::{Corpus, Read, read};

/// What `validate` says about one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    Clean,
    Warnings,
    /// Does not conform, but means something.
    Conformance,
    /// Some tests cannot be run as they are.
    BlocksRun,
    Refused,
    /// A targets file: nothing to say about it here.
    NoSuite,
}

const COLUMNS: [(Outcome, &str); 6] = [
    (Outcome::Clean, "clean"),
    (Outcome::Warnings, "warnings"),
    (Outcome::Conformance, "conformance"),
    (Outcome::BlocksRun, "blocks run"),
    (Outcome::Refused, "refused"),
    (Outcome::NoSuite, "no suite"),
];

impl Outcome {
    pub fn of(read: &Read) -> Self {
        let has =
            |fits: fn(Level) -> bool| read.findings.diagnostics().iter().any(|one| fits(one.level));
        if has(|level| level == Level::Blocking) {
            return Self::Refused;
        }
        if read.suite.is_none() {
            return Self::NoSuite;
        }
        if has(Level::blocks_run) {
            return Self::BlocksRun;
        }
        if has(|level| level.severity() == Severity::Error) {
            return Self::Conformance;
        }
        if has(|level| level.severity() == Severity::Warning) {
            Self::Warnings
        } else {
            Self::Clean
        }
    }
}

/// Counts by kind and role.
#[derive(Debug, Default)]
pub struct Table {
    rows: BTreeMap<String, Row>,
}

#[derive(Debug, Default)]
struct Row {
    counts: BTreeMap<Outcome, usize>,
    /// How many rejected files have a blocking diagnostic of this name.
    reasons: BTreeMap<&'static str, usize>,
}

impl Table {
    /// Reads every file of the corpus.
    pub fn of(corpus: &Corpus) -> Self {
        let mut table = Self::default();
        for file in corpus.suites() {
            let read = read(file, &file.path, &Disk);
            table.add(&format!("{} {}", file.kind, file.role), &read);
        }
        table
    }

    fn add(&mut self, group: &str, read: &Read) {
        let row = self.rows.entry(group.to_owned()).or_default();
        *row.counts.entry(Outcome::of(read)).or_default() += 1;
        let names: BTreeSet<_> = read.names(|level| level == Level::Blocking).into_iter().collect();
        for name in names {
            *row.reasons.entry(name).or_default() += 1;
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<20}{:>7}", "", "files")?;
        for (_, title) in COLUMNS {
            write!(f, "{title:>13}")?;
        }
        writeln!(f)?;
        for (group, row) in &self.rows {
            write!(f, "{group:<20}{:>7}", row.counts.values().sum::<usize>())?;
            for (outcome, _) in COLUMNS {
                write!(f, "{:>13}", row.counts.get(&outcome).unwrap_or(&0))?;
            }
            writeln!(f)?;
        }
        for (group, row) in self.rows.iter().filter(|(_, row)| !row.reasons.is_empty()) {
            writeln!(f, "\nrefused in {group}, files by reason:")?;
            let mut reasons: Vec<_> = row.reasons.iter().collect();
            reasons.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), **name));
            for (name, count) in reasons {
                writeln!(f, "{count:>5}  {name}")?;
            }
        }
        Ok(())
    }
}
