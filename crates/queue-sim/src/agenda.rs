//! What happens next: events in the order of their times; those of equal times in the order in which
//! they were planned.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

/// Index of a [`crate::unit::Delivery`].
pub(crate) type DeliveryId = u32;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// The coordinator has queued a unit.
    Queued {
        unit: u32,
    },
    /// A slot asks for work.
    Idle {
        worker: u32,
        life: u32,
    },
    /// A unit has arrived at its worker.
    Begin(DeliveryId),
    /// The worker has prepared the next case of the unit.
    Prepared(DeliveryId),
    /// The bucket lets a request pass.
    Permitted(DeliveryId),
    /// A refused request is tried again.
    Retry(DeliveryId),
    /// The provider has answered.
    Called(DeliveryId),
    /// The answer is stored in the queue.
    AnswerStored(DeliveryId),
    /// The case is graded.
    Graded(DeliveryId),
    /// The row is stored in the queue.
    RowStored(DeliveryId),
    /// The coordinator has written a row.
    Written,
    /// The lease of a delivery may have ended.
    LeaseCheck(DeliveryId),
    /// A worker renews its leases.
    Renew {
        worker: u32,
        life: u32,
    },
    Fault {
        worker: u32,
        life: u32,
        is_freeze: bool,
    },
    Start {
        worker: u32,
    },
    Outage {
        until: Duration,
    },
}

#[derive(Debug, Default)]
pub(crate) struct Agenda {
    events: BinaryHeap<Reverse<(Duration, u64, Event)>>,
    planned: u64,
}

impl Agenda {
    pub(crate) fn plan(&mut self, at: Duration, event: Event) {
        self.planned += 1;
        self.events.push(Reverse((at, self.planned, event)));
    }

    pub(crate) fn next(&mut self) -> Option<(Duration, Event)> {
        self.events.pop().map(|Reverse((at, _, event))| (at, event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_one_time_keep_their_order() {
        let mut agenda = Agenda::default();
        let times = [(2, 0), (1, 1), (2, 2), (1, 3)];
        for (at, unit) in times {
            agenda.plan(Duration::from_secs(at), Event::Queued { unit });
        }
        let mut order = Vec::new();
        while let Some((_, Event::Queued { unit })) = agenda.next() {
            order.push(unit);
        }
        assert_eq!(order, [1, 3, 0, 2]);
    }
}
