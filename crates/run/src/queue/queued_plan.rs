//! A run that is to be put on the server: its chains, and the classes of cases that need the same.

use std::collections::{BTreeMap, BTreeSet};

use evalrig_core::model::{Judging, NamedAssertion};
use evalrig_core::plan::Chain;
use evalrig_core::secrets::Secrets;

use crate::execute::SuiteJob;
use crate::results::PlannedSuite;

use super::bundle::{BundleFile, bundle_path};
use super::error::QueueError;
use super::manifest::{CaseClass, ClassMember, RunRequest};
use super::message::{CaseMessage, ChainMessage};
use super::names::RunName;
use super::run_queue::QueueSettings;

/// A run that is to be put on the server.
#[derive(Debug)]
pub(crate) struct QueuedPlan<'a> {
    pub(crate) name: RunName,
    pub(crate) settings: QueueSettings,
    pub(crate) request: RunRequest,
    /// The directory that holds everything.
    pub(crate) base: &'a camino::Utf8Path,
    pub(crate) files: BTreeSet<BundleFile>,
    pub(crate) suites: Vec<&'a SuiteJob>,
    pub(crate) planned: Vec<PlannedSuite>,
    /// Whether cases are sent round by round.
    pub(crate) in_rounds: bool,
    pub(crate) secrets: &'a Secrets,
}

/// What the cases of a chain need, by the names that cases use.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct ChainNeeds {
    target: String,
    judges: BTreeSet<String>,
    /// Of the scripts of checks.
    programs: BTreeSet<String>,
}

impl ChainNeeds {
    fn of(suite: &SuiteJob, chain: &Chain, target: &str, judging: Judging) -> Self {
        let (mut judges, mut programs) = (BTreeSet::new(), BTreeSet::new());
        let default = suite.judges.get(target);
        let tests = chain.iter().map(|case| &suite.suite.tests[case.test]);
        for test in tests.filter(|test| test.skip.is_none()) {
            add_programs(&test.assertions, &mut programs);
            if judging == Judging::Ask {
                add_judges(&test.assertions, default, &mut judges);
            }
        }
        Self { target: target.to_owned(), judges, programs }
    }

    /// Shown to users.
    fn name(&self) -> String {
        let quoted = |names: &BTreeSet<String>| {
            names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        };
        let counted = |word: &str, names: &BTreeSet<String>| match names.len() {
            0 => None,
            1 => Some(format!("{word} {}", quoted(names))),
            _ => Some(format!("{word}s {}", quoted(names))),
        };
        let more = [counted("judge", &self.judges), counted("program", &self.programs)];
        let more: Vec<String> = more.into_iter().flatten().collect();
        let target = format!("target `{}`", self.target);
        if more.is_empty() { target } else { format!("{target} with {}", more.join(" and ")) }
    }

    fn into_member(self, suite: usize) -> ClassMember {
        let mut needed = vec![self.target];
        needed.extend(self.judges);
        ClassMember { suite, needed, programs: self.programs.into_iter().collect() }
    }
}

/// The programs that scripts of checks need.
fn add_programs(assertions: &[NamedAssertion], programs: &mut BTreeSet<String>) {
    for check in assertions.iter().map(|named| &named.assertion.check) {
        programs.extend(check.script_program());
        add_programs(check.members(), programs);
    }
}

/// The judges that checks name, and the default one if a check uses it.
fn add_judges(
    assertions: &[NamedAssertion],
    default: Option<&String>,
    needed: &mut BTreeSet<String>,
) {
    for check in assertions.iter().map(|named| &named.assertion.check) {
        if !check.members().is_empty() {
            add_judges(check.members(), default, needed);
        } else if check.needs_judge() {
            needed.extend(check.judge().map(str::to_owned).or_else(|| default.cloned()));
        }
    }
}

/// Classes of cases that need the same, and all chains with their classes.
pub(super) fn classes_and_chains(
    suites: &[&SuiteJob],
    judging: Judging,
) -> (Vec<CaseClass>, Vec<ChainMessage>) {
    let (mut classes, mut chains) = (Vec::<CaseClass>::new(), Vec::new());
    let mut known = BTreeMap::new();
    for (at, suite) in suites.iter().enumerate() {
        for chain in &suite.chains {
            let Some(first) = chain.first() else { continue };
            let needs = ChainNeeds::of(suite, chain, &first.target, judging);
            let signature = (suite.targets_file.clone(), needs.clone());
            let class = *known.entry(signature).or_insert_with(|| {
                classes.push(CaseClass { name: needs.name(), members: Vec::new() });
                classes.len() - 1
            });
            let members = &mut classes[class].members;
            if members.last().is_none_or(|last| last.suite != at) {
                members.push(needs.into_member(at));
            }
            let cases =
                chain.iter().map(|case| CaseMessage::new(suite.key(case), suite.hash(case.test)));
            chains.push(ChainMessage { suite: at, class, cases: cases.collect() });
        }
    }
    (classes, chains)
}

pub(super) fn hashes_of(suite: &SuiteJob) -> BTreeMap<String, String> {
    let tests = suite.suite.tests.iter().zip(&suite.hashes);
    let hashed = tests.filter(|(_, hash)| !hash.is_empty());
    hashed.map(|(test, hash)| (test.id.to_string(), hash.clone())).collect()
}

/// A path as the request of a bundle names it.
pub(crate) fn request_path(
    path: &camino::Utf8Path,
    base: &camino::Utf8Path,
) -> Result<String, QueueError> {
    if path == base { Ok(String::new()) } else { bundle_path(path, base) }
}
