//! Searches with the backtracking engine, within a limit of time. The limit of steps is not enough:
//! one step may look at the whole text.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// After which a search is given up (spec 7.10).
pub(super) const TIME_LIMIT: Duration = Duration::from_secs(10);
/// Up to this many bytes the limit of steps is enough.
const SHORT: usize = 2 * 1024;
/// A thread cannot be stopped from outside. A search that was given up ends at its limit of steps;
/// until then it counts, and with this many of them no further search is begun.
const MOST_GIVEN_UP: usize = 4;

static GIVEN_UP: AtomicUsize = AtomicUsize::new(0);

/// Why a search has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stopped {
    Steps,
    Time,
}

pub(super) fn is_match(engine: &Arc<fancy_regex::Regex>, text: &str) -> Result<bool, Stopped> {
    if text.len() <= SHORT {
        return engine.is_match(text).map_err(|_| Stopped::Steps);
    }
    let (engine, text) = (Arc::clone(engine), text.to_owned());
    within(TIME_LIMIT, &GIVEN_UP, move || engine.is_match(&text).map_err(|_| Stopped::Steps))
}

fn within(
    limit: Duration,
    given_up: &'static AtomicUsize,
    search: impl FnOnce() -> Result<bool, Stopped> + Send + 'static,
) -> Result<bool, Stopped> {
    if given_up.load(Ordering::Relaxed) >= MOST_GIVEN_UP {
        return Err(Stopped::Time);
    }
    let (done, result) = mpsc::sync_channel(0);
    thread::spawn(move || {
        let found = search();
        // The receiver is gone: the search was given up and is over now.
        if done.send(found).is_err() {
            given_up.fetch_sub(1, Ordering::Relaxed);
        }
    });
    result.recv_timeout(limit).unwrap_or_else(|_| {
        given_up.fetch_add(1, Ordering::Relaxed);
        Err(Stopped::Time)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_that_does_not_end_is_given_up() {
        static OWN: AtomicUsize = AtomicUsize::new(0);
        let (end, ended) = mpsc::channel::<()>();
        let endless = move || {
            ended.recv().ok();
            Ok(true)
        };
        assert_eq!(within(Duration::ZERO, &OWN, endless), Err(Stopped::Time));
        assert_eq!(OWN.load(Ordering::Relaxed), 1);
        drop(end);
        while OWN.load(Ordering::Relaxed) > 0 {
            thread::yield_now();
        }
        assert_eq!(within(TIME_LIMIT, &OWN, || Ok(true)), Ok(true));
    }

    #[test]
    fn with_too_many_given_up_none_is_begun() {
        static OWN: AtomicUsize = AtomicUsize::new(MOST_GIVEN_UP);
        assert_eq!(within(TIME_LIMIT, &OWN, || Ok(true)), Err(Stopped::Time));
    }

    #[test]
    fn long_texts_are_searched_as_short_ones_are() {
        let engine = Arc::new(fancy_regex::Regex::new("(?<!x)y").unwrap());
        for length in [1, SHORT, 10 * SHORT] {
            let text = "x".repeat(length);
            assert_eq!(is_match(&engine, &text), Ok(false));
            assert_eq!(is_match(&engine, &format!("{text} y")), Ok(true));
        }
    }
}
