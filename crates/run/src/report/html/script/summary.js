// The top of the page: what was run, and what it came to.

function when(span) {
  if (!span) return null;
  const short = (time) => time.replace("T", " ").replace(/(:\d\d)(\.\d+)?Z$/, "$1 UTC");
  return short(span[1]);
}

function drawTop() {
  const suites = run.suites.length > 3 && `${count(run.suites.length)} suites`;
  const name = suites || run.suites.join(", ") || "evalrig report";
  byId("title").textContent = seen(name);
  document.title = seen(`${name}: ${run.headline}`);
  const targets = [...new Set(cases.map((one) => one.target))];
  const parts = [
    targets.length > 3 ? `${targets.length} targets` : targets.join(", "),
    when(run.span),
    run.results,
  ];
  byId("subtitle").textContent = seen(parts.filter(Boolean).join("  ·  "));
  byId("made").textContent = seen(run.generator);
  for (const note of run.notes) byId("notices").append(el("p", "notice", note));
}

// A share of the whole as a place on a line; the band is what it could as well have been.
function scale(rate) {
  const node = el("div", "scale", el("div", "track"));
  node.setAttribute("aria-hidden", "true");
  const [low, high] = rate.interval;
  const band = el("div", "range");
  band.style.left = low * 100 + "%";
  band.style.width = (high - low) * 100 + "%";
  const mark = el("div", "mark");
  mark.style.left = (rate.passed / rate.n) * 100 + "%";
  return put(node, [band, mark, el("span", "least", "0 %"), el("span", "most", "100 %")]);
}

function shares() {
  const node = el("div", "shares");
  node.setAttribute("role", "img");
  node.setAttribute("aria-label", seen(run.headline));
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

function drawSummary() {
  const [rate, ...others] = run.tiles;
  put(byId("rate"), [
    el("div", "name", rate.name),
    el("div", "value", rate.value),
    el("div", "muted", rate.note),
    run.rate.n > 0 && scale(run.rate),
    cases.length > 0 && shares(),
    cases.length > 0 && breakdown(),
  ]);
  for (const tile of others) {
    const value = el("dd", "", tile.value, el("div", "note", tile.note));
    byId("tiles").append(el("div", "tile", el("dt", "", tile.name), value));
  }
}

