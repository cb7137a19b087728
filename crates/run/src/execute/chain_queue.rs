//! Queues of chains, one per target, and how many workers each has.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use super::job::Job;

/// Workers of a target that is not a process, per core.
const PER_CORE: usize = 4;

/// The remaining cases of a chain.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChainCursor {
    pub(super) suite: usize,
    pub(super) chain: usize,
    /// Number in the plan of the chain's first case.
    pub(super) first: usize,
    /// Number of finished cases.
    pub(super) done: usize,
}

/// Chains that wait for a worker.
pub(super) type ChainQueue = Arc<Mutex<VecDeque<ChainCursor>>>;

/// One queue per target, so that a slow target does not delay the others.
pub(super) fn queues_of(
    job: &Job,
    is_due: impl Fn(&ChainCursor) -> bool,
) -> Vec<(QueueKey, ChainQueue)> {
    let mut queues: BTreeMap<QueueKey, VecDeque<ChainCursor>> = BTreeMap::new();
    let mut first = 0;
    for (suite, work) in job.suites.iter().enumerate() {
        for (chain, cases) in work.job.chains.iter().enumerate() {
            let target = &cases[0].target;
            let key = match work.job.target(target) {
                Some(connected) => Arc::as_ptr(connected) as usize,
                None => 0,
            };
            let cursor = ChainCursor { suite, chain, first, done: 0 };
            if is_due(&cursor) {
                let queue = queues.entry((key, target.clone())).or_default();
                queue.push_back(cursor);
            }
            first += cases.len();
        }
    }
    let queues = queues.into_iter();
    queues.map(|(key, chains)| (key, Arc::new(Mutex::new(chains)))).collect()
}

/// Address of the connected target, and the name that cases use for it.
pub(super) type QueueKey = (usize, String);

pub(super) fn worker_count(job: &Job, key: &QueueKey, chains: usize) -> usize {
    let suites = job.suites.iter();
    let mut targets = suites.filter_map(|suite| suite.job.target(&key.1));
    let connected = targets.find(|target| Arc::as_ptr(target) as usize == key.0);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let usual =
        if connected.is_some_and(|target| target.is_process()) { cores } else { cores * PER_CORE };
    let most = connected.and_then(|target| target.max_concurrency);
    let wanted = job.options.workers.unwrap_or(usual);
    let most = most.unwrap_or(usize::MAX).min(job.options.descriptors.workers);
    wanted.min(most).min(chains).max(1)
}
