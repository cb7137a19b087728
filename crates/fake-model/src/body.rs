//! The body of a reply: one document of known length, or events that are sent in chunks.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};

/// Frames that are all there from the beginning.
#[derive(Debug)]
pub(crate) struct Canned {
    frames: VecDeque<Bytes>,
    streamed: bool,
}

impl Canned {
    pub(crate) fn whole(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        let frames = if bytes.is_empty() { VecDeque::new() } else { VecDeque::from([bytes]) };
        Self { frames, streamed: false }
    }

    pub(crate) fn streamed(events: Vec<Bytes>) -> Self {
        Self { frames: events.into(), streamed: true }
    }
}

impl Body for Canned {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.frames.pop_front().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.frames.is_empty()
    }

    /// A stream hides its length, which makes hyper send it in chunks as a real server does.
    fn size_hint(&self) -> SizeHint {
        if self.streamed {
            return SizeHint::default();
        }
        SizeHint::with_exact(self.frames.iter().map(|bytes| bytes.len() as u64).sum())
    }
}
