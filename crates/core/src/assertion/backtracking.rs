//! Searches with the backtracking engine, and validations that may search, within the time of their
//! case. The limit of steps is not enough: one step may look at the whole text.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::model::SearchTime;

/// Up to this many bytes the limit of steps is enough.
const SHORT: usize = 2 * 1024;
/// A thread cannot be stopped from outside. A search that was given up ends at its limit of steps;
/// until then it counts, and with this many of them no further search is begun.
const MOST_GIVEN_UP: usize = 4;

const SEARCH_STACK: usize = 2 * 1024 * 1024;
/// For schemas and values that are nested deep. Memory is taken only as far as the stack is used.
pub(super) const LARGE_STACK: usize = 64 * 1024 * 1024;

static GIVEN_UP: AtomicUsize = AtomicUsize::new(0);

/// Why a search has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stopped {
    Steps,
    Time,
}

/// The end of a search without a result.
pub(super) fn out_of_time(what: &str) -> String {
    let limit = SearchTime::LIMIT.as_secs();
    format!(
        "{what} was given up: the patterns and schemas of a test may take {limit} seconds together"
    )
}

pub(super) fn is_match(
    engine: &Arc<fancy_regex::Regex>,
    text: &str,
    time: &SearchTime,
) -> Result<bool, Stopped> {
    if text.len() > SHORT {
        let (engine, text) = (Arc::clone(engine), text.to_owned());
        let search = move || engine.is_match(&text).map_err(|_| Stopped::Steps);
        return in_time(time, SEARCH_STACK, search);
    }
    time.left().ok_or(Stopped::Time)?;
    time.measure(|| engine.is_match(text).map_err(|_| Stopped::Steps))
}

/// Does it on a thread of its own.
pub(super) fn in_time<T: Send + 'static>(
    time: &SearchTime,
    stack: usize,
    search: impl FnOnce() -> Result<T, Stopped> + Send + 'static,
) -> Result<T, Stopped> {
    let limit = time.left().ok_or(Stopped::Time)?;
    time.measure(|| within(limit, stack, &GIVEN_UP, search))
}

fn within<T: Send + 'static>(
    limit: Duration,
    stack: usize,
    given_up: &'static AtomicUsize,
    search: impl FnOnce() -> Result<T, Stopped> + Send + 'static,
) -> Result<T, Stopped> {
    if given_up.load(Ordering::Relaxed) >= MOST_GIVEN_UP {
        return Err(Stopped::Time);
    }
    let (done, result) = mpsc::sync_channel(0);
    let started = thread::Builder::new().stack_size(stack).spawn(move || {
        let found = search();
        // The receiver is gone: the search was given up and is over now.
        if done.send(found).is_err() {
            given_up.fetch_sub(1, Ordering::Relaxed);
        }
    });
    if started.is_err() {
        return Err(Stopped::Time);
    }
    result.recv_timeout(limit).unwrap_or_else(|_| {
        given_up.fetch_add(1, Ordering::Relaxed);
        Err(Stopped::Time)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    #[test]
    fn a_search_that_does_not_end_is_given_up() {
        static OWN: AtomicUsize = AtomicUsize::new(0);
        let (end, ended) = mpsc::channel::<()>();
        let endless = move || {
            ended.recv().ok();
            Ok(true)
        };
        assert_eq!(within(Duration::ZERO, SEARCH_STACK, &OWN, endless), Err(Stopped::Time));
        assert_eq!(OWN.load(Ordering::Relaxed), 1);
        drop(end);
        while OWN.load(Ordering::Relaxed) > 0 {
            thread::yield_now();
        }
        assert_eq!(within(SearchTime::LIMIT, SEARCH_STACK, &OWN, || Ok(true)), Ok(true));
    }

    #[test]
    fn with_too_many_given_up_none_is_begun() {
        static OWN: AtomicUsize = AtomicUsize::new(MOST_GIVEN_UP);
        let search = || Ok(true);
        assert_eq!(within(SearchTime::LIMIT, SEARCH_STACK, &OWN, search), Err(Stopped::Time));
    }

    #[test]
    fn long_texts_are_searched_as_short_ones_are() {
        let engine = Arc::new(fancy_regex::Regex::new("(?<!x)y").unwrap());
        for length in [1, SHORT, 10 * SHORT] {
            let text = "x".repeat(length);
            let time = SearchTime::of_one_search();
            assert_eq!(is_match(&engine, &text, &time), Ok(false));
            assert_eq!(is_match(&engine, &format!("{text} y"), &time), Ok(true));
        }
    }

    /// Every look at it is four seconds later.
    fn slow_clock() -> Duration {
        static LOOKS: AtomicU64 = AtomicU64::new(0);
        Duration::from_secs(4 * LOOKS.fetch_add(1, Ordering::Relaxed))
    }

    #[test]
    fn all_searches_of_a_case_share_its_time() {
        let engine = Arc::new(fancy_regex::Regex::new("(?<!x)y").unwrap());
        let (time, long) = (SearchTime::new(slow_clock), "x".repeat(2 * SHORT));
        let texts = ["x", &long, "x", "x", &long];
        let found = texts.map(|text| is_match(&engine, text, &time));
        assert_eq!(found[..3], [Ok(false), Ok(false), Ok(false)]);
        assert_eq!(found[3..], [Err(Stopped::Time), Err(Stopped::Time)]);
    }
}
