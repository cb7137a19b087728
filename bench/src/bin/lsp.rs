//! `lsp PROGRAM FILE [--gate]` drives the language server of evalrig with a file of many tests and prints
//! the time from a keystroke to its diagnostics, and that of a completion, beside the time that
//! `validate` of the same file takes. Ratios within one run count: machines differ and are shared.

#![expect(clippy::print_stdout, reason = "a table is what this program is for")]

use std::fs;
use std::io::{BufRead, BufReader, Error, Read, Result, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const KEYSTROKES: usize = 100;
const COMPLETIONS: usize = 50;
const VALIDATIONS: usize = 20;

/// An unknown field, and three faults after which the rest of the file cannot be read.
const PIECES: [&str; 4] = ["x", "- ", "[", "\""];

/// Milliseconds within which diagnostics and completions come, 95 times of 100.
const LONGEST_KEYSTROKE: f64 = 50.0;
const LONGEST_COMPLETION: f64 = 30.0;
/// Of the diagnostics after a keystroke to `validate`, which also starts a process.
const LARGEST_RATIO: f64 = 1.5;

fn main() -> Result<ExitCode> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let (program, file, is_gate) = match words.as_slice() {
        [program, file] => (*program, Path::new(*file), false),
        [program, file, "--gate"] => (*program, Path::new(*file), true),
        _ => return Err(Error::other("usage: lsp PROGRAM FILE [--gate]")),
    };
    let file = file.canonicalize()?;
    let validate = percentiles(validate_times(program, &file)?);
    let mut editor = Editor::start(program, &file)?;
    let keystroke = percentiles(editor.keystrokes()?);
    let completion = percentiles(editor.completions()?);
    editor.stop()?;
    println!("{:<40} {:>8} {:>8} {:>8}", "what", "p50 ms", "p95 ms", "limit");
    println!("{:<40} {:>8.1} {:>8.1}", "validate, with its start", validate.0, validate.1);
    let row = |what: &str, (middle, most): (f64, f64), limit: f64| {
        println!("{what:<40} {middle:>8.1} {most:>8.1} {limit:>8.1}");
    };
    row("diagnostics after a keystroke", keystroke, LONGEST_KEYSTROKE);
    row("completion", completion, LONGEST_COMPLETION);
    let ratio = keystroke.1 / validate.1;
    println!("{:<40} {ratio:>17.2} {LARGEST_RATIO:>8.1}", "keystroke : validate, p95");
    let is_within = keystroke.1 <= LONGEST_KEYSTROKE
        && completion.1 <= LONGEST_COMPLETION
        && ratio <= LARGEST_RATIO;
    Ok(if is_gate && !is_within { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The middle and the 95th of 100, in milliseconds.
fn percentiles(mut times: Vec<Duration>) -> (f64, f64) {
    times.sort();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1000.0;
    (at(50), at(95))
}

fn validate_times(program: &str, file: &Path) -> Result<Vec<Duration>> {
    let once = |_| {
        let start = Instant::now();
        Command::new(program).arg("validate").arg(file).output()?;
        Ok(start.elapsed())
    };
    (0..VALIDATIONS).map(once).collect()
}

struct Editor {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    uri: String,
    text: String,
    version: i32,
}

impl Editor {
    fn start(program: &str, file: &Path) -> Result<Self> {
        let mut command = Command::new(program);
        command.arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let gone = || Error::other("a stream is missing");
        let input = child.stdin.take().ok_or_else(gone)?;
        let output = BufReader::new(child.stdout.take().ok_or_else(gone)?);
        let text = fs::read_to_string(file)?;
        let uri = format!("file://{}", file.display());
        let mut editor = Self { child, input, output, uri, text, version: 1 };
        editor.request("initialize", &json!({"capabilities": {}}))?;
        let item = json!({
            "uri": editor.uri, "languageId": "yaml", "version": 1, "text": editor.text,
        });
        editor.notify("textDocument/didOpen", &json!({"textDocument": item}))?;
        // The answer comes when the file is loaded.
        let document = json!({"textDocument": {"uri": editor.uri}});
        editor.request("textDocument/codeLens", &document)?;
        Ok(editor)
    }

    /// The lines of the file that are the criteria of a test.
    fn criteria(&self) -> Vec<usize> {
        let lines = self.text.lines().enumerate();
        let found = lines.filter(|(_, line)| line.trim_start().starts_with("criteria:"));
        found.map(|(at, _)| at).collect()
    }

    /// Typed into a key and taken out again. Every stroke changes what is reported, so an answer comes.
    fn keystrokes(&mut self) -> Result<Vec<Duration>> {
        let lines = self.criteria();
        let mut times = Vec::with_capacity(KEYSTROKES);
        for stroke in 0..KEYSTROKES {
            let line = lines[(stroke / 2 * 7) % lines.len()];
            let text = self.text.lines().nth(line).unwrap_or_default();
            let column = text.len() - text.trim_start().len();
            let piece = PIECES[stroke / 2 % PIECES.len()];
            let (end, typed) =
                if stroke % 2 == 0 { (column, piece) } else { (column + piece.len(), "") };
            self.version += 1;
            let document = json!({"uri": self.uri, "version": self.version});
            let range = json!({
                "start": {"line": line, "character": column},
                "end": {"line": line, "character": end},
            });
            let params = json!({
                "textDocument": document,
                "contentChanges": [{"range": range, "text": typed}],
            });
            let start = Instant::now();
            self.notify("textDocument/didChange", &params)?;
            while self.receive()?["params"]["version"] != self.version {}
            times.push(start.elapsed());
        }
        Ok(times)
    }

    fn completions(&mut self) -> Result<Vec<Duration>> {
        let lines = self.criteria();
        let mut times = Vec::with_capacity(COMPLETIONS);
        for number in 0..COMPLETIONS {
            let line = lines[(number * 13) % lines.len()];
            let text = self.text.lines().nth(line).unwrap_or_default();
            let column = text.len() - text.trim_start().len() + 2;
            let params = json!({
                "textDocument": {"uri": self.uri},
                "position": {"line": line, "character": column},
            });
            let start = Instant::now();
            let found = self.request("textDocument/completion", &params)?;
            times.push(start.elapsed());
            if found["items"].as_array().is_none_or(Vec::is_empty) {
                return Err(Error::other("nothing was offered"));
            }
        }
        Ok(times)
    }

    fn notify(&mut self, method: &str, params: &Value) -> Result<()> {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))?;
        loop {
            let message = self.receive()?;
            if message["id"] == 1 {
                return Ok(message["result"].clone());
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let body = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{body}", body.len())?;
        self.input.flush()
    }

    fn receive(&mut self) -> Result<Value> {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line)? == 0 {
                return Err(Error::other("the server ended"));
            }
            match line.trim().strip_prefix("Content-Length: ") {
                Some(value) => length = value.parse().map_err(Error::other)?,
                None if line.trim().is_empty() => break,
                None => {}
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body)?;
        serde_json::from_slice(&body).map_err(Error::other)
    }

    fn stop(mut self) -> Result<()> {
        self.request("shutdown", &Value::Null)?;
        self.notify("exit", &Value::Null)?;
        self.child.wait().map(drop)
    }
}
