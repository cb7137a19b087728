//! Runs that were measured, beside what the simulation predicts for them.

use std::time::Duration;

use serde::Deserialize;

use crate::rate::RateLimits;
use crate::scenario::Scenario;
use crate::simulation::simulate;
use crate::spread::Spread;

/// One line of the file that `scripts/validate-queue-simulation` writes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measurement {
    pub workers: u32,
    /// `--workers` of each worker.
    pub slots: u32,
    pub cases: u32,
    /// Time of each call, or the same for all.
    pub durations_ms: Vec<f64>,
    /// Processor time per case of worker, coordinator and server, measured in another run.
    #[serde(default)]
    pub cpu_ms: f64,
    /// Cores that all processes share.
    pub cores: u32,
    /// To the server and back.
    #[serde(default)]
    pub round_trip_ms: f64,
    #[serde(default)]
    pub requests_per_minute: Option<u64>,
    /// What a run of no cases takes.
    #[serde(default)]
    pub start_ms: f64,
    /// From the start of the coordinator to its end.
    pub makespan_ms: f64,
}

/// A measured run and its prediction.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    pub workers: u32,
    pub slots: u32,
    pub cases: u32,
    /// In seconds.
    pub measured: f64,
    pub predicted: f64,
}

impl Comparison {
    /// Relative to what was measured; positive if the prediction is too long.
    pub fn error(&self) -> f64 {
        self.predicted / self.measured - 1.0
    }
}

impl Measurement {
    /// Fails with the number of the line and the reason.
    pub fn read(text: &str) -> Result<Vec<Self>, String> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let read = |(at, line): (usize, &str)| {
            let parsed: Result<Self, _> = serde_json::from_str(line);
            let parsed = parsed.map_err(|error| format!("line {}: {error}", at + 1))?;
            parsed.check().map_err(|reason| format!("line {}: {reason}", at + 1))?;
            Ok(parsed)
        };
        lines.map(read).collect()
    }

    fn check(&self) -> Result<(), String> {
        let times = [self.cpu_ms, self.round_trip_ms, self.start_ms, self.makespan_ms];
        let mut times = times.iter().chain(&self.durations_ms);
        if !times.all(|time| (0.0..1e12).contains(time)) {
            return Err("a time is negative or too long".to_owned());
        }
        if self.durations_ms.is_empty() {
            return Err("`durations_ms` is empty".to_owned());
        }
        if self.makespan_ms <= 0.0 {
            return Err("`makespan_ms` is 0".to_owned());
        }
        Ok(())
    }

    fn scenario(&self) -> Scenario {
        let milliseconds = |time: f64| Duration::from_secs_f64(time / 1e3);
        let mut scenario = Scenario {
            workers: self.workers,
            slots: self.slots,
            cases: self.cases,
            workers_per_host: self.workers,
            cores: self.cores,
            ..Scenario::default()
        };
        scenario.work.spread = Spread::Constant;
        scenario.work.measured = self.durations_ms.iter().map(|time| milliseconds(*time)).collect();
        scenario.work.cpu = milliseconds(self.cpu_ms);
        scenario.server.round_trip = milliseconds(self.round_trip_ms);
        match self.requests_per_minute {
            Some(limit) => scenario.with_shared_limits(RateLimits::requests(limit)),
            None => scenario,
        }
    }
}

/// Fails with the reason why a run cannot be simulated.
pub fn compare(measurements: &[Measurement]) -> Result<Vec<Comparison>, String> {
    let compared = measurements.iter().map(|measurement| {
        let predicted = simulate(&measurement.scenario())?.makespan + measurement.start_ms / 1e3;
        Ok(Comparison {
            workers: measurement.workers,
            slots: measurement.slots,
            cases: measurement.cases,
            measured: measurement.makespan_ms / 1e3,
            predicted,
        })
    });
    compared.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"workers": 2, "slots": 4, "cases": 80, "durations_ms": [500],
        "cores": 2, "start_ms": 250, "makespan_ms": 5000}"#;

    #[test]
    fn a_measured_run_is_compared_with_its_prediction() {
        let measurements = Measurement::read(&LINE.replace('\n', "")).unwrap();
        let compared = compare(&measurements).unwrap();
        // Ten rounds of half a second and a quarter of a second to start.
        assert_eq!(compared[0].predicted, 5.25);
        assert!((compared[0].error() - 0.05).abs() < 1e-12);
    }

    #[test]
    fn processor_time_is_shared_by_all_workers() {
        let line = LINE.replace('\n', "").replace("\"start_ms\": 250", "\"cpu_ms\": 1000");
        let compared = compare(&Measurement::read(&line).unwrap()).unwrap();
        // 80 s of work on two cores, and the last call.
        assert_eq!(compared[0].predicted, 40.5);
    }

    #[test]
    fn wrong_lines_are_named() {
        let cases = [
            ("{", "line 2: EOF"),
            (r#"{"workers": 1}"#, "line 2: missing field"),
            (&LINE.replace('\n', "").replace("[500]", "[]"), "line 2: `durations_ms` is empty"),
            (&LINE.replace('\n', "").replace("[500]", "[-1]"), "line 2: a time is negative"),
            (&LINE.replace('\n', "").replace("cores", "kernels"), "line 2: unknown field"),
        ];
        for (line, reason) in cases {
            let error = Measurement::read(&format!("\n{line}")).unwrap_err();
            assert!(error.starts_with(reason), "{error}");
        }
    }
}
