//! The tables of "From one machine to a thousand", and the scenarios behind them.

use std::time::Duration;

use crate::bounds::Bounds;
use crate::prediction::{Prediction, percent, seconds};
use crate::rate::RateLimits;
use crate::scenario::{CoordinatorSpeed, Scenario, ServerSpeed, Split, Throttle};
use crate::simulation::simulate;
use crate::spread::Spread;

/// A table, with the key of its place on the page.
#[derive(Debug)]
pub struct SimulatedTable {
    pub header: &'static [&'static str],
    pub rows: Vec<Vec<String>>,
}

impl SimulatedTable {
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
        let rule = vec!["---"; self.header.len()];
        let rows = self.rows.iter().map(|row| line(row.iter().map(String::as_str).collect()));
        line(self.header.to_vec()) + &line(rule) + &rows.collect::<String>()
    }
}

type MakeTable = fn() -> Result<SimulatedTable, String>;

/// Keys, titles, and what makes them.
pub const ALL: [(&str, &str, MakeTable); 7] = [
    ("workers", "More workers, one limit", workers),
    ("thousand", "100,000 cases", thousand),
    ("shards", "Shards beside a queue", shards),
    ("slots", "More slots than ten minutes of the limit", slots),
    ("limit", "How the limit is kept", limit),
    ("failures", "Workers that are killed", failures),
    ("distance", "Distance to the server", distance),
];

/// 500 tests × 5 trials × 3 arms × 2 agents, a minute each, 600 requests per minute. A server that one
/// client at a time has stored 2,000 messages per second on.
pub fn example() -> Scenario {
    let mut scenario = Scenario {
        cases: 15_000,
        server: ServerSpeed {
            round_trip: Duration::from_millis(1),
            operations_per_second: 2_000.0,
        },
        coordinator: CoordinatorSpeed {
            queued_per_second: 2_000.0,
            rows_per_second: 2_000.0,
            outages: Vec::new(),
        },
        ..Scenario::default()
    }
    .with_shared_limits(RateLimits::requests(600));
    scenario.work.spread = Spread::LogNormal(0.7);
    scenario
}

/// 100,000 cases of a minute, 6,000 requests per minute; every worker is killed once in four hours,
/// or freezes.
fn large_example(workers: u32) -> Scenario {
    let mut scenario = Scenario { workers, cases: 100_000, ..example() }
        .with_shared_limits(RateLimits::requests(6_000));
    scenario.faults.mean_time_between = Some(Duration::from_secs(4 * 3_600));
    scenario.faults.frozen = 0.2;
    scenario
}

/// More slots than ten minutes of the limit.
fn slots() -> Result<SimulatedTable, String> {
    let row = |workers: u32| {
        let scenario = Scenario { workers, slots: 32, ..example() };
        let found = simulate(&scenario)?;
        Ok(vec![
            (workers * scenario.slots).to_string(),
            seconds(found.makespan),
            percent(found.busiest_minute.unwrap_or_default()),
            found.refused_requests.to_string(),
            found.refused_cases.to_string(),
        ])
    };
    Ok(SimulatedTable {
        header: &["slots", "makespan", "busiest minute", "requests refused", "cases errored"],
        rows: [20, 100, 180, 240, 400].into_iter().map(row).collect::<Result<_, String>>()?,
    })
}

const fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

fn share_of_limit(found: &Prediction) -> String {
    found.limit_share.map_or_else(|| "–".to_owned(), percent)
}

fn workers() -> Result<SimulatedTable, String> {
    let row = |workers: u32| {
        let scenario = Scenario { workers, ..example() };
        let found = simulate(&scenario)?;
        Ok(vec![
            workers.to_string(),
            (workers * scenario.slots).to_string(),
            seconds(Bounds::of(&scenario).makespan()),
            seconds(found.most_rows),
            seconds(found.makespan),
            percent(found.busy_share),
            percent(found.waiting_share),
            format!("{:.0}", found.worker_hours),
        ])
    };
    Ok(SimulatedTable {
        header: &[
            "workers",
            "slots",
            "formula",
            "99 % of the rows",
            "all rows",
            "slots busy",
            "slots waiting for the limit",
            "worker hours",
        ],
        rows: [1, 2, 4, 8, 16, 32, 38, 48, 64, 128]
            .into_iter()
            .map(row)
            .collect::<Result<_, String>>()?,
    })
}

fn thousand() -> Result<SimulatedTable, String> {
    let row = |workers: u32| {
        let scenario = large_example(workers);
        let found = simulate(&scenario)?;
        Ok(vec![
            workers.to_string(),
            seconds(Bounds::of(&scenario).makespan()),
            seconds(found.most_rows),
            seconds(found.makespan),
            share_of_limit(&found),
            format!("{:.0}", found.worker_hours),
            found.leases_lost.to_string(),
            found.repeated_calls.to_string(),
            found.errored().to_string(),
        ])
    };
    Ok(SimulatedTable {
        header: &[
            "workers",
            "formula",
            "99 % of the rows",
            "all rows",
            "limit used",
            "worker hours",
            "leases lost",
            "calls repeated",
            "cases errored",
        ],
        rows: [50, 100, 200, 375, 500, 1_000]
            .into_iter()
            .map(row)
            .collect::<Result<_, String>>()?,
    })
}

fn shards() -> Result<SimulatedTable, String> {
    let spreads = [
        ("equal", Spread::Constant),
        ("log-normal", Spread::LogNormal(0.7)),
        ("heavy tail", Spread::Pareto(1.5)),
    ];
    let mut rows = Vec::new();
    for (name, spread) in spreads {
        for workers in [4, 16, 64] {
            let mut queue = Scenario { workers, limits: RateLimits::NONE, ..example() };
            queue.throttle = Throttle::None;
            queue.work.spread = spread;
            queue.work.timeout = Some(minutes(30));
            let shards = Scenario { split: Split::Shards, ..queue.clone() };
            let killed = |scenario: &Scenario| {
                let mut scenario = scenario.clone();
                scenario.faults.mean_time_between = Some(minutes(60));
                scenario.faults.restart = minutes(10);
                simulate(&scenario)
            };
            rows.push(vec![
                name.to_owned(),
                workers.to_string(),
                seconds(simulate(&queue)?.makespan),
                seconds(simulate(&shards)?.makespan),
                seconds(killed(&queue)?.makespan),
                seconds(killed(&shards)?.makespan),
            ]);
        }
    }
    Ok(SimulatedTable {
        header: &[
            "durations",
            "machines",
            "queue",
            "shards",
            "queue, killed hourly",
            "shards, killed hourly",
        ],
        rows,
    })
}

fn limit() -> Result<SimulatedTable, String> {
    let limits = RateLimits::requests(600);
    let apart = |throttle| Scenario { workers: 64, throttle, ..example() };
    let high = Throttle::Shared(RateLimits::requests(660));
    let scenarios = [
        ("`rate` on the target, shared", apart(Throttle::Shared(limits))),
        ("shared, but 10 % above the limit", apart(high)),
        ("each worker keeps to a 64th", apart(Throttle::Divided(limits))),
        ("each worker finds out by itself", apart(Throttle::None)),
    ];
    let mut rows = Vec::new();
    for (name, scenario) in scenarios {
        let found = simulate(&scenario)?;
        rows.push(vec![
            name.to_owned(),
            seconds(found.makespan),
            share_of_limit(&found),
            found.refused_requests.to_string(),
            format!(
                "{} ({})",
                found.refused_cases,
                percent(f64::from(found.refused_cases) / 15_000.0)
            ),
        ]);
    }
    Ok(SimulatedTable {
        header: &["how", "makespan", "limit used", "requests refused", "cases errored"],
        rows,
    })
}

fn failures() -> Result<SimulatedTable, String> {
    let times = [
        ("never", None),
        ("once a day", Some(1_440)),
        ("every 4 hours", Some(240)),
        ("every hour", Some(60)),
        ("every 15 minutes", Some(15)),
        ("every 5 minutes", Some(5)),
    ];
    let row = |(name, time): (&str, Option<u64>)| {
        let mut scenario = Scenario { workers: 32, ..example() };
        scenario.faults.mean_time_between = time.map(minutes);
        let found = simulate(&scenario)?;
        Ok(vec![
            name.to_owned(),
            seconds(found.most_rows),
            seconds(found.makespan),
            found.leases_lost.to_string(),
            found.repeated_calls.to_string(),
            percent(found.wasted_share),
            found.lost_cases.to_string(),
        ])
    };
    Ok(SimulatedTable {
        header: &[
            "each worker is killed",
            "99 % of the rows",
            "all rows",
            "leases lost",
            "calls repeated",
            "time in lost calls",
            "cases errored",
        ],
        rows: times.into_iter().map(row).collect::<Result<_, String>>()?,
    })
}

fn distance() -> Result<SimulatedTable, String> {
    let row = |round_trip: u64| {
        let mut scenario = Scenario { cases: 30_000, ..large_example(400) };
        scenario.faults.mean_time_between = None;
        scenario.server.round_trip = Duration::from_millis(round_trip);
        let found = simulate(&scenario)?;
        Ok(vec![
            format!("{round_trip} ms"),
            format!("{}", 60_000 / round_trip),
            seconds(found.makespan),
            share_of_limit(&found),
            percent(found.bucket_share),
        ])
    };
    Ok(SimulatedTable {
        header: &[
            "round trip",
            "permits per minute at most",
            "makespan",
            "limit used",
            "bucket at work",
        ],
        rows: [1, 5, 10, 20, 50].into_iter().map(row).collect::<Result<_, String>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_aligned_with_their_header() {
        for (key, _, make) in [ALL[0], ALL[4]] {
            let table = make().unwrap();
            assert!(table.rows.iter().all(|row| row.len() == table.header.len()), "{key}");
            assert_eq!(table.markdown().lines().count(), table.rows.len() + 2, "{key}");
        }
    }
}
