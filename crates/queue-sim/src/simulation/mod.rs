//! The simulation: one event after another until every case has a row.
//!
//! A unit waits in a lane until a slot asks for work. Its delivery then goes through its cases:
//! prepare, get a permit, call, store the answer, grade, store the row. Events of a worker that was
//! killed are ignored; events of a frozen one happen when it continues.

mod calls;
mod faults;
mod leases;
mod tally;

use std::collections::VecDeque;
use std::time::Duration;

use crate::agenda::{Agenda, DeliveryId, Event};
use crate::prediction::Prediction;
use crate::provider::ProviderGate;
use crate::rate::SimulatedBucket;
use crate::scenario::{Scenario, Split, Throttle};
use crate::station::{Cores, Station};
use crate::unit::{CallEnd, CaseState, Delivery, Purpose, Unit, Worker};

use tally::Tally;

pub(crate) use tally::CaseEnd;

/// A run that takes longer never ends.
const LONGEST: Duration = Duration::from_secs(10 * 365 * 86_400);

/// Runs a scenario to its end.
///
/// # Errors
/// When the scenario makes no sense, or would not end within ten years.
pub fn simulate(scenario: &Scenario) -> Result<Prediction, String> {
    scenario.check()?;
    let mut simulation = Simulation::new(scenario);
    while simulation.tally.written < scenario.cases {
        let next = simulation.agenda.next().filter(|(at, _)| *at < LONGEST);
        let (at, event) = next.ok_or("the run would not end within ten years")?;
        simulation.now = at;
        simulation.handle(event);
    }
    Ok(simulation.prediction())
}

#[derive(Debug)]
struct Simulation<'a> {
    scenario: &'a Scenario,
    now: Duration,
    agenda: Agenda,
    units: Vec<Unit>,
    cases: Vec<CaseState>,
    deliveries: Vec<Delivery>,
    workers: Vec<Worker>,
    /// One for all workers, or one for each with shards.
    lanes: Vec<Lane>,
    gate: ProviderGate,
    /// None, one for all workers, or one for each.
    buckets: Vec<SimulatedBucket>,
    server: Station,
    coordinator: Station,
    hosts: Vec<Cores>,
    tally: Tally,
    /// Half a round trip to the server.
    way: Duration,
}

/// Units that wait for slots, or slots that wait for units.
#[derive(Debug, Default)]
struct Lane {
    ready: VecDeque<u32>,
    /// Worker and its life.
    idle: VecDeque<(u32, u32)>,
}

impl<'a> Simulation<'a> {
    fn new(scenario: &'a Scenario) -> Self {
        let is_queue = scenario.split == Split::Queue;
        let round_trip = if is_queue { scenario.server.round_trip } else { Duration::ZERO };
        let operations = if is_queue { scenario.server.operations_per_second } else { 0.0 };
        let lanes = if is_queue { 1 } else { scenario.workers };
        let buckets = match scenario.throttle {
            Throttle::None => Vec::new(),
            // A compare-and-set succeeds only on what was read after the last change.
            Throttle::Shared(limits) => {
                vec![SimulatedBucket::new(limits, Station::new(round_trip))]
            }
            Throttle::Divided(limits) => (0..scenario.workers)
                .map(|_| limits.share(scenario.workers))
                .map(|limits| SimulatedBucket::new(limits, Station::new(Duration::ZERO)))
                .collect(),
        };
        let mut simulation = Self {
            scenario,
            now: Duration::ZERO,
            agenda: Agenda::default(),
            units: Unit::all(scenario),
            cases: vec![CaseState::default(); scenario.cases as usize],
            deliveries: Vec::new(),
            workers: vec![Worker::default(); scenario.workers as usize],
            lanes: (0..lanes).map(|_| Lane::default()).collect(),
            gate: ProviderGate::new(scenario.limits, scenario.burst),
            buckets,
            server: Station::with_rate(operations),
            coordinator: Station::with_rate(scenario.coordinator.rows_per_second),
            hosts: vec![
                Cores::new(scenario.cores);
                scenario.workers.div_ceil(scenario.workers_per_host) as usize
            ],
            tally: Tally::default(),
            way: round_trip / 2,
        };
        simulation.plan_beginning();
        simulation
    }

    fn plan_beginning(&mut self) {
        let scenario = self.scenario;
        for &(from, until) in &scenario.coordinator.outages {
            self.agenda.plan(from, Event::Outage { until });
        }
        for &fault in &scenario.faults.planned {
            self.plan_fault(fault);
        }
        let queued_per_second = match scenario.split {
            Split::Queue => scenario.coordinator.queued_per_second,
            Split::Shards => 0.0,
        };
        let mut coordinator = Station::with_rate(queued_per_second);
        for unit in 0..self.units.len() as u32 {
            let at = coordinator.pass(Duration::ZERO, 1);
            self.agenda.plan(at, Event::Queued { unit });
        }
        for worker in 0..scenario.workers {
            let at = scenario.ramp * worker / scenario.workers;
            self.agenda.plan(at, Event::Start { worker });
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Queued { unit } => {
                let lane = self.lane_of_unit(unit);
                self.lanes[lane].ready.push_back(unit);
                self.deliver(lane);
            }
            Event::Idle { worker, life } => {
                let lane = self.lane_of_worker(worker);
                self.lanes[lane].idle.push_back((worker, life));
                self.deliver(lane);
            }
            Event::Written => self.count_written(),
            Event::Outage { until } => self.coordinator.stop_until(until),
            Event::LeaseCheck(id) => self.check_lease(id),
            Event::Renew { worker, life } => self.renew(worker, life),
            Event::Fault { worker, life, is_freeze } => self.fail(worker, life, is_freeze),
            Event::Start { worker } => self.start(worker),
            // What was sent arrives, whatever has become of the sender.
            Event::AnswerStored(id) => self.answer_stored(id),
            Event::RowStored(id) => self.row_stored(id),
            Event::Begin(id)
            | Event::Prepared(id)
            | Event::Permitted(id)
            | Event::Retry(id)
            | Event::Called(id)
            | Event::Graded(id) => {
                if self.is_awake(id, event) {
                    self.go_on(id, event);
                }
            }
        }
    }

    fn go_on(&mut self, id: DeliveryId, event: Event) {
        match event {
            Event::Called(_) => return self.called(id),
            Event::Graded(_) => return self.finish_case(id, CaseEnd::Graded),
            _ => {}
        }
        // Before a call: a worker that has lost its lease leaves the case to others.
        if self.is_stale(id) {
            return self.release(id);
        }
        match event {
            Event::Begin(_) => self.prepare(id),
            Event::Permitted(_) => self.permitted(id),
            Event::Retry(_) => self.retry(id),
            _ => self.ask(id),
        }
    }

    fn lane_of_unit(&self, unit: u32) -> usize {
        unit as usize % self.lanes.len()
    }

    fn lane_of_worker(&self, worker: u32) -> usize {
        worker as usize % self.lanes.len()
    }

    fn delivery(&self, id: DeliveryId) -> &Delivery {
        &self.deliveries[id as usize]
    }

    fn delivery_mut(&mut self, id: DeliveryId) -> &mut Delivery {
        &mut self.deliveries[id as usize]
    }

    fn worker_of(&self, id: DeliveryId) -> &Worker {
        &self.workers[self.delivery(id).worker as usize]
    }

    fn unit_of(&mut self, id: DeliveryId) -> &mut Unit {
        let unit = self.delivery(id).unit;
        &mut self.units[unit as usize]
    }

    /// Number of the case that a delivery is at.
    fn case_of(&self, id: DeliveryId) -> u32 {
        let delivery = self.delivery(id);
        self.units[delivery.unit as usize].first + delivery.step
    }

    fn is_live(&self, id: DeliveryId) -> bool {
        let worker = self.worker_of(id);
        worker.is_alive && worker.life == self.delivery(id).life
    }

    /// Whether the worker can act now. If it is frozen, the event happens when it continues.
    fn is_awake(&mut self, id: DeliveryId, event: Event) -> bool {
        if !self.is_live(id) {
            return false;
        }
        let until = self.worker_of(id).frozen_until;
        if until > self.now {
            self.agenda.plan(until, event);
        }
        until <= self.now
    }

    /// Another delivery counts, or will.
    fn is_stale(&self, id: DeliveryId) -> bool {
        self.units[self.delivery(id).unit as usize].current != Some(id)
    }

    /// Gives units that wait to slots that wait.
    fn deliver(&mut self, lane: usize) {
        while !self.lanes[lane].ready.is_empty() {
            let Some((worker, life)) = self.lanes[lane].idle.pop_front() else { return };
            let is_there = self.workers[worker as usize].is_alive
                && self.workers[worker as usize].life == life;
            if !is_there {
                continue;
            }
            if let Some(unit) = self.lanes[lane].ready.pop_front() {
                self.hand_over(unit, worker, life);
            }
        }
    }

    fn hand_over(&mut self, unit: u32, worker: u32, life: u32) {
        let id = self.deliveries.len() as DeliveryId;
        let sent = self.server.pass(self.now, 1);
        let state = &mut self.units[unit as usize];
        state.deliveries += 1;
        state.current = Some(id);
        self.deliveries.push(Delivery {
            unit,
            worker,
            life,
            step: state.finished,
            purpose: Purpose::Answer,
            permit: None,
            has_waited: false,
            refusals: 0,
            tokens: 0,
            call_end: CallEnd::Answered,
            end: CaseEnd::Graded,
            begun: self.now,
            since: self.now,
            is_calling: false,
        });
        self.workers[worker as usize].held.push(id);
        if self.scenario.split == Split::Queue {
            self.begin_lease(id, sent);
        }
        self.agenda.plan(sent + self.way, Event::Begin(id));
    }

    /// The slot of a delivery is free.
    fn release(&mut self, id: DeliveryId) {
        let Delivery { worker, life, begun, .. } = *self.delivery(id);
        self.tally.occupied += self.now - begun;
        self.workers[worker as usize].held.retain(|held| *held != id);
        self.agenda.plan(self.now + self.way, Event::Idle { worker, life });
    }
}
