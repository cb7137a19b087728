//! Workers that start, are killed, freeze and come back.

use crate::agenda::Event;
use crate::scenario::{PlannedFault, Split, WorkerFault};
use crate::spread::{Spread, Subject, random_for};
use crate::unit::Delivery;

use super::Simulation;

/// A planned fault happens whichever life the worker is in.
const ANY_LIFE: u32 = u32::MAX;

impl Simulation<'_> {
    pub(super) fn plan_fault(&mut self, fault: PlannedFault) {
        let PlannedFault { worker, at, kind } = fault;
        if worker < self.scenario.workers {
            let is_freeze = kind == WorkerFault::Frozen;
            self.agenda.plan(at, Event::Fault { worker, life: ANY_LIFE, is_freeze });
        }
    }

    pub(super) fn start(&mut self, worker: u32) {
        let state = &mut self.workers[worker as usize];
        state.is_alive = true;
        let life = state.life;
        for _ in 0..self.scenario.slots {
            self.agenda.plan(self.now, Event::Idle { worker, life });
        }
        if self.scenario.split == Split::Queue {
            // Workers do not renew all at the same time.
            let interval = self.renewal_interval();
            let first = interval.mul_f64(f64::from(worker + 1) / f64::from(self.scenario.workers));
            self.agenda.plan(self.now + first, Event::Renew { worker, life });
        }
        self.plan_next_fault(worker);
    }

    fn plan_next_fault(&mut self, worker: u32) {
        let faults = &self.scenario.faults;
        let Some(mean) = faults.mean_time_between else { return };
        let state = &mut self.workers[worker as usize];
        let mut random = random_for(self.scenario.seed, Subject::Failures, worker, state.faults);
        state.faults += 1;
        let life = state.life;
        let at =
            self.now.max(state.frozen_until) + mean.mul_f64(Spread::Exponential.draw(&mut random));
        let is_freeze = random.fraction() < faults.frozen;
        self.agenda.plan(at, Event::Fault { worker, life, is_freeze });
    }

    pub(super) fn fail(&mut self, worker: u32, life: u32, is_freeze: bool) {
        let until = self.now + self.scenario.faults.restart;
        let state = &mut self.workers[worker as usize];
        if !state.is_alive || (life != ANY_LIFE && life != state.life) {
            return;
        }
        if is_freeze {
            state.frozen_until = until;
            return self.plan_next_fault(worker);
        }
        state.is_alive = false;
        state.life += 1;
        state.frozen_until = self.now;
        for id in std::mem::take(&mut state.held) {
            let Delivery { begun, since, is_calling, .. } = *self.delivery(id);
            self.tally.occupied += self.now - begun;
            if is_calling {
                self.tally.wasted += self.now - since;
            }
            if self.scenario.split == Split::Shards && !self.is_stale(id) {
                self.tally.leases_lost += 1;
                self.deliver_again(id);
            }
        }
        self.agenda.plan(until, Event::Start { worker });
    }
}
