//! The options of `worker`, `queue`, and of `run --queue`.

use std::net::SocketAddr;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use super::LOADING;

const QUEUE: &str = "Queue";

/// What a run on the server has decided already.
const OF_THE_RUN: &[&str] = &[
    "paths",
    "resume",
    "failed",
    "rounds",
    "target",
    "arm",
    "baseline_arm",
    "filter",
    "tag",
    "trials",
    "sample",
    "shard",
    "seed",
    "sandbox",
    "timeout",
    "retries",
    "judge",
    "skip_judges",
    "judge_criteria",
    "pass",
    "borderline",
    "no_messages",
    "targets",
    "replicas",
    "lease",
    "queue_patience",
    "queue_include",
];

/// Where the server is and how to log in.
#[derive(Debug, Clone, Args)]
pub struct QueueLogin {
    /// NATS credentials file [default: NATS_USER and NATS_PASSWORD].
    #[arg(long, value_name = "FILE", help_heading = QUEUE)]
    pub queue_creds: Option<String>,
    /// PEM file with CA certificates for the server [default: the system's].
    #[arg(long, value_name = "FILE", help_heading = QUEUE)]
    pub queue_ca: Option<String>,
    /// Accept a server on another machine without TLS or without a login.
    #[arg(long, help_heading = QUEUE)]
    pub insecure: bool,
}

/// `run` on workers.
#[derive(Debug, Clone, Args)]
pub struct Queueing {
    /// Run the cases on `evalrig worker` processes, through these NATS servers.
    #[arg(long, value_name = "URL[,URL]", help_heading = QUEUE, conflicts_with_all = ["watch", "dry_run", "cache", "reuse_arm", "keep_workspaces", "workers"])]
    pub queue: Option<String>,
    /// Return once every case is on the server; --attach follows the run.
    #[arg(long, requires = "queue", conflicts_with_all = ["attach", "resume", "rounds"], help_heading = QUEUE)]
    pub detach: bool,
    /// Follow a run on the server, with its suites and options. Ctrl-C stops following; the run
    /// continues.
    #[arg(long, value_name = "RUN", requires = "queue", conflicts_with_all = OF_THE_RUN, help_heading = QUEUE)]
    pub attach: Option<String>,
    /// Replicas of each stream and bucket, for a cluster.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=5), requires = "queue", help_heading = QUEUE)]
    pub replicas: u8,
    /// Time without a heartbeat after which a worker's cases go to another.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = lease, requires = "queue", help_heading = QUEUE)]
    pub lease: Duration,
    /// Longest time that a case waits for a worker that can run it.
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration, requires = "queue", help_heading = QUEUE)]
    pub queue_patience: Duration,
    /// Also send this file or directory to workers, such as modules that a script imports; repeatable.
    #[arg(long, value_name = "PATH", requires = "queue", help_heading = QUEUE)]
    pub queue_include: Vec<String>,
    #[command(flatten)]
    pub login: QueueLogin,
}

#[derive(Debug, Args)]
pub struct Worker {
    /// The NATS servers to take cases from.
    #[arg(long, value_name = "URL[,URL]")]
    pub queue: String,
    /// Run N cases at once [default: four per core].
    #[arg(short = 'j', long, value_name = "N", value_parser = super::running::at_least_one)]
    pub workers: Option<usize>,
    /// The name in rows and in the progress of runs [default: host name and process id].
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Directory for the files of runs [default: the user's cache directory].
    #[arg(long, value_name = "DIR")]
    pub cache: Option<String>,
    /// Serve /healthz, /readyz and /metrics on this address, such as 127.0.0.1:9090.
    #[arg(long, value_name = "ADDR")]
    pub health: Option<SocketAddr>,
    /// Exit after this long without cases [default: never].
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub until_idle: Option<Duration>,
    /// Also read variables from this file.
    #[arg(long, value_name = "FILE", help_heading = LOADING)]
    pub env_file: Option<String>,
    /// Replicas of the buckets that all runs share, for a cluster; never lowered.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=5), help_heading = QUEUE)]
    pub replicas: u8,
    #[command(flatten)]
    pub login: QueueLogin,
}

#[derive(Debug, Args)]
pub struct Queue {
    #[command(subcommand)]
    pub action: QueueAction,
}

#[derive(Debug, Subcommand)]
pub enum QueueAction {
    /// List the runs on the server and their workers.
    #[command(after_help = "Example: evalrig queue status --queue nats://localhost:4222")]
    Status {
        /// Only this run.
        run: Option<String>,
        /// Output format.
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: QueueFormat,
        #[command(flatten)]
        server: QueueAddress,
    },
    /// Cancel a run and keep its rows.
    #[command(
        after_help = "Example: evalrig queue cancel 20260102T030405-a1b2c3 --queue nats://localhost:4222"
    )]
    Cancel {
        /// Run id, as printed by `queue status`.
        run: String,
        #[command(flatten)]
        server: QueueAddress,
    },
    /// Delete a run and its rows from the server.
    #[command(
        after_help = "Example: evalrig queue remove 20260102T030405-a1b2c3 --queue nats://localhost:4222"
    )]
    Remove {
        /// Run id, as printed by `queue status`.
        run: String,
        #[command(flatten)]
        server: QueueAddress,
    },
}

#[derive(Debug, Clone, Args)]
pub struct QueueAddress {
    /// The NATS servers.
    #[arg(long, value_name = "URL[,URL]")]
    pub queue: String,
    #[command(flatten)]
    pub login: QueueLogin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum QueueFormat {
    Text,
    Json,
}

/// Shown at the end of `worker --help`.
pub(super) const WORKER_HELP: &str = "\
Example: evalrig worker --queue nats://localhost:4222 --workers 16
Example: evalrig worker --queue tls://nats:4222 --queue-creds worker.creds --health 0.0.0.0:9090

Exit codes:
  0  stopped, or idle for --until-idle, and all running cases have finished
  2  could not start: wrong usage, no server, a wrong login, a server older than NATS 2.10";

/// `30s`, `10m`, `500ms`, `1h`.
fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => 0,
    };
    let number = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    match number {
        Some(milliseconds) if milliseconds > 0 => Ok(Duration::from_millis(milliseconds)),
        _ => Err("expected a time such as 30s or 10m".to_owned()),
    }
}

fn lease(text: &str) -> Result<Duration, String> {
    let found = duration(text)?;
    let most = Duration::from_secs(600);
    if (Duration::from_secs(5)..=most).contains(&found) {
        Ok(found)
    } else {
        Err("expected a time from 5s to 10m".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `--attach` takes from the command line: where the run is followed to, and what is said about it.
    const OF_THE_FOLLOWER: &[&str] = &[
        "queue",
        "attach",
        "queue_creds",
        "queue_ca",
        "insecure",
        "output",
        "force",
        "list",
        "no_record",
        "record",
        "store",
        "keep_runs",
        "baseline",
        "baseline_runs",
        "margin",
        "measure",
        "gate",
        "allow_borderline",
        "pass_trials",
        "budget_usd",
        "max_errors",
        "fail_fast",
        "view",
        "no_open",
        "root",
        "env_file",
        "no_env_file",
        "allow_outside_root",
        "profile",
        // Restates a default.
        "messages",
    ];

    #[test]
    fn attach_uses_or_refuses_every_option_of_run() {
        let run = crate::args::Run::augment_args(clap::Command::new("run"));
        let conflicts = |option: &clap::Arg| -> Vec<String> {
            let others = run.get_arg_conflicts_with(option).into_iter();
            others.map(|other| other.get_id().to_string()).collect()
        };
        let of_run = || run.get_arguments();
        let is_given = |id: &str| matches!(id, "attach" | "queue");
        let given = of_run().filter(|option| is_given(option.get_id().as_str()));
        let refused: Vec<String> = given.flat_map(conflicts).collect();
        // Either option of two may name the other one.
        let is_refused = |option: &clap::Arg| {
            refused.iter().any(|one| option.get_id() == one)
                || conflicts(option).iter().any(|other| is_given(other))
        };
        let ignored: Vec<&str> = of_run()
            .filter(|option| !is_refused(option))
            .map(|option| option.get_id().as_str())
            .filter(|id| !OF_THE_FOLLOWER.contains(id))
            // Needs `--rounds`, which is refused.
            .filter(|id| *id != "futility")
            .collect();
        assert_eq!(ignored, [""; 0]);
    }

    #[test]
    fn times_have_a_unit() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        for text in ["", "5", "s", "0s", "1d", "-1s", "1.5s", "99999999999999999999s"] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert!(lease("4s").is_err() && lease("11m").is_err() && lease("5s").is_ok());
    }
}
