//! `worker`: runs cases of a queue.

use std::sync::Arc;

use evalrig_core::reader::EnvFiles;
use evalrig_run::session::{LoadOptions, WorkerSpec, run_worker};

use crate::args::Worker;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::print_status;

use super::queue::queue_server;

pub fn run(context: &Context, args: &Worker) -> Result<Exit, CommandError> {
    let mut loading = LoadOptions::new(context.working_directory.clone());
    loading.env_files = match &args.env_file {
        Some(file) => EnvFiles::Only(context.absolute(file)),
        None => EnvFiles::None,
    };
    loading.check()?;
    let spec = WorkerSpec {
        server: queue_server(context, &args.queue, &args.login),
        workers: args.workers,
        cache: args.cache.as_ref().map(|cache| context.absolute(cache)),
        name: args.name.clone(),
        health: args.health,
        until_idle: args.until_idle,
        replicas: usize::from(args.replicas),
        loading,
    };
    let is_quiet = context.global.quiet;
    let say = Arc::new(move |text: String| {
        if !is_quiet {
            print_status(&evalrig_run::text::single_line(&text));
        }
    });
    run_worker(spec, say)?;
    Ok(Exit::Success)
}
