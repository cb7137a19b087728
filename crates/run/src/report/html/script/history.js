// The pass rate over earlier runs of the same tests, as far as a log remembers them.

const DATE = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)/;

// Times are texts from a log: anything else is shown as it is.
function partsOf(time) {
  const found = DATE.exec(time);
  return found ? { day: found[1], clock: found[2] } : { day: time.slice(0, 16), clock: "" };
}

function spanText({ first, last }) {
  const [a, b] = [partsOf(first), partsOf(last)];
  const start = `${a.day} ${a.clock}`.trim();
  if (first === last || (a.day === b.day && a.clock === b.clock)) return start;
  return `${start} to ${a.day === b.day ? b.clock : `${b.day} ${b.clock}`.trim()}`;
}

// The ends always have a name; of those between, as many as there is room for.
function named(total, room) {
  const steps = Math.max(1, Math.min(total - 1, Math.floor(room / 90)));
  const places = Array.from({ length: steps + 1 }, (_, n) => Math.round((n / steps) * (total - 1)));
  return new Set(places);
}

function course(width) {
  const { points: list, sentence } = run.history;
  const left = 44, right = width - 12, top = 10, bottom = HIGH - 24;
  const px = (at) => left + (at / (list.length - 1)) * (right - left);
  const py = (share) => bottom - share * (bottom - top);
  const shareOf = ({ rate }) => rate.passed / rate.n;
  const nodes = [0, 0.5, 1].flatMap((share) => [
    level(left - 8, width - 4, py(share), share ? "rule" : "axis"),
    label(left - 14, py(share) + 4, share * 100 + " %", "end"),
  ]);
  const line = list.map((one, at) => `${px(at).toFixed(1)},${py(shareOf(one)).toFixed(1)}`).join(" ");
  const days = new Set(list.map((one) => partsOf(one.last).day));
  const names = named(list.length, right - left);
  nodes.push(svg("polyline", { points: line, class: "course" }));
  const anchors = { 0: "start", [list.length - 1]: "end" };
  list.forEach((one, at) => {
    const [low, high] = one.rate.interval;
    const isLast = at === list.length - 1;
    const { day, clock } = partsOf(one.last);
    if (names.has(at)) nodes.push(label(px(at) + (at ? (isLast ? 4 : 0) : -8), HIGH - 5, days.size > 1 ? day : clock || day, anchors[at]));
    nodes.push(svg("g", { class: isLast ? "point now" : "point" },
      svg("title", {}, `${spanText(one)}: ${one.text}`),
      upright(px(at), py(high), py(low), "whisker"),
      svg("circle", { cx: px(at), cy: py(shareOf(one)), r: isLast ? 5 : 3.5, class: "mark" })));
  });
  return canvas(width, HIGH, sentence, ...nodes);
}

function courseTable() {
  const head = el("tr", "", el("th", "", "Run"), el("th", "", "Passed"));
  for (const cell of head.children) cell.scope = "col";
  const lines = run.history.points.map((one) => el("tr", "", el("td", "", spanText(one)), el("td", "", one.text)));
  const table = el("table", "", el("thead", "", head), el("tbody", "", ...lines));
  const box = el("div", "scrolled", table);
  box.tabIndex = 0;
  return more("The same as a table", box);
}

function drawHistory() {
  if (!run.history) return;
  const { points: list, leftOut } = run.history;
  const days = new Set(list.flatMap((one) => [partsOf(one.first).day, partsOf(one.last).day]));
  const part = leftOut ? `the last ${list.length} of ${count(list.length + leftOut)}` : days.size === 1 && `on ${[...days][0]}`;
  const note = [part, "bars: 95 % interval"].filter(Boolean).join("; ");
  plot(byId("plots"), "Pass rate over runs", note, course, courseTable());
}

