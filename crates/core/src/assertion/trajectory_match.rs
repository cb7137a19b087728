//! Assigns calls to expected entries, in any order or in order. Pure arithmetic on indexes.

use std::collections::{HashMap, VecDeque};

/// The calls that each entry fits, in ascending order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CallFits {
    of_entry: Vec<Vec<usize>>,
    /// How many calls there are.
    calls: usize,
}

/// The call assigned to each entry; no call is assigned twice.
pub(super) type Assignment = Vec<Option<usize>>;

impl CallFits {
    pub(super) fn new(of_entry: Vec<Vec<usize>>, calls: usize) -> Self {
        Self { of_entry, calls }
    }

    /// The calls that an entry fits.
    pub(super) fn of(&self, entry: usize) -> &[usize] {
        &self.of_entry[entry]
    }

    /// Assigns calls to as many entries as possible; among equals, earlier entries first.
    pub(super) fn in_any_order(&self) -> Assignment {
        let mut matching = MaximumMatching::new(self);
        for entry in 0..self.of_entry.len() {
            matching.serve(entry);
        }
        matching.call_of
    }

    /// Assigns calls in the same order to as many entries as possible, with other calls in between;
    /// among equals, earlier entries first.
    pub(super) fn in_order(&self) -> Assignment {
        let greedy = self.in_order_at_once();
        if greedy.iter().all(Option::is_some) { greedy } else { self.longest_in_order() }
    }

    /// Each entry takes the next call that it fits. Optimal if every entry finds one.
    fn in_order_at_once(&self) -> Assignment {
        let mut next = 0;
        let take = |calls: &Vec<usize>| {
            let found = calls[calls.partition_point(|call| *call < next)..].first();
            next = found.map_or(self.calls, |call| call + 1);
            found.copied()
        };
        self.of_entry.iter().map(take).collect()
    }

    /// The longest common subsequence, by the usual table.
    fn longest_in_order(&self) -> Assignment {
        let (entries, calls) = (self.of_entry.len(), self.calls);
        let width = calls + 1;
        // The longest run of the entries and calls from these positions on.
        let mut longest = vec![0_u32; (entries + 1) * width];
        for entry in (0..entries).rev() {
            let mut fitting = self.of_entry[entry].iter().rev().peekable();
            for call in (0..calls).rev() {
                let here = entry * width + call;
                let without = longest[here + width].max(longest[here + 1]);
                longest[here] = match fitting.next_if_eq(&&call) {
                    Some(_) => without.max(longest[here + width + 1] + 1),
                    None => without,
                };
            }
        }
        let mut from = 0;
        let rest = |entry: usize, call: usize| longest[entry * width + call];
        let mut take = |entry: usize| {
            // The next fitting call leaves the most calls for later entries.
            let fitting = &self.of_entry[entry];
            let next = *fitting.get(fitting.partition_point(|call| *call < from))?;
            let is_best = 1 + rest(entry + 1, next + 1) == rest(entry, from);
            from = if is_best { next + 1 } else { from };
            is_best.then_some(next)
        };
        (0..entries).map(&mut take).collect()
    }
}

/// Builds a maximum matching by augmenting paths, shortest first.
struct MaximumMatching<'f> {
    fits: &'f CallFits,
    call_of: Assignment,
    entry_of: Vec<Option<usize>>,
    /// How many calls of an entry are known to be taken; a taken call is never released.
    taken: Vec<usize>,
    /// The last search that reached a call. Calls of a failed search are dead: no later search could
    /// get further from them.
    seen: Vec<usize>,
}

/// Marks calls of a failed search.
const DEAD: usize = usize::MAX;

impl<'f> MaximumMatching<'f> {
    fn new(fits: &'f CallFits) -> Self {
        let entries = fits.of_entry.len();
        Self {
            fits,
            call_of: vec![None; entries],
            entry_of: vec![None; fits.calls],
            taken: vec![0; entries],
            seen: vec![0; fits.calls],
        }
    }

    /// Assigns a call to the entry, reassigning others if necessary.
    fn serve(&mut self, entry: usize) {
        let search = entry + 1;
        let mut waiting = VecDeque::from([entry]);
        // Calls with the entry that reached them.
        let mut reached: Vec<(usize, usize)> = Vec::new();
        while let Some(current) = waiting.pop_front() {
            if let Some(free) = self.free_call(current) {
                self.hand_over(entry, current, free, &reached);
                return;
            }
            for &call in self.fits.of(current) {
                if self.seen[call] == DEAD || self.seen[call] == search {
                    continue;
                }
                self.seen[call] = search;
                reached.push((call, current));
                // Taken, or it would have been found free.
                waiting.extend(self.entry_of[call]);
            }
        }
        for (call, _) in reached {
            self.seen[call] = DEAD;
        }
    }

    fn free_call(&mut self, entry: usize) -> Option<usize> {
        let calls = self.fits.of(entry);
        while let Some(call) = calls.get(self.taken[entry]) {
            if self.entry_of[*call].is_none() {
                return Some(*call);
            }
            self.taken[entry] += 1;
        }
        None
    }

    /// Passes calls on along the path from `last`, which takes a free one, back to `first`.
    fn hand_over(&mut self, first: usize, last: usize, free: usize, reached: &[(usize, usize)]) {
        let wanted_by: HashMap<usize, usize> = reached.iter().copied().collect();
        let (mut entry, mut call) = (last, free);
        loop {
            let left = self.call_of[entry].replace(call);
            self.entry_of[call] = Some(entry);
            match left {
                Some(left) if entry != first => {
                    call = left;
                    entry = wanted_by[&left];
                }
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(of_entry: &[&[usize]], calls: usize) -> CallFits {
        CallFits::new(of_entry.iter().map(|calls| calls.to_vec()).collect(), calls)
    }

    fn count(assignment: &Assignment) -> usize {
        assignment.iter().flatten().count()
    }

    /// By trying everything.
    fn most(fits: &CallFits, entry: usize, used: u32, from: Option<usize>) -> usize {
        if entry == fits.of_entry.len() {
            return 0;
        }
        let fitting = fits
            .of(entry)
            .iter()
            .filter(|call| used & (1 << **call) == 0 && from.is_none_or(|from| **call >= from));
        let taken = fitting.map(|call| {
            let from = from.map(|_| call + 1);
            1 + most(fits, entry + 1, used | 1 << call, from)
        });
        taken.chain([most(fits, entry + 1, used, from)]).max().unwrap_or(0)
    }

    fn check(fits: &CallFits, assignment: &Assignment) {
        let mut used = std::collections::HashSet::new();
        for (entry, call) in assignment.iter().enumerate() {
            if let Some(call) = call {
                assert!(fits.of(entry).contains(call) && used.insert(*call), "{fits:?}");
            }
        }
    }

    #[test]
    fn an_entry_gives_its_call_to_one_that_has_no_other() {
        let fits = fits(&[&[0, 1], &[0]], 2);
        assert_eq!(fits.in_any_order(), [Some(1), Some(0)]);
        assert_eq!(count(&fits.in_order()), 1);
    }

    #[test]
    fn earlier_entries_are_served_first() {
        let fits = fits(&[&[0], &[0], &[]], 1);
        assert_eq!(fits.in_any_order(), [Some(0), None, None]);
    }

    #[test]
    fn nothing_fits_nothing() {
        assert_eq!(fits(&[], 3).in_any_order(), []);
        assert_eq!(fits(&[&[]], 0).in_any_order(), [None]);
        assert_eq!(fits(&[&[]], 0).in_order(), [None]);
    }

    #[test]
    fn a_thousand_entries_and_calls_take_no_time() {
        let all: Vec<usize> = (0..1000).collect();
        // Everything fits everything, but there are only calls for half of the entries.
        let dense = CallFits::new(vec![all.clone(); 1000], 1000);
        assert_eq!(count(&dense.in_any_order()), 1000);
        assert_eq!(count(&dense.in_order()), 1000);
        let crowded = CallFits::new(vec![all[..500].to_vec(); 1000], 1000);
        assert_eq!(count(&crowded.in_any_order()), 500);
        assert_eq!(count(&crowded.in_order()), 500);
        // Each entry displaces all earlier ones.
        let mut chain: Vec<Vec<usize>> = (0..999).map(|at| vec![at, at + 1]).collect();
        chain.push(vec![0]);
        assert_eq!(count(&CallFits::new(chain, 1000).in_any_order()), 1000);
    }

    proptest::proptest! {
        #[test]
        fn the_most_entries_are_served(rows in proptest::collection::vec(0_u32..64, 0..6)) {
            let of_entry = rows
                .iter()
                .map(|row| (0..6).filter(|call| row & (1 << call) != 0).collect())
                .collect();
            let fits = CallFits::new(of_entry, 6);
            let (any, ordered) = (fits.in_any_order(), fits.in_order());
            check(&fits, &any);
            check(&fits, &ordered);
            let calls: Vec<usize> = ordered.iter().flatten().copied().collect();
            proptest::prop_assert!(calls.is_sorted());
            proptest::prop_assert_eq!(count(&any), most(&fits, 0, 0, None));
            proptest::prop_assert_eq!(count(&ordered), most(&fits, 0, 0, Some(0)));
        }
    }
}
