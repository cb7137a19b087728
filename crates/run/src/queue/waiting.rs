//! The workers of a run as the coordinator sees them, and the cases that none of them can run.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use async_nats::jetstream::kv::{Operation, Watch};
use futures_util::{FutureExt as _, StreamExt as _};

use crate::event::Event;
use crate::execute::RowIntake;
use crate::text::single_line;

use super::message::WorkerSign;
use super::names::WORKER_KEYS;
use super::run_queue::RunQueue;

/// Without a heartbeat for this long, a worker counts as gone. Workers send one every five seconds.
pub(super) const SILENT: Duration = Duration::from_secs(20);

/// Between two attempts to watch the bucket.
const AGAIN: Duration = Duration::from_secs(1);

/// Signs of life, as they come in.
pub(super) struct WorkerWatch {
    queue: RunQueue,
    watch: Option<Watch>,
    opened: Option<Instant>,
    workers: HashMap<String, (WorkerSign, Instant)>,
}

impl WorkerWatch {
    pub(super) fn new(queue: &RunQueue) -> Self {
        Self { queue: queue.clone(), watch: None, opened: None, workers: HashMap::new() }
    }

    /// Takes what has come in since, without waiting for more.
    pub(super) async fn look(&mut self, intake: &RowIntake) {
        if self.watch.is_none() && self.opened.is_none_or(|at| at.elapsed() > AGAIN) {
            self.opened = Some(Instant::now());
            let keys = format!("{WORKER_KEYS}>");
            self.watch = self.queue.control.watch_with_history(keys).await.ok();
        }
        while let Some(watch) = &mut self.watch {
            match watch.next().now_or_never() {
                None => break,
                Some(Some(Ok(entry))) => match entry.operation {
                    Operation::Put => self.take(intake, entry.key, &entry.value),
                    Operation::Delete | Operation::Purge => self.forget(intake, &entry.key),
                },
                Some(Some(Err(_)) | None) => self.watch = None,
            }
        }
        let silent = self.workers.iter().filter(|(_, (_, at))| at.elapsed() > SILENT);
        let silent: Vec<String> = silent.map(|(key, _)| key.clone()).collect();
        silent.iter().for_each(|key| self.forget(intake, key));
    }

    fn take(&mut self, intake: &RowIntake, key: String, value: &[u8]) {
        // Anything may be in the bucket.
        let Ok(sign) = serde_json::from_slice::<WorkerSign>(value) else { return };
        intake.tell(Event::Worker {
            name: single_line(&sign.name).into(),
            text: Some(text_of(&sign)),
        });
        let known = self.workers.get(&key).and_then(|(known, _)| known.trouble.as_ref());
        if let Some(trouble) = sign.trouble.as_ref().filter(|trouble| known != Some(trouble)) {
            let text = single_line(&format!("worker {}: {trouble}", sign.name));
            intake.tell(Event::Warning(text));
        }
        self.workers.insert(key, (sign, Instant::now()));
    }

    fn forget(&mut self, intake: &RowIntake, key: &str) {
        if let Some((sign, _)) = self.workers.remove(key) {
            intake.tell(Event::Worker { name: single_line(&sign.name).into(), text: None });
        }
    }

    /// The classes that some worker takes cases of, or has a chain of: one that drains finishes its cases.
    pub(super) fn classes(&self) -> BTreeSet<usize> {
        let signs = self.workers.values().map(|(sign, _)| sign);
        signs.flat_map(|sign| sign.classes.iter().chain(&sign.held).copied()).collect()
    }

    /// Workers are looked for anew: signs may have been lost with the connection.
    pub(super) fn watch_again(&mut self) {
        (self.watch, self.opened) = (None, None);
    }

    /// Whether no worker says that it runs something.
    pub(super) fn are_idle(&self) -> bool {
        self.workers.values().all(|(sign, _)| sign.running == 0)
    }

    /// Whether every worker has heard that no case is started any more, and runs none. False without
    /// workers: one may not have given a sign yet.
    pub(super) fn have_stopped(&self) -> bool {
        let has_stopped = |sign: &WorkerSign| sign.running == 0 && !sign.starts_cases;
        !self.workers.is_empty() && self.workers.values().all(|(sign, _)| has_stopped(sign))
    }

    pub(super) fn end(&mut self, intake: &RowIntake) {
        let keys: Vec<String> = self.workers.keys().cloned().collect();
        keys.iter().for_each(|key| self.forget(intake, key));
    }
}

fn text_of(sign: &WorkerSign) -> String {
    let mut text = format!("{} of {} running, {} done", sign.running, sign.slots, sign.done);
    if !sign.tests.is_empty() {
        text += &format!(": {}", single_line(&sign.tests.join(", ")));
    }
    text
}

/// When the cases of each class were last served.
#[derive(Debug)]
pub(super) struct ClassWatch {
    last: Vec<Option<Instant>>,
    patience: Duration,
}

impl ClassWatch {
    pub(super) fn new(classes: usize, patience: Duration) -> Self {
        Self { last: vec![Some(Instant::now()); classes], patience }
    }

    pub(super) fn served(&mut self, classes: BTreeSet<usize>) {
        for class in classes {
            if let Some(last @ Some(_)) = self.last.get_mut(class) {
                *last = Some(Instant::now());
            }
        }
    }

    /// Patience begins again, because workers cannot be heard.
    pub(super) fn wait(&mut self) {
        self.last.iter_mut().flatten().for_each(|last| *last = Instant::now());
    }

    /// The classes for which patience has just ended. Each is returned once.
    pub(super) fn take_unserved(&mut self) -> Vec<usize> {
        let patience = self.patience;
        let mut ended = Vec::new();
        for (class, last) in self.last.iter_mut().enumerate() {
            if last.is_some_and(|at| at.elapsed() >= patience) {
                *last = None;
                ended.push(class);
            }
        }
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_without_a_worker_is_given_up_once() {
        let mut watch = ClassWatch::new(2, Duration::ZERO);
        assert_eq!(watch.take_unserved(), [0, 1]);
        watch.served(BTreeSet::from([0, 7]));
        assert_eq!(watch.take_unserved(), [0; 0]);
        let mut watch = ClassWatch::new(1, Duration::from_secs(600));
        assert_eq!(watch.take_unserved(), [0; 0]);
    }
}
