//! `fake-model`: the canned model server as a process, for end-to-end scripts and benches.
#![expect(clippy::print_stdout)]

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use fake_model::{FakeModel, Keep, Options, Script};

const USAGE: &str = "usage: fake-model [--port N] [--delay-ms N] [--script FILE] [--log FILE]";

fn main() -> ExitCode {
    match start(std::env::args().skip(1)) {
        Ok(server) => {
            println!("listening on {}", server.address());
            // A script reads this line to learn the port; through a pipe it would stay buffered.
            let _ = io::stdout().flush();
            loop {
                std::thread::park();
            }
        }
        Err(message) => {
            let _ = writeln!(io::stderr(), "fake-model: {message}");
            ExitCode::from(2)
        }
    }
}

fn start(mut args: impl Iterator<Item = String>) -> Result<FakeModel, String> {
    let mut options = Options { port: 0, keep: Keep::Nothing };
    let mut script = Script::new();
    let mut delay = None;
    while let Some(flag) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{flag} needs a value\n{USAGE}"));
        match flag.as_str() {
            "--port" => options.port = number(&flag, &value()?)?,
            "--delay-ms" => delay = Some(number(&flag, &value()?)?),
            "--script" => script = read(&value()?)?,
            "--log" => options.keep = Keep::InFile(PathBuf::from(value()?)),
            _ => return Err(format!("unknown option `{flag}`\n{USAGE}")),
        }
    }
    if let Some(delay) = delay {
        script = script.delay(Duration::from_millis(delay));
    }
    FakeModel::start_with(script, options).map_err(|error| format!("cannot start: {error}"))
}

fn number<T: std::str::FromStr>(flag: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{flag} needs a number, not `{text}`"))
}

fn read(path: &str) -> Result<Script, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    Script::from_json(&text).map_err(|error| format!("{path}: {error}"))
}
