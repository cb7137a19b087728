//! The loop: messages in, answers and diagnostics out. Messages are handled in the order in which they
//! come; suites are loaded when no message waits, so that fast typing costs one load and not one per
//! key.

mod client;
mod kept_lenses;
mod notify;
mod session;

use std::collections::VecDeque;
use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;

use evalrig_run::text::paragraph;
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};

use crate::transport::{Frame, read_frame};

use client::Client;
use session::Session;

/// Messages that wait before the other side has to.
const WAITING: usize = 1024;

/// After so many messages without a pause, suites are loaded all the same.
const MOST_WITHOUT_WORK: usize = 64;

/// How the server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServeEnd {
    /// The client said `shutdown`, then `exit`.
    Regular,
    /// The client said `exit` without `shutdown`, or closed the stream.
    Abrupt,
}

/// Serves one client until it says `exit` or closes the stream.
///
/// # Errors
/// When the output cannot be written.
pub fn serve(
    mut input: impl BufRead + Send + 'static,
    output: &mut dyn Write,
    version: &str,
) -> io::Result<ServeEnd> {
    let (sender, receiver) = sync_channel(WAITING);
    thread::spawn(move || {
        while let Ok(Some(frame)) = read_frame(&mut input) {
            if sender.send(frame).is_err() {
                return;
            }
        }
    });
    Server { output, version: version.to_owned(), state: Lifecycle::New, waiting: VecDeque::new() }
        .run(&receiver)
}

enum Lifecycle {
    New,
    Ready(Box<Session>),
    ShutDown,
}

struct Server<'o> {
    output: &'o mut dyn Write,
    version: String,
    state: Lifecycle,
    waiting: VecDeque<Frame>,
}

impl Server<'_> {
    fn run(mut self, receiver: &Receiver<Frame>) -> io::Result<ServeEnd> {
        let mut without_work = 0;
        loop {
            let is_open = self.drain(receiver);
            if self.waiting.is_empty() || without_work >= MOST_WITHOUT_WORK {
                without_work = 0;
                if self.work()? {
                    continue;
                }
            }
            let frame = match self.waiting.pop_front() {
                Some(frame) => frame,
                None if !is_open => return Ok(ServeEnd::Abrupt),
                None => match receiver.recv() {
                    Ok(frame) => frame,
                    Err(_) => return Ok(ServeEnd::Abrupt),
                },
            };
            without_work += 1;
            if let Some(end) = self.handle(frame)? {
                return Ok(end);
            }
        }
    }

    /// Takes what has come; `false` once nothing more can come.
    fn drain(&mut self, receiver: &Receiver<Frame>) -> bool {
        while self.waiting.len() < WAITING {
            match receiver.try_recv() {
                Ok(frame) => self.waiting.push_back(frame),
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Disconnected) => return false,
            }
        }
        true
    }

    /// Loads one suite, if one is out of date, and sends what was found.
    fn work(&mut self) -> io::Result<bool> {
        let Lifecycle::Ready(session) = &mut self.state else {
            return Ok(false);
        };
        let worked = catch_unwind(AssertUnwindSafe(|| session.project.work()));
        let messages = session.outgoing();
        for message in messages {
            self.send(message)?;
        }
        match worked {
            Ok(worked) => Ok(worked),
            Err(_) => {
                self.log("loading a suite failed; please report the message on standard error")?;
                if let Lifecycle::Ready(session) = &mut self.state {
                    session.project.give_up();
                }
                Ok(true)
            }
        }
    }

    fn handle(&mut self, frame: Frame) -> io::Result<Option<ServeEnd>> {
        match frame {
            Frame::Message(Message::Request(request)) => self.request(request)?,
            Frame::Message(Message::Notification(one)) if one.method == "exit" => {
                let is_regular = matches!(self.state, Lifecycle::ShutDown);
                let end = if is_regular { ServeEnd::Regular } else { ServeEnd::Abrupt };
                return Ok(Some(end));
            }
            Frame::Message(Message::Notification(notification)) => {
                self.notification(notification)?
            }
            // The answers to what the server asks need no work.
            Frame::Message(Message::Response(_)) => {}
            Frame::Malformed(Some(id), why) => self.refuse(id, ErrorCode::InvalidRequest, &why)?,
            Frame::Malformed(None, why) => self.log(&format!("ignored a message: {why}"))?,
        }
        Ok(None)
    }

    fn request(&mut self, request: Request) -> io::Result<()> {
        let id = request.id.clone();
        if self.is_cancelled(&id) {
            return self.refuse(id, ErrorCode::RequestCanceled, "cancelled");
        }
        match (&mut self.state, request.method.as_str()) {
            (Lifecycle::New, "initialize") => {
                let client = Client::of(&request.params);
                let session = Session::new(client);
                let result = session.initialize_result(&self.version);
                self.state = Lifecycle::Ready(Box::new(session));
                self.send(Message::Response(Response::new_ok(id, result)))
            }
            (Lifecycle::New, _) => {
                self.refuse(id, ErrorCode::ServerNotInitialized, "`initialize` comes first")
            }
            (Lifecycle::Ready(_), "initialize") | (Lifecycle::ShutDown, _) => {
                self.refuse(id, ErrorCode::InvalidRequest, "not at this point")
            }
            (Lifecycle::Ready(_), "shutdown") => {
                self.state = Lifecycle::ShutDown;
                self.send(Message::Response(Response::new_ok(id, Value::Null)))
            }
            (Lifecycle::Ready(session), _) => {
                let answered = catch_unwind(AssertUnwindSafe(|| {
                    panic_if_asked(&request.method);
                    session.answer(&request)
                }));
                let answer = answered.unwrap_or_else(|_| {
                    let text = "this request failed; please report the message on standard error";
                    Err((ErrorCode::InternalError, text.to_owned()))
                });
                // What was loaded for the answer comes before it.
                let messages = session.outgoing();
                messages.into_iter().try_for_each(|message| self.send(message))?;
                match answer {
                    Ok(value) => self.send(Message::Response(Response::new_ok(id, value))),
                    Err((code, why)) => self.refuse(id, code, &why),
                }
            }
        }
    }

    fn notification(&mut self, notification: Notification) -> io::Result<()> {
        let Lifecycle::Ready(session) = &mut self.state else {
            return Ok(());
        };
        let done = catch_unwind(AssertUnwindSafe(|| {
            panic_if_asked(&notification.method);
            session.hear(notification)
        }));
        let messages = session.outgoing();
        messages.into_iter().try_for_each(|message| self.send(message))?;
        match done {
            Ok(Ok(())) => Ok(()),
            Ok(Err(why)) => self.log(&format!("ignored a message: {why}")),
            Err(_) => self.log("a message failed; please report the message on standard error"),
        }
    }

    /// Whether a later message takes the request back.
    fn is_cancelled(&self, id: &RequestId) -> bool {
        self.waiting.iter().any(|frame| match frame {
            Frame::Message(Message::Notification(one)) if one.method == "$/cancelRequest" => {
                let cancelled = one.params.get("id").cloned();
                cancelled.and_then(|id| serde_json::from_value(id).ok()) == Some(id.clone())
            }
            _ => false,
        })
    }

    fn refuse(&mut self, id: RequestId, code: ErrorCode, why: &str) -> io::Result<()> {
        self.send(Message::Response(Response::new_err(
            id,
            code as i32,
            paragraph(why).into_owned(),
        )))
    }

    fn log(&mut self, text: &str) -> io::Result<()> {
        let params = json!({"type": 2, "message": format!("evalrig: {}", paragraph(text))});
        self.send(Message::Notification(Notification::new("window/logMessage".to_owned(), params)))
    }

    fn send(&mut self, message: Message) -> io::Result<()> {
        message.write(&mut self.output)
    }
}

/// Panics at messages with the method that `EVALRIG_TEST_PANIC` names. Only in debug builds, for tests.
fn panic_if_asked(method: &str) {
    if cfg!(debug_assertions)
        && std::env::var("EVALRIG_TEST_PANIC").is_ok_and(|wanted| wanted == method)
    {
        panic!("asked for by a test");
    }
}
