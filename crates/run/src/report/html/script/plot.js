// Plots. Each is drawn for the room it has, and again when that changes, so that its words keep
// their size.

const HIGH = 170;
const plots = [];

// `draw` takes a width and returns a drawing; without `draw` only the note is shown.
function plot(place, title, note, draw, ...after) {
  const caption = el("figcaption", "", el("b", "", title), note && el("span", "", note));
  const box = el("div", "plot");
  place.append(el("figure", "card", caption, draw && box, ...after));
  if (draw) plots.push({ box, draw, width: 0 });
}

function drawPlots() {
  for (const one of plots) {
    const width = Math.floor(one.box.clientWidth);
    if (width === one.width || width < 1) continue;
    one.width = width;
    one.box.replaceChildren(one.draw(Math.max(240, width)));
  }
}

function canvas(width, height, words, ...children) {
  const size = { viewBox: `0 0 ${width} ${height}`, width, height };
  return svg("svg", { ...size, role: "img", "aria-label": seen(words) }, ...children);
}

function label(x, y, text, anchor, name) {
  return svg("text", { x, y, "text-anchor": anchor || "middle", class: name || "" }, text);
}

const upright = (x, y1, y2, name) => svg("line", { x1: x, x2: x, y1, y2, class: name });
const level = (x1, x2, y, name) => svg("line", { x1, x2, y1: y, y2: y, class: name });
const titled = (tag, attributes, words) => svg(tag, attributes, svg("title", {}, words));

// The next round number above, half of which is round too.
function ceiling(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 3, 4, 5, 6, 8, 10].map((n) => n * power).find((n) => n >= value * (1 - 1e-9));
}

// ---- Scores

function scoreBins(scored) {
  const bins = Array.from({ length: 10 }, () => ({ total: 0 }));
  for (const one of scored) {
    const bin = bins[Math.max(0, Math.min(9, Math.floor(one.score * 10 + 1e-9)))];
    bin[one.outcome] = (bin[one.outcome] || 0) + 1;
    bin.total += 1;
  }
  return bins;
}

const binRange = (at) => `${(at / 10).toFixed(1)} to ${((at + 1) / 10).toFixed(1)}`;

function distribution(bins, width) {
  const most = Math.max(...bins.map((bin) => bin.total));
  const left = 12, bottom = HIGH - 20, step = (width - left * 2) / 10;
  const nodes = [level(0, width, bottom, "axis")];
  bins.forEach((bin, at) => {
    let y = bottom;
    const x = left + at * step + 2;
    for (const outcome of ["failed", "errored", "borderline", "passed"]) {
      if (!bin[outcome]) continue;
      const height = Math.max(1.5, (bin[outcome] / most) * (bottom - 18));
      y -= height;
      const words = `${count(bin[outcome])} ${outcome}, score ${binRange(at)}`;
      const shape = { x, y, width: step - 4, height: Math.max(0.5, height - 0.75), rx: 1.5, class: "fill " + outcome };
      nodes.push(titled("rect", shape, words));
    }
    if (bin.total) nodes.push(label(x + step / 2 - 2, y - 5, count(bin.total)));
  });
  for (const at of [0, 2, 4, 6, 8, 10]) nodes.push(label(left + at * step, HIGH - 5, (at / 10).toFixed(1)));
  const told = bins.map((bin, at) => bin.total && `${count(bin.total)} of ${binRange(at)}`).filter(Boolean);
  return canvas(width, HIGH, `Distribution of scores: ${told.join(", ")}`, ...nodes);
}

function drawDistribution() {
  const scored = tests.flatMap((test) => test.cases).filter((one) => known(one.score));
  if (!scored.length) return plot(byId("plots"), "Scores", "nothing was scored");
  const bins = scoreBins(scored);
  plot(byId("plots"), "Scores", `${count(scored.length)} scored`, (width) => distribution(bins, width));
}

// ---- Cost and score

// Cases that fall together are one dot, larger the more there are: the number of dots is bounded.
function clusters(points, most) {
  const found = new Map();
  for (const one of points) {
    const x = Math.round((one.cost / most) * 60) / 60;
    const y = Math.round(one.score * 40) / 40;
    const key = `${x} ${y} ${one.outcome}`;
    const dot = found.get(key) || { x, y, outcome: one.outcome, n: 0 };
    dot.n += 1;
    found.set(key, dot);
  }
  return [...found.values()].sort((a, b) => b.n - a.n);
}

function costs(dots, edge, width) {
  const left = 28, right = width - 12, top = 10, bottom = HIGH - 20;
  const px = (x) => left + x * (right - left), py = (y) => bottom - y * (bottom - top);
  const nodes = [];
  for (const y of [0, 0.5, 1]) {
    nodes.push(level(left, right, py(y), y ? "rule" : "axis"));
    nodes.push(label(left - 6, py(y) + 4, y.toFixed(1), "end"));
  }
  const anchors = ["start", "middle", "end"];
  [0, 0.5, 1].forEach((x, at) => nodes.push(label(px(x), HIGH - 5, money(edge * x), anchors[at])));
  for (const dot of dots) {
    const words = `${count(dot.n)} ${dot.outcome}, score about ${dot.y.toFixed(2)}, cost about ${money(dot.x * edge)}`;
    const r = Math.min(11, 2.6 + Math.sqrt(dot.n) * 0.7);
    nodes.push(titled("circle", { cx: px(dot.x), cy: py(dot.y), r, class: "dot " + dot.outcome }, words));
  }
  return canvas(width, HIGH, `Score over cost, which goes up to ${money(edge)}`, ...nodes);
}

// With one target it says little.
function drawCosts() {
  if (!several("target")) return;
  const cases = tests.flatMap((test) => test.cases).filter((one) => known(one.score));
  const points = cases.filter((one) => known(one.cost));
  // Not by spreading into `Math.max`, which takes no list of a hundred thousand.
  const most = points.reduce((top, one) => Math.max(top, one.cost), 0);
  // Without reported costs there is no plot: the tile says that they are unknown.
  if (!points.length || most <= 0) return;
  const edge = ceiling(most);
  const dots = clusters(points, edge);
  const gaps = cases.length - points.length;
  const note = gaps ? `${count(gaps)} of unknown cost not shown` : "a dot: cases alike in both";
  plot(byId("plots"), "Score over cost", note, (width) => costs(dots, edge, width));
}

// ---- Pass rates

function rates(of, shown, width) {
  const most = Math.max(8, Math.floor((width * 0.34) / 6.4));
  const short = (name) => (name.length > most ? name.slice(0, most - 1) + "…" : name);
  const longest = Math.max(...shown.map(({ name }) => short(name).length));
  const counts = shown.map(({ rate }) => `${count(rate.passed)} of ${count(rate.n)}`);
  const right = width - 16 - Math.max(8, ...counts.map((text) => text.length)) * 6;
  const left = 14 + longest * 6.4, bottom = HIGH - 20, step = (bottom - 4) / shown.length;
  const px = (x) => left + x * (right - left);
  const nodes = [0, 0.5, 1].flatMap((x) => [
    upright(px(x), 4, bottom, x ? "rule" : "axis"),
    label(px(x), HIGH - 5, x * 100 + " %"),
  ]);
  shown.forEach(({ name, rate }, at) => {
    const y = 4 + step * (at + 0.5);
    nodes.push(svg("g", {}, svg("title", {}, name), label(left - 10, y + 4, short(name), "end", "label")));
    nodes.push(label(width, y + 4, counts[at], "end"));
    if (!rate.n) return;
    nodes.push(level(px(rate.interval[0]), px(rate.interval[1]), y, "range"));
    nodes.push(svg("circle", { cx: px(rate.passed / rate.n), cy: y, r: 4.5, class: "mark" }));
  });
  const told = shown.map(({ name }, at) => `${name} ${counts[at]}`).join(", ");
  return canvas(width, HIGH, `Pass rate by ${of}: ${told}`, ...nodes);
}

function drawRates() {
  const { of, list } = run.groups;
  if (list.length < 2) return;
  const rateOf = ({ rate }) => rate.passed / (rate.n || 1);
  const shown = [...list].sort((a, b) => rateOf(a) - rateOf(b)).slice(0, 7);
  const note = list.length > shown.length ? `the lowest ${shown.length} of ${list.length}` : "band: 95 % interval";
  plot(byId("plots"), `Pass rate by ${of}`, note, (width) => rates(of, shown, width));
}

