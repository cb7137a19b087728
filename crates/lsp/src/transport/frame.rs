//! One message of the base protocol: headers, an empty line, a body of JSON. Whatever the other side
//! sends, reading goes on with the next message; memory is bounded by [`MESSAGE_LIMIT`].

use std::io::{self, BufRead, Read};

use lsp_server::{Message, RequestId};

/// A longer body is skipped.
pub const MESSAGE_LIMIT: u64 = 256 * 1024 * 1024;

/// A longer header line is cut; no known header is that long.
const HEADER_LIMIT: u64 = 8 * 1024;

/// What was read.
#[derive(Debug)]
pub(crate) enum Frame {
    Message(Message),
    /// Not a message, and why. With the id of the request, where that can be told.
    Malformed(Option<RequestId>, String),
}

/// The next message; `None` at the end of the stream.
pub(crate) fn read_frame(input: &mut dyn BufRead) -> io::Result<Option<Frame>> {
    let Some(length) = read_headers(input)? else {
        return Ok(None);
    };
    if length > MESSAGE_LIMIT {
        io::copy(&mut input.take(length), &mut io::sink())?;
        return Ok(Some(Frame::Malformed(
            None,
            format!("a message of {length} bytes is too long"),
        )));
    }
    let mut body = Vec::new();
    // The length is a claim: memory grows with what really comes.
    if (input.take(length).read_to_end(&mut body)? as u64) < length {
        return Ok(None);
    }
    Ok(Some(parse(&body)))
}

fn parse(body: &[u8]) -> Frame {
    match serde_json::from_slice(body) {
        Ok(message) => Frame::Message(message),
        Err(_) => {
            let value: Option<serde_json::Value> = serde_json::from_slice(body).ok();
            let id = value.as_ref().and_then(|value| value.get("id")).cloned();
            let id = id.and_then(|id| serde_json::from_value(id).ok());
            let why = if value.is_some() { "not a message of JSON-RPC" } else { "not JSON" };
            Frame::Malformed(id, why.to_owned())
        }
    }
}

/// The length of the body. Lines that are not headers, such as what a shell prints in between, are
/// skipped.
fn read_headers(input: &mut dyn BufRead) -> io::Result<Option<u64>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if input.take(HEADER_LIMIT).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if text.is_empty() {
            match length {
                Some(length) => return Ok(Some(length)),
                None => continue,
            }
        }
        if let Some((name, value)) = text.split_once(':')
            && name.trim().eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(bytes: &[u8]) -> Vec<String> {
        let mut input = bytes;
        let mut found = Vec::new();
        while let Some(frame) = read_frame(&mut input).unwrap() {
            found.push(match frame {
                Frame::Message(Message::Request(request)) => request.method,
                Frame::Message(Message::Notification(notification)) => notification.method,
                Frame::Message(Message::Response(response)) => format!("{}", response.id),
                Frame::Malformed(id, why) => format!("{id:?} {why}"),
            });
        }
        found
    }

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn messages_are_read_one_after_another() {
        let text = framed(r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#)
            + "content-length: 17\r\nContent-Type: x\r\n\r\n"
            + r#"{"method":"bcdé"}"#;
        assert_eq!(frames(text.replace("bcdé", "bcde").as_bytes()), ["a", "bcde"]);
    }

    #[test]
    fn garbage_is_skipped_or_named() {
        let text = String::from("$ noise\r\n\r\n")
            + &framed("{")
            + &framed(r#"{"id":7}"#)
            + &framed(r#"{"id":[],"method":3}"#)
            + &framed(&"[".repeat(10_000))
            + "Content-Length: -5\r\n\r\n"
            + &framed(r#"{"method":"b"}"#);
        let expected =
            ["None not JSON", "7", "None not a message of JSON-RPC", "None not JSON", "b"];
        let found = frames(text.as_bytes());
        assert_eq!(found.len(), expected.len(), "{found:?}");
        assert_eq!(found[0], expected[0]);
        assert_eq!(found[2..], expected[2..]);
    }

    #[test]
    fn a_length_that_is_not_true_takes_no_memory() {
        assert!(frames(b"Content-Length: 99999999999999999\r\n\r\nabc").len() <= 1);
        assert!(frames(b"Content-Length: 200000000\r\n\r\nabc").is_empty());
    }
}
