//! The process: its first line, its options, its log.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fake-model"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn address(process: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    line.trim_end().strip_prefix("listening on ").expect("the first line").to_owned()
}

#[test]
fn the_process_plays_a_script_and_keeps_a_log() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (script, log) = (folder.join("script.json"), folder.join("requests.jsonl"));
    std::fs::write(&script, r#"{"default": {"text": "from a file"}}"#).unwrap();
    let mut command = command();
    command.args(["--delay-ms", "1", "--port", "0"]);
    let mut process = command.arg("--script").arg(&script).arg("--log").arg(&log).spawn().unwrap();
    let mut stream = TcpStream::connect(address(&mut process)).unwrap();
    let request = "POST /v1/responses HTTP/1.1\r\nhost: t\r\nauthorization: Bearer secret\r\n\
                   connection: close\r\ncontent-length: 15\r\n\r\n{\"input\": \"hi\"}";
    stream.write_all(request.as_bytes()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    process.kill().unwrap();
    process.wait().unwrap();
    assert!(reply.contains("from a file"), "{reply}");
    let log = std::fs::read_to_string(&log).unwrap();
    assert!(log.contains(r#""path":"/v1/responses""#) && !log.contains("secret"), "{log}");
}

#[test]
fn a_wrong_option_is_an_error() {
    for (args, says) in [
        (&["--nope"][..], "unknown option `--nope`"),
        (&["--port"], "--port needs a value"),
        (&["--port", "x"], "--port needs a number, not `x`"),
        (&["--script", "/does/not/exist"], "/does/not/exist"),
    ] {
        let output = command().args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains(says), "{message}");
    }
}
