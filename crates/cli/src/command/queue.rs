//! `queue`: the runs on a server.

use std::fmt::Write as _;

use evalrig_run::queue::{QueueServer, RunStatus};
use evalrig_run::session::{cancel_queued_run, queued_runs, remove_queued_run};
use serde::Serialize;

use crate::args::{Queue, QueueAction, QueueAddress, QueueFormat, QueueLogin};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::{print_message, print_text};

/// `queue status --format json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StatusDocument {
    schema_version: u32,
    runs: Vec<RunStatus>,
}

pub fn run(context: &Context, args: &Queue) -> Result<Exit, CommandError> {
    let say = &mut |text: String| print_message(&evalrig_run::text::single_line(&text));
    match &args.action {
        QueueAction::Status { run, format, server } => {
            let runs = queued_runs(&server_of(context, server), run.as_deref(), say)?;
            match format {
                QueueFormat::Text => print_text(&text(&runs))?,
                QueueFormat::Json => {
                    let document = StatusDocument { schema_version: 1, runs };
                    let json = serde_json::to_string_pretty(&document).unwrap_or_default();
                    print_text(&format!("{json}\n"))?;
                }
            }
        }
        QueueAction::Cancel { run, server } => {
            cancel_queued_run(&server_of(context, server), run, say)?;
        }
        QueueAction::Remove { run, server } => {
            remove_queued_run(&server_of(context, server), run, say)?;
        }
    }
    Ok(Exit::Success)
}

fn server_of(context: &Context, address: &QueueAddress) -> QueueServer {
    queue_server(context, &address.queue, &address.login)
}

pub(super) fn queue_server(context: &Context, addresses: &str, login: &QueueLogin) -> QueueServer {
    let absolute = |path: &String| context.absolute(path);
    QueueServer {
        addresses: addresses.to_owned(),
        credentials: login.queue_creds.as_ref().map(absolute),
        authorities: login.queue_ca.as_ref().map(absolute),
        is_insecure: login.insecure,
    }
}

fn text(runs: &[RunStatus]) -> String {
    if runs.is_empty() {
        return "no runs\n".to_owned();
    }
    let mut text = String::new();
    for run in runs {
        if run.created.is_empty() {
            let _ = writeln!(text, "{}  {}; `evalrig queue remove` deletes it", run.run, run.state);
            continue;
        }
        let RunStatus { run, state, created, cases, rows, waiting, leased, workers } = run;
        let _ = writeln!(
            text,
            "{run}  {state}  {rows} rows of {cases} cases, {waiting} waiting, {leased} running, since {created}"
        );
        for worker in workers {
            let (name, running, slots, done) =
                (&worker.name, worker.running, worker.slots, worker.done);
            let _ = writeln!(text, "  {name}  {running} of {slots} running, {done} done");
        }
    }
    text
}
