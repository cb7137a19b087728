//! How much memory the patterns of a test may take, and how many are compiled to be checked (spec
//! 7.10). Sizes are estimates.

const MIB: u64 = 1024 * 1024;
/// For all patterns of one test.
const TEST_LIMIT: u64 = 256 * MIB;
/// For the patterns of a suite that only compiling can check.
const COMPILE_LIMIT: u64 = 256 * MIB;

#[derive(Debug)]
pub(crate) struct PatternBudget {
    left_in_test: u64,
    to_compile: u64,
}

impl Default for PatternBudget {
    fn default() -> Self {
        Self { left_in_test: TEST_LIMIT, to_compile: COMPILE_LIMIT }
    }
}

impl PatternBudget {
    pub(crate) fn enter_test(&mut self) {
        self.left_in_test = TEST_LIMIT;
    }

    /// Whether a pattern fits in with the others of its test.
    pub(crate) fn has_room(&mut self, size: u64) -> bool {
        let left = self.left_in_test.checked_sub(size);
        self.left_in_test = left.unwrap_or(self.left_in_test);
        left.is_some()
    }

    /// What may still be compiled while the suite is read.
    pub(crate) fn compilable(&mut self) -> &mut u64 {
        &mut self.to_compile
    }
}
