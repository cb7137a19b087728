//! `rate DIRECTORY EVALRIG [--gate]`: several processes with several workers each share one limit on
//! requests. A server on loopback notes when each request arrives. Shows the busiest second and the
//! busiest ten seconds beside the limit, and how much of the limit was used while there was work.

#![expect(clippy::print_stdout, reason = "a table is what this program is for")]

use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use evalrig_bench::cost::Verdict;

type Outcome<T> = Result<T, Box<dyn Error>>;

const PROCESSES: usize = 4;
const WORKERS: usize = 4;
const TESTS: usize = 600;
/// A hundred per second.
const PER_MINUTE: u64 = 6000;

const MOST: f64 = 1.02;
const LEAST: f64 = 0.95;

const REPLY: &str = r#"{"id":"r","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"ready"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":1,"total_tokens":6}}"#;

fn main() -> Outcome<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, evalrig, rest @ ..] = arguments.as_slice() else {
        return Err("usage: rate DIRECTORY EVALRIG [--gate]".into());
    };
    let directory = Path::new(directory);
    let _ = fs::remove_dir_all(directory);
    fs::create_dir_all(directory.join(".evalrig"))?;
    let arrivals = Arc::new(Mutex::new(Vec::new()));
    let address = serve(Arc::clone(&arrivals))?;
    write_suite(directory, &address)?;
    let mut running = Vec::new();
    for number in 0..PROCESSES {
        let child = Command::new(fs::canonicalize(evalrig)?)
            .args(["run", "--no-record", "--quiet", "--workers", &WORKERS.to_string()])
            .args(["--output", &format!("{number}.jsonl")])
            .env("XDG_CACHE_HOME", fs::canonicalize(directory)?.join("cache"))
            .current_dir(directory)
            .stdout(Stdio::null())
            .spawn()?;
        running.push(child);
    }
    for mut child in running {
        if !child.wait()?.success() {
            return Err("a run failed".into());
        }
    }
    let mut arrivals = arrivals.lock().map_err(|_| "the server panicked")?.clone();
    arrivals.sort();
    if arrivals.len() != PROCESSES * TESTS {
        return Err(format!("{} requests arrived", arrivals.len()).into());
    }
    let mut verdict = Verdict::Within;
    report(&arrivals, &mut verdict);
    fs::remove_dir_all(directory)?;
    let is_gated = rest.iter().any(|one| one == "--gate");
    Ok(if is_gated { verdict.gate() } else { ExitCode::SUCCESS })
}

fn report(arrivals: &[Instant], verdict: &mut Verdict) {
    let limit = PER_MINUTE as f64 / 60.0;
    println!("{PROCESSES} processes with {WORKERS} workers, {PER_MINUTE} requests per minute");
    for seconds in [1, 10] {
        let busiest = busiest(arrivals, Duration::from_secs(seconds)) as f64;
        let share = busiest / (limit * seconds as f64);
        let result = verdict.judge(share <= MOST);
        println!("busiest {seconds:>2} s: {share:.3} of the limit (at most {MOST}) {result}");
    }
    let (Some(first), Some(last)) = (arrivals.first(), arrivals.last()) else { return };
    let used = (arrivals.len() - 1) as f64 / (*last - *first).as_secs_f64() / limit;
    let result = verdict.judge(used >= LEAST);
    println!("from first to last: {used:.3} of the limit (at least {LEAST}) {result}");
}

/// The most arrivals in any window of this length.
fn busiest(arrivals: &[Instant], window: Duration) -> usize {
    let within = |at: usize| {
        let end = arrivals[at] + window;
        arrivals[at..].iter().take_while(|time| **time < end).count()
    };
    (0..arrivals.len()).map(within).max().unwrap_or(0)
}

fn write_suite(directory: &Path, address: &str) -> Outcome<()> {
    let tests: String = (0..TESTS)
        .map(|at| {
            format!("  - {{id: t{at}, criteria: c, input: Hi, assert: [{{type: contains, value: ready}}]}}\n")
        })
        .collect();
    fs::write(directory.join("EVAL.yaml"), format!("name: rate\ntests:\n{tests}"))?;
    let targets = format!(
        "targets:\n  - {{name: default, provider: openai, base_url: \"{address}/v1\", api_key: none-here, \
         model: m, rate: {{requests_per_minute: {PER_MINUTE}}}}}\n"
    );
    fs::write(directory.join(".evalrig/targets.yaml"), targets)?;
    Ok(())
}

/// Answers every request at once. Returns the address.
fn serve(arrivals: Arc<Mutex<Vec<Instant>>>) -> Outcome<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = format!("http://{}", listener.local_addr()?);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let arrivals = Arc::clone(&arrivals);
            std::thread::spawn(move || answer_all(stream, &arrivals));
        }
    });
    Ok(address)
}

fn answer_all(stream: TcpStream, arrivals: &Mutex<Vec<Instant>>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut writer = stream.try_clone()?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut length = 0;
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        if let Ok(mut arrivals) = arrivals.lock() {
            arrivals.push(Instant::now());
        }
        while line.trim_end() != "" {
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap_or(0);
            }
            line.clear();
            reader.read_line(&mut line)?;
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        write!(
            writer,
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{REPLY}",
            REPLY.len()
        )?;
    }
}
