//! `agent_stream [MEGABYTES]` makes a stream of Claude Code of that size (default 100) and prints how
//! long evalrig takes to read it, beside `serde_json` parsing its lines, and how much memory reading it
//! in pieces takes. Exits with 1 if the ratio is above 1.5, or if reading takes more memory than the
//! transcript explains.

use std::hint::black_box;
use std::io::{Error, Result, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use evalrig_run::format::{OutputFormat, StreamMeter};

/// The highest ratio that is fine.
const LIMIT: f64 = 1.5;

/// Bytes that reading may take at once besides what it keeps.
const EXTRA_LIMIT: u64 = 8_000_000;

/// What a call prints.
const OUTPUT: &str = "2026-01-02 03:04:05 \\\"GET /v1/items?page=3\\\" 200 1534 \\u00e9\\n";

fn main() -> Result<ExitCode> {
    let megabytes = match std::env::args().nth(1) {
        Some(text) => text.parse().map_err(|_| Error::other("usage: agent_stream [MEGABYTES]"))?,
        None => 100,
    };
    let stream = stream(megabytes * 1_000_000);
    // Before anything else leaves memory behind that it could use.
    let memory = memory_of_reading(&stream)?;
    let parsed = fastest(|| parse_lines(&stream));
    let read = fastest(|| read_stream(&stream));
    let ratio = read.as_secs_f64() / parsed.as_secs_f64();
    let mut out = std::io::stdout();
    writeln!(out, "stream:        {} MB", stream.len() / 1_000_000)?;
    writeln!(out, "serde_json:    {:.3} s", parsed.as_secs_f64())?;
    writeln!(out, "evalrig:       {:.3} s", read.as_secs_f64())?;
    writeln!(out, "ratio:         {ratio:.2} (limit {LIMIT})")?;
    let held = largest_rest(&stream);
    writeln!(out, "line buffer:   {held} bytes at most")?;
    let extra = match memory {
        Some(memory) => {
            let [begun, peak, kept] = memory.map(|bytes| bytes / 1_000_000);
            writeln!(out, "before:        {begun} MB resident")?;
            writeln!(out, "peak:          {peak} MB resident")?;
            writeln!(out, "transcript:    {kept} MB resident at the end")?;
            memory[1].saturating_sub(memory[2])
        }
        // Only Linux tells.
        None => 0,
    };
    writeln!(out, "besides it:    {} kB (limit {} kB)", extra / 1000, EXTRA_LIMIT / 1000)?;
    let is_fine = ratio <= LIMIT && held <= 64 * 1024 && extra <= EXTRA_LIMIT;
    Ok(if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Of three tries, because other programs run too.
fn fastest(mut work: impl FnMut()) -> Duration {
    let tries = (0..3).map(|_| {
        let begun = Instant::now();
        work();
        begun.elapsed()
    });
    tries.min().unwrap_or_default()
}

fn parse_lines(stream: &str) {
    for line in stream.lines() {
        let value: serde_json::Value = serde_json::from_str(line).expect("the stream is JSON");
        black_box(&value);
    }
}

fn read_stream(stream: &str) {
    let read = evalrig_run::format::read(OutputFormat::ClaudeJson, stream.as_bytes());
    black_box(read.expect("the stream is sound"));
}

/// The most that is held of the stream itself while it comes in pieces.
fn largest_rest(stream: &str) -> usize {
    let mut meter = StreamMeter::new(OutputFormat::ClaudeJson);
    let pieces = stream.as_bytes().chunks(8 * 1024);
    pieces.map(|piece| meter.feed(piece)).max().unwrap_or_default()
}

/// Resident bytes: before the stream is read in pieces, and what comes on top of that at the peak and at the
/// end, when the transcript is still held. `None` where the system does not tell.
fn memory_of_reading(stream: &str) -> Result<Option<[u64; 3]>> {
    // Sets the peak back to what is resident now.
    if std::fs::write("/proc/self/clear_refs", "5").is_err() {
        return Ok(None);
    }
    let begun = status("VmRSS:")?;
    let mut meter = StreamMeter::new(OutputFormat::ClaudeJson);
    for piece in stream.as_bytes().chunks(8 * 1024) {
        meter.feed(piece);
    }
    let (peak, end) = (status("VmHWM:")?, status("VmRSS:")?);
    black_box(&meter);
    let kept = end.saturating_sub(begun);
    Ok(Some([begun, peak.saturating_sub(begun), kept]))
}

/// A figure of this process, in bytes.
fn status(name: &str) -> Result<u64> {
    let text = std::fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let number =
        line.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    number.map(|kilobytes| kilobytes * 1024).ok_or_else(|| Error::other(format!("no {name}")))
}

/// Texts, calls with results of many lines, and partial messages, as a long session has them.
fn stream(bytes: usize) -> String {
    let init = r#"{"type":"system","subtype":"init","session_id":"s","tools":["Bash"],"model":"m","skills":["a"]}"#;
    let mut text = format!("{init}\n");
    let mut at = 0_u64;
    while text.len() < bytes {
        at += 1;
        let usage = r#""usage":{"input_tokens":120,"cache_creation_input_tokens":0,"cache_read_input_tokens":30,"output_tokens":1}"#;
        let rest =
            r#""parent_tool_use_id":null,"session_id":"s","timestamp":"2026-01-02T03:04:05.678Z""#;
        let said = "I look at the next file, because the test names it. ".repeat(6);
        text += &format!(
            "{{\"type\":\"assistant\",\"message\":{{\"id\":\"m{at}\",\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"{said}\"}}],{usage}}},{rest}}}\n\
             {{\"type\":\"assistant\",\"message\":{{\"id\":\"m{at}\",\"role\":\"assistant\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"t{at}\",\"name\":\"Bash\",\"input\":{{\"command\":\"cat log/{at}.txt\",\"timeout\":{at}}}}}],{usage}}},{rest}}}\n"
        );
        for delta in 0..10 {
            text += &format!(
                "{{\"type\":\"stream_event\",\"event\":{{\"type\":\"content_block_delta\",\"index\":{delta},\"delta\":{{\"type\":\"text_delta\",\"text\":\"I look\"}}}},{rest}}}\n"
            );
        }
        let output = OUTPUT.repeat(40);
        text += &format!(
            "{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"t{at}\",\"content\":\"{output}\"}}]}},{rest},\"tool_use_result\":{{\"stdout\":\"{output}\",\"stderr\":\"\",\"interrupted\":false}}}}\n"
        );
    }
    let result = r#"{"type":"result","subtype":"success","is_error":false,"result":"Done.","total_cost_usd":1.5,"duration_ms":5,"usage":{"input_tokens":1,"output_tokens":1}}"#;
    text + result + "\n"
}
