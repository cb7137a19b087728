//! The three pictures of "Is it worse, or is it luck?", as SVG. What they show comes from the same
//! functions as the verdicts.

use std::fmt::Write as _;

use evalrig_core::compare::{Measure, Rule, SuiteVerdict, judge};
use evalrig_core::stats::Pair;

use super::cells::MARGIN;
use super::simulation::{Setting, Shape};

const INK: &str = "#57606a";
const BAD: &str = "#cf222e";
const GOOD: &str = "#1a7f37";
const UNSURE: &str = "#9a6700";
const PALE: &str = "#8c959f";

/// File names and texts.
pub fn all() -> [(&'static str, String); 3] {
    [
        ("luck-equal-runs.svg", equal_runs()),
        ("luck-verdicts.svg", verdicts()),
        ("luck-baselines.svg", baselines()),
    ]
}

struct Drawing {
    body: String,
    size: (f64, f64),
    title: &'static str,
}

impl Drawing {
    fn new(width: f64, height: f64, title: &'static str) -> Self {
        Self { body: String::new(), size: (width, height), title }
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str, width: f64) {
        let _ = writeln!(
            self.body,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\" \
             stroke-width=\"{width}\"/>",
            from.0, from.1, to.0, to.1
        );
    }

    fn bar(&mut self, at: (f64, f64), size: (f64, f64), colour: &str, opacity: f64) {
        let _ = writeln!(
            self.body,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{colour}\" \
             fill-opacity=\"{opacity}\"/>",
            at.0, at.1, size.0, size.1
        );
    }

    fn dot(&mut self, at: (f64, f64), colour: &str) {
        let (x, y) = at;
        let _ =
            writeln!(self.body, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{colour}\"/>");
    }

    fn text(&mut self, at: (f64, f64), anchor: &str, colour: &str, text: &str) {
        let _ = writeln!(
            self.body,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{text}</text>",
            at.0, at.1
        );
    }

    fn finish(self) -> String {
        let (width, height) = self.size;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\" font-family=\"system-ui, sans-serif\" font-size=\"13\">\n\
             <title>{}</title>\n{}</svg>\n",
            self.title, self.body
        )
    }
}

fn judged(pairs: &[Pair]) -> SuiteVerdict {
    let rule = Rule { measure: Measure::Rate, margin: MARGIN, seed: 1 };
    judge(pairs, &rule).expect("a suite has tests")
}

/// Differences between equal runs of 20 tests × 5 trials.
fn equal_runs() -> String {
    let setting = Setting::new(20, 5, 1, Shape::Skilled);
    let mut random = setting.random();
    let mut counts = [0_usize; 17];
    for _ in 0..2_000 {
        let pairs = setting.pairs(&mut random);
        let gain = pairs.iter().map(Pair::gain).sum::<f64>() / pairs.len() as f64;
        let place = (gain * 50.0).round() + 8.0;
        counts[place.clamp(0.0, 16.0) as usize] += 1;
    }
    let most = counts.iter().copied().max().unwrap_or(1) as f64;
    let mut drawing = Drawing::new(640.0, 260.0, "Differences between 2,000 pairs of equal runs");
    for (at, count) in counts.iter().enumerate() {
        let height = 180.0 * *count as f64 / most;
        let x = 40.0 + 33.0 * at as f64;
        drawing.bar((x, 205.0 - height), (29.0, height), PALE, 0.8);
        let points = (at as i32 - 8) * 2;
        if points % 4 == 0 {
            drawing.text((x + 14.5, 224.0), "middle", INK, &format!("{points:+}"));
        }
    }
    drawing.line((36.0, 205.0), (604.0, 205.0), INK, 1.0);
    drawing.text(
        (320.0, 248.0),
        "middle",
        INK,
        "difference in pass rate, points; nothing was changed",
    );
    drawing.finish()
}

/// Five comparisons with their intervals beside the margin.
fn verdicts() -> String {
    let side =
        |passes: usize| -> Vec<f64> { (0..5).map(|at| f64::from(u8::from(at < passes))).collect() };
    let suite = |changes: &[(usize, usize, usize)]| -> Vec<Pair> {
        let pair = |(count, before, now): &(usize, usize, usize)| {
            vec![Pair::new(side(*before), side(*now)); *count]
        };
        changes.iter().flat_map(pair).collect()
    };
    let rows = [
        suite(&[(17, 5, 5), (3, 4, 4)]),
        suite(&[(12, 4, 4), (8, 3, 5)]),
        suite(&[(5, 4, 4), (4, 3, 5), (1, 4, 3)]),
        suite(&[(12, 5, 5), (8, 5, 2)]),
        suite(&[(6, 4, 4), (3, 4, 3), (1, 3, 4)]),
    ];
    let x = |share: f64| 380.0 + 700.0 * share;
    let mut drawing = Drawing::new(660.0, 270.0, "Five verdicts: intervals beside the margin");
    drawing.bar((x(-MARGIN), 20.0), (x(MARGIN) - x(-MARGIN), 205.0), PALE, 0.2);
    drawing.line((x(0.0), 20.0), (x(0.0), 225.0), PALE, 1.0);
    for (at, pairs) in rows.iter().enumerate() {
        let found = judged(pairs);
        let y = 45.0 + 40.0 * at as f64;
        let colour = match found.verdict.word() {
            "worse" => BAD,
            "inconclusive" => UNSURE,
            _ => GOOD,
        };
        drawing.text((20.0, y + 4.0), "start", colour, found.verdict.word());
        let ends = [found.interval.low, found.interval.high].map(|end| x(end).clamp(130.0, 650.0));
        drawing.line((ends[0], y), (ends[1], y), colour, 2.5);
        drawing.dot((x(found.delta), y), colour);
    }
    for points in [-30, -20, -10, 0, 10, 20, 30] {
        let place = x(f64::from(points) / 100.0);
        drawing.text((place, 243.0), "middle", INK, &format!("{points:+}"));
    }
    drawing.text((380.0, 262.0), "middle", INK, "difference in points; shaded: the margin");
    drawing.finish()
}

/// With the first base runs only.
fn with_runs(pairs: &[Pair], runs: usize) -> Vec<Pair> {
    let pair = |pair: &Pair| Pair::pooled(pair.base[..runs].to_vec(), pair.candidate.clone());
    pairs.iter().map(pair).collect()
}

/// The interval of one candidate beside one, two, four and eight baseline runs.
fn baselines() -> String {
    let setting = Setting::new(30, 4, 8, Shape::Skilled);
    let mut random = setting.random();
    // An example in which more runs make the difference.
    let pairs = loop {
        let pairs = setting.pairs(&mut random);
        let passes = |runs: usize| judged(&with_runs(&pairs, runs)).verdict.passes_gate();
        if !passes(1) && !passes(2) && passes(4) && passes(8) {
            break pairs;
        }
    };
    let x = |share: f64| 380.0 + 1_300.0 * share;
    let mut drawing = Drawing::new(660.0, 235.0, "The same candidate beside more baseline runs");
    drawing.bar((x(-MARGIN), 15.0), (x(MARGIN) - x(-MARGIN), 175.0), PALE, 0.2);
    drawing.line((x(0.0), 15.0), (x(0.0), 190.0), PALE, 1.0);
    for (at, runs) in [1, 2, 4, 8].into_iter().enumerate() {
        let found = judged(&with_runs(&pairs, runs));
        let y = 40.0 + 42.0 * at as f64;
        let colour = if found.verdict.passes_gate() { GOOD } else { UNSURE };
        let name =
            if runs == 1 { "1 baseline run".to_owned() } else { format!("{runs} baseline runs") };
        drawing.text((20.0, y - 3.0), "start", INK, &name);
        drawing.text((20.0, y + 13.0), "start", colour, found.verdict.word());
        drawing.line((x(found.interval.low), y), (x(found.interval.high), y), colour, 2.5);
        drawing.dot((x(found.delta), y), colour);
    }
    for points in [-15, -10, -5, 0, 5, 10, 15] {
        let place = x(f64::from(points) / 100.0);
        drawing.text((place, 208.0), "middle", INK, &format!("{points:+}"));
    }
    drawing.text((380.0, 227.0), "middle", INK, "difference in points; shaded: the margin");
    drawing.finish()
}
