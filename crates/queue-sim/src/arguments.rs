//! What is typed, and the scenario that it describes.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use queue_sim::{RateLimits, Scenario, Split, Spread, Throttle, duration_text};

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum LimitKeeping {
    /// `rate` of a target: one bucket for all workers.
    Shared,
    /// Each worker keeps to an equal share.
    Divided,
    /// Each worker finds out by being refused.
    None,
}

/// Predicts runs over many workers.
///
/// Without `--workers`, prints the tables of docs/explanation/many-machines.md.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask simulate-queue", bin_name = "cargo xtask simulate-queue")]
pub struct Arguments {
    /// Predict a run with so many workers, or several runs: `--workers 10,20,40`.
    #[arg(long, value_delimiter = ',', value_name = "N,…")]
    pub workers: Vec<u32>,
    /// Print the prediction as JSON, one line per run.
    #[arg(long, requires = "workers")]
    pub json: bool,
    /// Print only this table.
    #[arg(long, value_name = "TABLE", conflicts_with = "workers")]
    pub only: Option<String>,
    /// Write the tables and the picture into the docs.
    #[arg(long, conflicts_with = "workers")]
    pub write: bool,
    /// Compare predictions with measured runs, one JSON object per line.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["workers", "write", "only"])]
    pub validate: Option<PathBuf>,
    /// Largest error with which `--validate` succeeds.
    #[arg(long, value_name = "SHARE", default_value_t = 0.15, requires = "validate")]
    pub tolerance: f64,
    #[command(flatten, next_help_heading = "Scenario")]
    options: ScenarioOptions,
}

#[derive(Debug, clap::Args)]
struct ScenarioOptions {
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Cases at once per worker.
    #[arg(long, value_name = "N", default_value_t = 16)]
    slots: u32,
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    cases: u32,
    /// Cases per conversation.
    #[arg(long, value_name = "N", default_value_t = 1)]
    conversation: u32,
    /// A fixed share per worker, as with `--shard`, in place of a queue.
    #[arg(long)]
    shards: bool,
    /// Mean time of a call.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration_text::parse)]
    call: Duration,
    /// constant, exponential, lognormal:SIGMA or pareto:EXPONENT.
    #[arg(long, default_value = "lognormal:1")]
    spread: Spread,
    #[arg(long, value_name = "TIME", value_parser = duration_text::parse)]
    timeout: Option<Duration>,
    /// Mean tokens per call.
    #[arg(long, value_name = "N", default_value_t = 0)]
    tokens: u64,
    /// Mean time of a judge's call, under the same limits.
    #[arg(long, value_name = "TIME", value_parser = duration_text::parse)]
    judge: Option<Duration>,
    /// Time of other checks.
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = duration_text::parse)]
    checks: Duration,
    /// Processor time per case.
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = duration_text::parse)]
    cpu: Duration,
    #[arg(long, value_name = "N", default_value_t = 1)]
    workers_per_host: u32,
    /// Cores per host.
    #[arg(long, value_name = "N", default_value_t = 1)]
    cores: u32,
    /// Further attempts after a refusal.
    #[arg(long, value_name = "N", default_value_t = 2)]
    retries: u32,
    /// The provider's limit.
    #[arg(long, value_name = "N")]
    requests_per_minute: Option<u64>,
    /// The provider's limit.
    #[arg(long, value_name = "N")]
    tokens_per_minute: Option<u64>,
    /// The provider accepts at once what its limit allows within this time.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration_text::parse)]
    burst: Duration,
    /// How workers keep to the limits.
    #[arg(long, value_enum, default_value = "shared")]
    keep_limit: LimitKeeping,
    /// Mean time until a worker fails.
    #[arg(long, value_name = "TIME", value_parser = duration_text::parse)]
    mtbf: Option<Duration>,
    /// Share of failures in which the worker freezes and continues later.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    frozen: f64,
    /// From a failure until the worker works again.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration_text::parse)]
    restart: Duration,
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration_text::parse)]
    lease: Duration,
    /// Deliveries after which a case is errored.
    #[arg(long, value_name = "N", default_value_t = 6)]
    deliveries: u32,
    /// From a worker to the server and back.
    #[arg(long, value_name = "TIME", default_value = "1ms", value_parser = duration_text::parse)]
    round_trip: Duration,
    /// Messages per second through the server; 0 is without limit.
    #[arg(long, value_name = "N", default_value_t = 2_000.0)]
    server_rate: f64,
    /// Cases per second that the coordinator queues, and rows that it writes; 0 is without limit.
    #[arg(long, value_name = "N", default_value_t = 2_000.0)]
    coordinator_rate: f64,
    /// Time within which the workers start.
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = duration_text::parse)]
    ramp: Duration,
}

impl Arguments {
    /// Everything but the number of workers.
    pub fn scenario(&self) -> Result<Scenario, String> {
        let options = &self.options;
        let limits = RateLimits {
            requests_per_minute: options.requests_per_minute,
            tokens_per_minute: options.tokens_per_minute,
        };
        if options.tokens_per_minute.is_some() && options.tokens == 0 {
            return Err("`--tokens-per-minute` needs `--tokens`".to_owned());
        }
        let mut scenario = Scenario {
            seed: options.seed,
            split: if options.shards { Split::Shards } else { Split::Queue },
            slots: options.slots,
            ramp: options.ramp,
            workers_per_host: options.workers_per_host,
            cores: options.cores,
            cases: options.cases,
            conversation: options.conversation,
            limits,
            burst: options.burst,
            throttle: match options.keep_limit {
                _ if limits.is_none() => Throttle::None,
                LimitKeeping::Shared => Throttle::Shared(limits),
                LimitKeeping::Divided => Throttle::Divided(limits),
                LimitKeeping::None => Throttle::None,
            },
            ..Scenario::default()
        };
        let work = &mut scenario.work;
        (work.call, work.spread, work.timeout) = (options.call, options.spread, options.timeout);
        (work.tokens, work.judge, work.checks) = (options.tokens, options.judge, options.checks);
        (work.cpu, work.retries) = (options.cpu, options.retries);
        scenario.faults.mean_time_between = options.mtbf;
        scenario.faults.frozen = options.frozen;
        scenario.faults.restart = options.restart;
        scenario.lease.length = options.lease;
        scenario.lease.deliveries = options.deliveries;
        scenario.server.round_trip = options.round_trip;
        scenario.server.operations_per_second = options.server_rate;
        scenario.coordinator.queued_per_second = options.coordinator_rate;
        scenario.coordinator.rows_per_second = options.coordinator_rate;
        Ok(scenario)
    }
}
