//! Checks judges against the labels that people gave: agreement, sensitivity and specificity, how often a
//! judge changes its mind, whether length sways it, and the pass rate that people would have seen
//! (spec 21.4). Knows answers and verdicts, not rows.

mod answer;
mod finding;
mod length;
mod rate;
mod repeat;

pub use answer::{JudgeName, JudgeReadingSet, JudgedAnswer, LabelScope};
pub use finding::{FEWEST_LABELS, JudgeFinding, LabelShare, check_judges};
pub use length::LengthEffect;
pub use rate::{RunRate, run_rates};
pub use repeat::{ReadingOrder, RepeatFinding};
