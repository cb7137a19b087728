//! Simulates a run over many workers: cases, a queue with leases, workers that fail, and a provider
//! with limits. Discrete events, seeded: the same scenario always gives the same numbers.

mod agenda;
mod bounds;
pub mod duration_text;
mod measurement;
pub mod picture;
mod prediction;
mod provider;
mod rate;
mod scenario;
mod simulation;
mod spread;
mod station;
pub mod table;
mod unit;

pub use bounds::Bounds;
pub use measurement::{Comparison, Measurement, compare};
pub use prediction::Prediction;
pub use rate::RateLimits;
pub use scenario::{
    CaseWork, CoordinatorSpeed, Lease, PlannedFault, Scenario, ServerSpeed, Split, Throttle,
    WorkerFault, WorkerFaults,
};
pub use simulation::simulate;
pub use spread::Spread;
