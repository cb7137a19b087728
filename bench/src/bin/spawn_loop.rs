//! `spawn_loop COUNT AT_ONCE PROGRAM` runs a program as often and as many at once as a run of a
//! `cli` target does, gives it the same prompts and reads what it prints. Nothing else: this is
//! the lower bound of a run.

use std::io::{Error, Result};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use evalrig_bench::text;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::task::JoinSet;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [count, at_once, program] = args.as_slice() else {
        return Err(Error::other("usage: spawn_loop COUNT AT_ONCE PROGRAM"));
    };
    let count = count.parse().map_err(Error::other)?;
    let at_once = at_once.parse().map_err(Error::other)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(run_all(count, at_once, program))
}

async fn run_all(count: usize, at_once: usize, program: &str) -> Result<()> {
    let program: Arc<str> = program.into();
    let next = Arc::new(AtomicUsize::new(0));
    let mut workers: JoinSet<Result<()>> = JoinSet::new();
    for _ in 0..at_once {
        let (program, next) = (Arc::clone(&program), Arc::clone(&next));
        workers.spawn(async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    return Ok(());
                }
                run_one(&program, number).await?;
            }
        });
    }
    while let Some(ended) = workers.join_next().await {
        ended??;
    }
    Ok(())
}

async fn run_one(program: &str, number: usize) -> Result<()> {
    let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(text::prompt(number).as_bytes()).await?;
    }
    let output = child.wait_with_output().await?;
    let answer = String::from_utf8_lossy(&output.stdout);
    if answer.contains(text::READY) {
        Ok(())
    } else {
        Err(Error::other(format!("`{program}` printed `{answer}`")))
    }
}
