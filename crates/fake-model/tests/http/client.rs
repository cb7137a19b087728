//! A client of a few lines that keeps its connection: tests see every byte and every connection.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use fake_model::FakeModel;
use serde_json::Value;

pub struct Client(BufReader<TcpStream>);

pub struct Response {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Client {
    pub fn connect(server: &FakeModel) -> Self {
        let stream = TcpStream::connect(server.address()).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
        Self(BufReader::new(stream))
    }

    pub fn post(&mut self, path: &str, body: &Value) -> io::Result<Response> {
        self.send("POST", path, &body.to_string())
    }

    pub fn send(&mut self, method: &str, path: &str, body: &str) -> io::Result<Response> {
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: test\r\nx-api-key: k\r\n\
             content-length: {length}\r\n\r\n{body}"
        );
        self.0.get_mut().write_all(request.as_bytes())?;
        let status = self.line()?;
        let status = status.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.ok_or(io::ErrorKind::UnexpectedEof)?;
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(':') else {
                break;
            };
            headers.push((name.to_lowercase(), value.trim().to_owned()));
        }
        let mut response = Response { status, headers, body: String::new() };
        response.body = match response.header("content-length") {
            Some(length) => self.text(length.parse().expect("a length"))?,
            None => self.chunks()?,
        };
        Ok(response)
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.0.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    }

    fn text(&mut self, length: usize) -> io::Result<String> {
        let mut bytes = vec![0; length];
        self.0.read_exact(&mut bytes)?;
        Ok(String::from_utf8(bytes).expect("text"))
    }

    fn chunks(&mut self) -> io::Result<String> {
        let mut body = String::new();
        loop {
            let length = usize::from_str_radix(&self.line()?, 16).expect("the size of a chunk");
            body += &self.text(length)?;
            self.line()?;
            if length == 0 {
                return Ok(body);
            }
        }
    }
}

impl Response {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("JSON")
    }

    /// The data of all events, after a check that each is named by its type or not at all.
    pub fn events(&self) -> Vec<Value> {
        assert_eq!(self.header("content-type"), Some("text/event-stream"));
        let mut events = Vec::new();
        for block in self.body.split_terminator("\n\n") {
            let (name, data) = match block.split_once('\n') {
                Some((name, data)) => (name.strip_prefix("event: "), data),
                None => (None, block),
            };
            let data = data.strip_prefix("data: ").expect("data");
            if data == "[DONE]" {
                continue;
            }
            let data: Value = serde_json::from_str(data).expect("JSON");
            assert_eq!(name, data["type"].as_str());
            events.push(data);
        }
        events
    }
}
