//! Shapes that were not used when constants were chosen.

use super::StatisticsTable;
use super::cells::{Exits, in_parallel, percent};
use super::intervals::MORE;
use super::moving::Moving;
use super::rounds::RoundExits;
use super::simulation::{Change, Loss, Setting, Shape, UNSEEN};
use super::tables::{marked, words};

/// What is simulated for each shape.
#[derive(Debug, Clone, Copy)]
enum Question {
    /// Equal runs called worse at a correlation.
    Alarm(f64),
    /// Exit 0 at a drop as large as the margin.
    Margin,
    /// A test named in equal runs, at a correlation.
    Named(f64),
    /// Equal runs called worse at any look.
    Rounds,
    /// The interval holds the truth.
    Coverage,
}

const QUESTIONS: [(&str, Question); 9] = [
    ("worse, correlation 0", Question::Alarm(0.0)),
    ("worse, 0.05", Question::Alarm(0.05)),
    ("worse, 0.1", Question::Alarm(0.1)),
    ("worse, 0.3", Question::Alarm(0.3)),
    ("a test named, correlation 0", Question::Named(0.0)),
    ("a test named, 0.3", Question::Named(0.3)),
    ("worse in rounds", Question::Rounds),
    ("−10 points: exit 0", Question::Margin),
    ("the interval holds the truth", Question::Coverage),
];

impl Question {
    fn share(self, shape: Shape, repeats: usize) -> f64 {
        let setting = Setting::new(30, 4, 4, shape);
        match self {
            Self::Alarm(correlation) => {
                let setting = setting.changing(Change::Correlation(correlation));
                Exits::of(&setting, repeats).worse()
            }
            Self::Margin => Exits::of(&setting.losing(Loss::Spread(0.1)), repeats).passed(),
            Self::Named(correlation) => {
                let setting = setting.changing(Change::Correlation(correlation));
                marked(&setting, Setting::pairs, repeats)
            }
            Self::Rounds => RoundExits::of(&setting, repeats, false).exits.worse(),
            Self::Coverage => {
                let moving = Moving { setting, targets: 1, share: 0.5 };
                moving.coverage(repeats * MORE).value()
            }
        }
    }
}

pub fn shapes(repeats: usize) -> StatisticsTable {
    let jobs: Vec<(Shape, Question)> =
        UNSEEN.iter().flat_map(|shape| QUESTIONS.map(|(_, question)| (*shape, question))).collect();
    let found = in_parallel(&jobs, |(shape, question)| percent(question.share(*shape, repeats)));
    StatisticsTable {
        repeats,
        title: "Shapes on which nothing was chosen, 30 × 4, four baseline runs, %",
        header: words(&[&["shape"][..], &QUESTIONS.map(|(name, _)| name)].concat()),
        rows: UNSEEN
            .iter()
            .zip(found.chunks(QUESTIONS.len()))
            .map(|(shape, cells)| [words(&[shape.name()]), cells.to_vec()].concat())
            .collect(),
    }
}
