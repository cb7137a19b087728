// What the run came to: the pass rate, flaky tests, and numbers as tiles.

// A share of the whole as a place on a line; the band is its 95 % interval.
function scale(rate) {
  const node = having(el("div", "scale", el("div", "track")), { "aria-hidden": "true" });
  const [low, high] = rate.interval;
  const band = el("div", "range");
  band.style.left = low * 100 + "%";
  band.style.width = (high - low) * 100 + "%";
  const mark = el("div", "mark");
  mark.style.left = (rate.passed / rate.n) * 100 + "%";
  return put(node, [band, mark, el("span", "least", "0 %"), el("span", "most", "100 %")]);
}

function shares() {
  const node = having(el("div", "shares"), { role: "img", "aria-label": run.headline });
  for (const [outcome, n] of run.counts) {
    if (!n) continue;
    const part = el("span", outcome);
    part.style.flexGrow = n;
    part.title = `${count(n)} ${outcome}`;
    node.append(part);
  }
  return node;
}

function breakdown() {
  const node = el("p", "breakdown");
  for (const [outcome, n] of run.counts) {
    if (n) node.append(el("span", outcome, el("b", "", count(n)), " " + outcome));
  }
  return node;
}

// With one trial each, nothing can disagree.
function flakyLine() {
  const ran = tests.filter((one) => one.cases.length && !isBaseline(one));
  if (!ran.some((one) => one.judged > 1)) return null;
  const flaky = ran.filter((one) => one.state === "flaky").length;
  const text = `${count(flaky)} of ${counted(ran.length, "test", "tests")} ${flaky === 1 ? "is" : "are"} flaky`;
  if (!flaky) return el("p", "flaky-line muted", text);
  return el("p", "flaky-line", button("link flaky", filtered(() => testTable.showState("flaky")), sign(GLYPHS.flaky), " " + text));
}

function drawSummary() {
  const [rate, ...others] = run.tiles;
  byId("summary").classList.toggle("compact", Boolean(compared));
  const isEmpty = !tests.some((one) => one.cases.length);
  byId("rate").replaceChildren();
  put(byId("rate"), [
    el("div", "name", rate.name),
    el("div", "value", rate.value),
    el("div", "muted note", rate.note),
    run.rate.n > 0 && !compared && scale(run.rate),
    !isEmpty && shares(),
    !isEmpty && breakdown(),
    flakyLine(),
  ]);
  byId("tiles").replaceChildren(...others.map((tile) => {
    const value = el("dd", "", tile.value, el("div", "note", tile.note));
    return el("div", "tile", el("dt", "", tile.name), value);
  }));
}
