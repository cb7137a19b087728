//! The pass rate over runs as a small drawing.

use std::collections::BTreeSet;

use evalrig_core::model::Outcome;
use evalrig_core::stats::percent;

use super::markup::{Markup, encoded};
use super::run_index::ListedRun;

const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 56.0;
const MARGIN: f64 = 6.0;
/// More would be too narrow to click.
const MOST_POINTS: usize = 40;
/// Sets of suites with a drawing each.
const MOST_TRENDS: usize = 12;

/// One drawing for each set of suites that was run at least twice. Runs of other suites are not
/// comparable.
pub(super) fn trends(runs: &[ListedRun]) -> Markup {
    let mut sets: Vec<&BTreeSet<String>> = Vec::new();
    for run in runs {
        if let Ok(overview) = &run.overview
            && !sets.contains(&&overview.suites)
        {
            sets.push(&overview.suites);
        }
    }
    let mut out = Markup::default();
    let drawn = sets.into_iter().filter_map(|set| Some((set, points_of(runs, set)?)));
    for (suites, points) in drawn.take(MOST_TRENDS) {
        let name: Vec<&str> = suites.iter().map(String::as_str).collect();
        out.raw("<figure class=\"card trend\"><figcaption>").text(&name.join(", "));
        out.raw(" <span class=\"muted\">")
            .text(&points.last().map_or_else(String::new, Point::rate));
        out.raw("</span></figcaption>");
        draw(&points, &mut out);
        out.raw("</figure>\n");
    }
    out
}

struct Point<'a> {
    run: &'a ListedRun,
    passes: u64,
    judged: u64,
}

impl Point<'_> {
    fn rate(&self) -> String {
        format!("{} %", percent(self.passes, self.judged))
    }
}

/// Oldest first.
fn points_of<'a>(runs: &'a [ListedRun], suites: &BTreeSet<String>) -> Option<Vec<Point<'a>>> {
    let of_set = runs.iter().filter_map(|run| {
        let overview = run.overview.as_ref().ok().filter(|found| found.suites == *suites)?;
        let (passes, judged) = (overview.counts.of(Outcome::Passed), overview.counts.judged());
        (judged > 0 && !run.is_running).then_some(Point { run, passes, judged })
    });
    let mut points: Vec<Point<'a>> = of_set.take(MOST_POINTS).collect();
    points.reverse();
    (points.len() > 1).then_some(points)
}

fn draw(points: &[Point<'_>], out: &mut Markup) {
    let (first, last) = (&points[0], &points[points.len() - 1]);
    let label =
        format!("Pass rate of {} runs: from {} to {}", points.len(), first.rate(), last.rate());
    out.raw("<svg role=\"group\"").attribute("aria-label", &label);
    out.raw(" class=\"line\"").number("width", WIDTH).number("height", HEIGHT);
    out.raw(" viewBox=\"0 0 320 56\">");
    let step = (WIDTH - 2.0 * MARGIN) / (points.len() - 1) as f64;
    let place = |at: usize, point: &Point<'_>| {
        let share = point.passes as f64 / point.judged as f64;
        (MARGIN + step * at as f64, HEIGHT - MARGIN - share * (HEIGHT - 2.0 * MARGIN))
    };
    let corners: Vec<String> = points
        .iter()
        .enumerate()
        .map(|(at, point)| place(at, point))
        .map(|(x, y)| format!("{x:.1},{y:.1}"))
        .collect();
    out.raw("<polyline").attribute("points", &corners.join(" ")).raw("/>");
    for (at, point) in points.iter().enumerate() {
        let (x, y) = place(at, point);
        let address = format!("/runs/{}/", encoded(&point.run.id));
        out.raw("<a").attribute("href", &address).raw("><title>");
        out.text(&format!("{}: {}", point.run.when, point.rate())).raw("</title>");
        out.raw("<circle r=\"3.5\"").number("cx", x).number("cy", y).raw("/></a>");
    }
    out.raw("</svg>");
}
