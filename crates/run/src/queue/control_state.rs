//! What workers are to do with a run: the decision of its coordinator, in the control bucket.

use async_nats::jetstream::kv::Store;
use evalrig_core::words;

use super::error::QueueError;
use super::names::STATE_KEY;

words! {
    pub(super) enum ControlState {
        /// Cases are still being added. Workers take those that are there.
        Queueing = "queueing",
        Running = "running",
        /// No case is started; running ones finish. The run may go on.
        Stopped = "stopped",
        /// As stopped, for good.
        Cancelled = "cancelled",
        /// Running cases are stopped too.
        Abandoned = "abandoned",
    }
}

impl ControlState {
    pub(super) fn takes_cases(self) -> bool {
        matches!(self, Self::Queueing | Self::Running)
    }

    /// A word of a later version takes no cases.
    pub(super) fn read(bytes: &[u8]) -> Self {
        let word = std::str::from_utf8(bytes).unwrap_or_default();
        Self::parse(word).unwrap_or(Self::Stopped)
    }

    pub(super) async fn of(control: &Store) -> Result<Self, QueueError> {
        let found = control.get(STATE_KEY).await;
        let found = found.map_err(|error| QueueError::of("read the state of the run", error))?;
        Ok(found.map_or(Self::Queueing, |bytes| Self::read(&bytes)))
    }

    pub(super) async fn put(self, control: &Store) -> Result<(), QueueError> {
        let put = control.put(STATE_KEY, self.word().into()).await;
        put.map(|_| ()).map_err(|error| QueueError::of("change the state of the run", error))
    }
}
