//! The picture of "From one machine to a thousand": where more workers stop helping.

use std::fmt::Write as _;

use crate::bounds::Bounds;
use crate::scenario::Scenario;
use crate::simulation::simulate;
use crate::table::example;

pub const FILE: &str = "many-machines-workers.svg";

const INK: &str = "#57606a";
const PALE: &str = "#8c959f";
const SIMULATED: &str = "#0969da";
const BOUND: &str = "#cf222e";

const WIDTH: f64 = 660.0;
const HEIGHT: f64 = 330.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 640.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 270.0;

const WORKERS: [u32; 15] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 38, 48, 64, 96, 128];

/// Both axes are logarithmic.
fn place(workers: f64, seconds: f64) -> (f64, f64) {
    let x = LEFT + (RIGHT - LEFT) * workers.log2() / 7.0;
    let minutes = seconds / 60.0;
    let y = BOTTOM - (BOTTOM - TOP) * (minutes / 10.0).log2() / (1_280.0_f64 / 10.0).log2();
    (x, y)
}

#[derive(Debug, Default)]
struct Drawing(String);

impl Drawing {
    fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str, dashes: &str) {
        let _ = writeln!(
            self.0,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\" \
             stroke-dasharray=\"{dashes}\"/>",
            from.0, from.1, to.0, to.1
        );
    }

    fn text(&mut self, at: (f64, f64), anchor: &str, colour: &str, text: &str) {
        let _ = writeln!(
            self.0,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{text}</text>",
            at.0, at.1
        );
    }

    fn dot(&mut self, at: (f64, f64)) {
        let _ = writeln!(
            self.0,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\" fill=\"{SIMULATED}\"/>",
            at.0, at.1
        );
    }

    fn finish(self) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" \
             height=\"{HEIGHT}\" role=\"img\" font-family=\"system-ui, sans-serif\" font-size=\"13\">\n\
             <title>Time of a run against the number of workers: it falls until the limit is reached, \
             then it stays</title>\n{}</svg>\n",
            self.0
        )
    }
}

/// The picture as SVG.
///
/// # Errors
/// When a scenario cannot be simulated.
pub fn workers() -> Result<String, String> {
    let bounds = Bounds::of(&Scenario { workers: 1, ..example() });
    let mut drawing = Drawing::default();
    for (minutes, name) in [(10.0, "10 min"), (60.0, "1 h"), (240.0, "4 h"), (960.0, "16 h")] {
        let (_, y) = place(1.0, minutes * 60.0);
        drawing.line((LEFT, y), (RIGHT, y), "#d0d7de", "none");
        drawing.text((LEFT - 8.0, y + 4.0), "end", INK, name);
    }
    for workers in [1, 2, 4, 8, 16, 32, 64, 128] {
        let (x, _) = place(f64::from(workers), 600.0);
        drawing.text((x, BOTTOM + 20.0), "middle", INK, &workers.to_string());
    }
    drawing.text((355.0, BOTTOM + 44.0), "middle", INK, "workers with 16 slots each");
    let knee = bounds.knee_workers().unwrap_or(1.0);
    let floor = bounds.floor();
    drawing.line(
        place(1.0, bounds.work),
        place(knee * 1.8, bounds.work / knee / 1.8),
        BOUND,
        "5 4",
    );
    drawing.line(place(knee / 4.0, floor), place(128.0, floor), BOUND, "5 4");
    drawing.line(place(knee, 600.0), place(knee, bounds.work), PALE, "2 4");
    let (x, y) = place(3.0, bounds.work / 3.0);
    drawing.text((x + 10.0, y - 12.0), "start", BOUND, "cases × time per case ÷ slots");
    let (x, y) = place(128.0, floor);
    drawing.text((x, y + 18.0), "end", BOUND, "requests ÷ limit");
    let (x, y) = place(knee, bounds.work);
    drawing.text((x + 6.0, y + 14.0), "start", INK, &format!("knee: {knee:.1} workers"));
    for workers in WORKERS {
        let found = simulate(&Scenario { workers, ..example() })?;
        drawing.dot(place(f64::from(workers), found.makespan));
    }
    Ok(drawing.finish())
}
