//! Leases: how the queue notices that a worker is gone, and what happens to its cases then.

use std::time::Duration;

use crate::agenda::{DeliveryId, Event};
use crate::scenario::Split;

use super::Simulation;
use super::tally::CaseEnd;

impl Simulation<'_> {
    pub(super) fn begin_lease(&mut self, id: DeliveryId, now: Duration) {
        let until = now + self.scenario.lease.length;
        self.unit_of(id).lease_until = until;
        self.agenda.plan(until, Event::LeaseCheck(id));
    }

    pub(super) fn renewal_interval(&self) -> Duration {
        self.scenario.lease.length / self.scenario.lease.renewals
    }

    /// A worker renews the leases of all its cases. What arrives too late changes nothing.
    pub(super) fn renew(&mut self, worker: u32, life: u32) {
        let state = &self.workers[worker as usize];
        if !state.is_alive || state.life != life {
            return;
        }
        if state.frozen_until > self.now {
            return self.agenda.plan(state.frozen_until, Event::Renew { worker, life });
        }
        let renewed = self.server.pass(self.now + self.way, state.held.len() as u32);
        for id in &state.held {
            let unit = &mut self.units[self.deliveries[*id as usize].unit as usize];
            if unit.current == Some(*id) && unit.lease_until >= renewed {
                unit.lease_until = renewed + self.scenario.lease.length;
            }
        }
        let next = self.now + self.renewal_interval();
        self.agenda.plan(next, Event::Renew { worker, life });
    }

    pub(super) fn check_lease(&mut self, id: DeliveryId) {
        if self.is_stale(id) || self.unit_of(id).is_finished() {
            return;
        }
        let until = self.unit_of(id).lease_until;
        if until > self.now {
            return self.agenda.plan(until, Event::LeaseCheck(id));
        }
        self.tally.leases_lost += 1;
        self.deliver_again(id);
    }

    /// Before all units that were not delivered yet, unless it was delivered too often.
    pub(super) fn deliver_again(&mut self, id: DeliveryId) {
        let number = self.delivery(id).unit;
        let lane = self.lane_of_unit(number);
        let is_queue = self.scenario.split == Split::Queue;
        let most = self.scenario.lease.deliveries;
        let unit = self.unit_of(id);
        unit.current = None;
        if is_queue && unit.deliveries >= most {
            let rest = unit.first + unit.finished..unit.first + unit.length;
            unit.finished = unit.length;
            for case in rest {
                self.record_row(case, CaseEnd::Lost);
            }
            return;
        }
        self.lanes[lane].ready.push_front(number);
        self.deliver(lane);
    }
}
