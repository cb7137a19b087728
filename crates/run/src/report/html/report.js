"use strict";
// Draws the page from the blocks of JSON in it. Data becomes text nodes and attributes only, never
// markup, so nothing that an agent wrote can act here.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const BLOCK = 50; // cases per block of details, as in html.rs
  const OVERSCAN = 8;
  const GLYPHS = { passed: "✓", borderline: "~", failed: "✗", errored: "!", skipped: "–" };
  // What needs a look comes first.
  const SEVERITY = ["failed", "errored", "borderline", "passed", "skipped"];

  const byId = (id) => document.getElementById(id);
  const read = (id) => JSON.parse(byId(id).textContent);

  // ---- Text

  const HARMFUL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]|\udb40[\udc00-\udc7f]/g;

  // Characters that hide words or turn their order round are shown as pictures.
  function seen(text) {
    return String(text).replace(/\r\n/g, "\n").replace(HARMFUL, (c) => {
      const code = c.charCodeAt(0);
      if (code < 0x20) return String.fromCharCode(0x2400 + code);
      return code === 0x7f ? "\u2421" : "\ufffd";
    });
  }

  // The only way from data to the page.
  function put(node, children) {
    for (const child of children) {
      if (child === null || child === undefined || child === false) continue;
      node.append(child instanceof Node ? child : document.createTextNode(seen(child)));
    }
    return node;
  }

  function el(tag, name, ...children) {
    const node = document.createElement(tag);
    if (name) node.className = name;
    return put(node, children);
  }

  function svg(tag, attributes, ...children) {
    const node = document.createElementNS(SVG, tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return put(node, children);
  }

  function pretty(value) {
    return typeof value === "string" ? value : JSON.stringify(value, null, 2);
  }

  // Arguments of tools often are JSON in a string.
  function unpacked(value) {
    if (typeof value !== "string") return value;
    try {
      return JSON.parse(value);
    } catch {
      return value;
    }
  }

  // ---- Numbers, in the words of the other reports

  const count = (n) => n.toLocaleString("en-US");

  // More decimals where two would seem to reach a threshold that was missed.
  function score(value) {
    for (const decimals of [2, 4]) {
      const text = value.toFixed(decimals);
      const round = Math.abs(Number(text) * 20 - Math.round(Number(text) * 20)) < 1e-9;
      if (!round || Number(text) < value + 1e-9) return text;
    }
    return value.toFixed(6);
  }

  function money(dollars) {
    if (dollars === 0) return "$0";
    if (dollars < 0.0001) return "<$0.0001";
    return "$" + dollars.toFixed(dollars < 1 ? 4 : 2);
  }

  function duration(ms) {
    const seconds = Math.floor(ms / 1000);
    const two = (n) => String(n).padStart(2, "0");
    if (ms < 1000) return ms + " ms";
    if (ms < 60000) return (Math.floor(ms / 100) / 10).toFixed(1) + " s";
    if (ms < 3600000) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
    return `${Math.floor(seconds / 3600)} h ${two(Math.floor(seconds / 60) % 60)} min`;
  }

  const known = (value) => value !== undefined && value !== null;
  const orDash = (value, write) => (known(value) ? write(value) : "–");

  function badge(outcome) {
    const glyph = el("i", "", GLYPHS[outcome] || "?");
    glyph.setAttribute("aria-hidden", "true");
    return el("span", "badge " + outcome, glyph, outcome);
  }

  // ---- Data

  const run = read("run");
  const cases = read("cases");
  const blocks = new Map();

  function detailsOf(index) {
    const number = Math.floor(index / BLOCK);
    if (!blocks.has(number)) blocks.set(number, read("details-" + number));
    return blocks.get(number)[index % BLOCK];
  }

  cases.forEach((one, index) => {
    one.index = index;
    one.severity = SEVERITY.indexOf(one.outcome);
  });

  // ---- Theme

  const dark = matchMedia("(prefers-color-scheme: dark)");

  function isDark() {
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === "dark" : dark.matches;
  }

  function nameTheme() {
    byId("theme").textContent = isDark() ? "Light" : "Dark";
    byId("theme").setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`);
  }

  function keepTheme(theme) {
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem("evalrig-theme", theme);
    } catch {
      // Some browsers keep nothing for pages from disk; the choice then holds for this visit.
    }
    nameTheme();
  }

  function startTheme() {
    try {
      const theme = localStorage.getItem("evalrig-theme");
      if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
    } catch {
      // As above.
    }
    nameTheme();
    dark.addEventListener("change", nameTheme);
    byId("theme").addEventListener("click", () => keepTheme(isDark() ? "light" : "dark"));
  }

  // ---- Summary

  function when(span) {
    if (!span) return null;
    const short = (time) => time.replace("T", " ").replace(/(:\d\d)(\.\d+)?Z$/, "$1 UTC");
    return short(span[1]);
  }

  function drawTop() {
    const several = run.suites.length > 3 && `${count(run.suites.length)} suites`;
    const name = several || run.suites.join(", ") || "evalrig report";
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
    if (rate.interval) {
      const [low, high] = rate.interval;
      const band = el("div", "range");
      band.style.left = low * 100 + "%";
      band.style.width = (high - low) * 100 + "%";
      node.append(band);
    }
    const mark = el("div", "mark");
    mark.style.left = (rate.passed / rate.n) * 100 + "%";
    node.append(mark);
    return node;
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
      shares(),
      breakdown(),
    ]);
    for (const tile of others) {
      const value = el("dd", "", tile.value, el("div", "note", tile.note));
      byId("tiles").append(el("div", "tile", el("dt", "", tile.name), value));
    }
  }

  // ---- Plots

  const WIDE = 380;
  const HIGH = 170;

  function plot(title, note, ...parts) {
    const caption = el("figcaption", "", title, note && el("span", "", note));
    byId("plots").append(el("figure", "card", caption, ...parts));
  }

  function canvas(label, ...children) {
    const attributes = { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": seen(label) };
    return svg("svg", attributes, ...children);
  }

  function label(x, y, text, anchor, name) {
    return svg("text", { x, y, "text-anchor": anchor || "middle", class: name || "" }, text);
  }

  // The next round number above, half of which is round too.
  function ceiling(value) {
    const power = 10 ** Math.floor(Math.log10(value));
    return [1, 2, 3, 4, 5, 6, 8, 10].map((n) => n * power).find((n) => n >= value * (1 - 1e-9));
  }

  function drawDistribution() {
    const scored = cases.filter((one) => known(one.score));
    if (!scored.length) return plot("Scores", "nothing was scored");
    const bins = Array.from({ length: 10 }, () => ({}));
    for (const one of scored) {
      const bin = bins[Math.max(0, Math.min(9, Math.floor(one.score * 10 + 1e-9)))];
      bin[one.outcome] = (bin[one.outcome] || 0) + 1;
    }
    const totals = bins.map((bin) => Object.values(bin).reduce((a, b) => a + b, 0));
    const top = Math.max(...totals);
    const left = 6, bottom = HIGH - 20, step = (WIDE - left * 2) / 10;
    const nodes = [svg("line", { x1: 0, x2: WIDE, y1: bottom, y2: bottom, class: "axis" })];
    bins.forEach((bin, at) => {
      let y = bottom;
      const x = left + at * step + 2;
      for (const outcome of ["failed", "errored", "borderline", "passed"]) {
        if (!bin[outcome]) continue;
        const height = Math.max(1.5, (bin[outcome] / top) * (bottom - 18));
        y -= height;
        const words = `${count(bin[outcome])} ${outcome}, score ${at / 10} to ${(at + 1) / 10}`;
        const shape = { x, y, width: step - 4, height: Math.max(0.5, height - 0.75), rx: 1.5, class: "fill " + outcome };
        nodes.push(svg("rect", shape, svg("title", {}, words)));
      }
      if (totals[at]) nodes.push(label(x + step / 2 - 2, y - 5, count(totals[at])));
    });
    for (const at of [0, 2, 4, 6, 8, 10]) {
      nodes.push(label(left + at * step, HIGH - 5, (at / 10).toFixed(1)));
    }
    plot("Scores", `${count(scored.length)} scored`, canvas("Distribution of scores", ...nodes));
  }

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

  function drawCosts() {
    const points = cases.filter((one) => known(one.score) && known(one.cost));
    const scored = cases.filter((one) => known(one.score)).length;
    // Not by spreading into `Math.max`, which takes no list of a hundred thousand.
    const most = points.reduce((top, one) => Math.max(top, one.cost), 0);
    if (!points.length || most <= 0) return plot("Cost and score", "no case has both");
    const edge = ceiling(most);
    const left = 28, right = WIDE - 12, top = 10, bottom = HIGH - 20;
    const px = (x) => left + x * (right - left), py = (y) => bottom - y * (bottom - top);
    const nodes = [];
    for (const y of [0, 0.5, 1]) {
      nodes.push(svg("line", { x1: left, x2: right, y1: py(y), y2: py(y), class: y ? "rule" : "axis" }));
      nodes.push(label(left - 6, py(y) + 4, y.toFixed(1), "end"));
    }
    for (const x of [0, 0.5, 1]) nodes.push(label(px(x), HIGH - 5, money(edge * x), x ? (x === 1 ? "end" : "middle") : "start"));
    for (const dot of clusters(points, edge)) {
      const words = `${count(dot.n)} ${dot.outcome}, score about ${dot.y.toFixed(2)}, cost about ${money(dot.x * edge)}`;
      const r = Math.min(11, 2.6 + Math.sqrt(dot.n) * 0.7);
      nodes.push(svg("circle", { cx: px(dot.x), cy: py(dot.y), r, class: "dot " + dot.outcome }, svg("title", {}, words)));
    }
    const gaps = scored - points.length;
    const note = gaps ? `${count(gaps)} of unknown cost not shown` : "each dot: cases of like cost and score";
    plot("Cost and score", note, canvas("Cost against score", ...nodes));
  }

  function drawRates() {
    const { of, list } = run.groups;
    if (list.length < 2) return;
    const shown = [...list].sort((a, b) => a.rate.passed / (a.rate.n || 1) - b.rate.passed / (b.rate.n || 1)).slice(0, 7);
    const longest = Math.max(...shown.map(({ name }) => Math.min(17, name.length)));
    const counts = shown.map(({ rate }) => `${count(rate.passed)} of ${count(rate.n)}`);
    const right = WIDE - 14 - Math.max(8, ...counts.map((text) => text.length)) * 6;
    const left = 14 + longest * 6.4, bottom = HIGH - 20, step = (bottom - 4) / shown.length;
    const px = (x) => left + x * (right - left);
    const nodes = [0, 0.5, 1].flatMap((x) => [
      svg("line", { x1: px(x), x2: px(x), y1: 4, y2: bottom, class: x ? "rule" : "axis" }),
      label(px(x), HIGH - 5, x * 100 + " %"),
    ]);
    shown.forEach(({ name, rate }, at) => {
      const y = 4 + step * (at + 0.5);
      const short = name.length > 17 ? name.slice(0, 16) + "…" : name;
      nodes.push(label(left - 10, y + 4, short, "end", "label"));
      nodes.push(label(WIDE, y + 4, counts[at], "end"));
      if (rate.interval) {
        const [low, high] = rate.interval;
        nodes.push(svg("line", { x1: px(low), x2: px(high), y1: y, y2: y, class: "range" }));
      }
      if (rate.n) nodes.push(svg("circle", { cx: px(rate.passed / rate.n), cy: y, r: 4.5, class: "mark" }));
    });
    const rest = list.length - shown.length;
    const note = rest ? `the lowest ${shown.length} of ${list.length}` : shown.some(({ rate }) => rate.interval) && "band: 95 % interval";
    plot(`Pass rate by ${of}`, note, canvas(`Pass rate by ${of}`, ...nodes));
  }

  // ---- The table

  const several = (key) => cases.some((one) => one[key] !== cases[0][key]);
  const manyTargets = several("target");
  const manySuites = several("suite");
  const manyTrials = several("trial");

  function meter(one) {
    const fill = el("i");
    fill.style.width = Math.max(0, Math.min(1, one.score)) * 100 + "%";
    return el("span", "meter " + one.outcome, fill);
  }

  const COLUMNS = [
    { key: "severity", title: "Outcome", width: "104px", cell: (one) => [badge(one.outcome)] },
    {
      key: "id", title: "Test", width: "minmax(150px, 5fr)",
      cell: (one) => [
        el("span", "id", one.id),
        manySuites && el("span", "small", one.suite),
        manyTrials && el("span", "small", "trial " + one.trial),
      ],
    },
    { key: "target", title: "Target", width: "minmax(80px, 130px)", wide: true, show: manyTargets, cell: (one) => [one.target] },
    {
      key: "score", title: "Score", width: "104px", name: "score", number: true, descends: false,
      cell: (one) => (known(one.score) ? [meter(one), score(one.score)] : ["–"]),
    },
    { key: "why", title: "First miss", width: "minmax(0, 8fr)", wide: true, name: "why", cell: (one) => [one.why] },
    { key: "cost", title: "Cost", width: "76px", wide: true, number: true, descends: true, cell: (one) => [orDash(one.cost, money)] },
    { key: "ms", title: "Time", width: "84px", wide: true, number: true, descends: true, cell: (one) => [orDash(one.ms, duration)] },
  ].filter((column) => column.show !== false);

  // Narrow places show less, see report.css.
  const nameOf = (column) => [column.name, column.number && "number", column.wide && "wide"].filter(Boolean).join(" ");

  const state = { text: "", outcomes: new Set(), target: "", suite: "", sort: "severity", descending: false };
  let shown = [];
  let active = 0;
  const drawn = new Map();
  const grid = byId("grid");
  const rows = byId("rows");
  const rowHeight = parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row"));

  // Made when it is first asked for, and kept.
  function haystack(one) {
    if (one.hay === undefined) {
      const parts = [one.id, one.suite, one.target, one.why || "", ...(one.misses || [])];
      one.hay = parts.join("\n").toLowerCase();
    }
    return one.hay;
  }

  function matches(one) {
    if (state.outcomes.size && !state.outcomes.has(one.outcome)) return false;
    if (state.target && one.target !== state.target) return false;
    if (state.suite && one.suite !== state.suite) return false;
    return state.text.split(/\s+/).every((word) => haystack(one).includes(word));
  }

  const collator = new Intl.Collator("en", { numeric: true });

  // What is not known comes last, whichever way the rest is sorted. Ties keep the order of the suite.
  function order(a, b) {
    const x = a[state.sort], y = b[state.sort];
    const sign = state.descending ? -1 : 1;
    if (!known(x) || !known(y)) {
      if (known(x) !== known(y)) return known(x) ? -1 : 1;
    } else if (x !== y) {
      return sign * (typeof x === "string" ? collator.compare(x, y) : x - y);
    }
    return collator.compare(a.file, b.file) || a.line - b.line || a.index - b.index;
  }

  function refresh() {
    const before = shown[active];
    shown = cases.filter(matches).sort(order);
    active = Math.max(0, shown.indexOf(before));
    const noun = cases.length === 1 ? run.nouns[0] : run.nouns[1];
    byId("shown").textContent = shown.length === cases.length
      ? `${count(cases.length)} ${noun}`
      : `${count(shown.length)} of ${count(cases.length)} ${noun}`;
    byId("none").hidden = shown.length > 0 || cases.length === 0;
    grid.setAttribute("aria-rowcount", shown.length + 1);
    rows.style.height = shown.length * rowHeight + "px";
    for (const node of drawn.values()) node.remove();
    drawn.clear();
    drawRows();
  }

  function drawRow(at) {
    const one = shown[at];
    const node = el("div", "row");
    node.id = "row-" + at;
    node.setAttribute("role", "row");
    node.setAttribute("aria-rowindex", at + 2);
    node.style.top = at * rowHeight + "px";
    node.dataset.at = at;
    for (const column of COLUMNS) {
      const cell = el("div", nameOf(column), ...column.cell(one));
      cell.setAttribute("role", "gridcell");
      node.append(cell);
    }
    return node;
  }

  // Only what can be seen is in the page, however many cases there are.
  function drawRows() {
    const first = Math.max(0, Math.floor(grid.scrollTop / rowHeight) - OVERSCAN);
    const last = Math.min(shown.length, Math.ceil((grid.scrollTop + grid.clientHeight) / rowHeight) + OVERSCAN);
    for (const [at, node] of drawn) {
      if (at >= first && at < last) continue;
      node.remove();
      drawn.delete(at);
    }
    for (let at = first; at < last; at += 1) {
      if (drawn.has(at)) continue;
      const node = drawRow(at);
      drawn.set(at, node);
      rows.append(node);
    }
    markActive();
  }

  function markActive() {
    for (const [at, node] of drawn) {
      node.classList.toggle("active", at === active);
      node.setAttribute("aria-selected", at === active);
    }
    if (drawn.has(active)) grid.setAttribute("aria-activedescendant", "row-" + active);
    else grid.removeAttribute("aria-activedescendant");
  }

  function moveTo(at) {
    if (!shown.length) return;
    active = Math.max(0, Math.min(shown.length - 1, at));
    const head = byId("head").offsetHeight;
    const top = active * rowHeight;
    const room = grid.clientHeight - head - rowHeight;
    if (top < grid.scrollTop) grid.scrollTop = top;
    else if (top > grid.scrollTop + room) grid.scrollTop = top - room;
    drawRows();
  }

  function drawHead() {
    grid.style.setProperty("--columns", COLUMNS.map((column) => column.width).join(" "));
    grid.setAttribute("aria-colcount", COLUMNS.length);
    for (const column of COLUMNS) {
      const button = el("button", "", column.title);
      button.type = "button";
      button.addEventListener("click", () => sortBy(column));
      column.node = el("div", nameOf(column), button);
      column.node.setAttribute("role", "columnheader");
      byId("head").append(column.node);
    }
    markSort();
  }

  function markSort() {
    for (const column of COLUMNS) {
      const mine = column.key === state.sort;
      const arrow = mine ? (state.descending ? " ↓" : " ↑") : "";
      column.node.setAttribute("aria-sort", mine ? (state.descending ? "descending" : "ascending") : "none");
      column.node.firstChild.textContent = column.title + arrow;
    }
  }

  function sortBy(column) {
    state.descending = column.key === state.sort ? !state.descending : Boolean(column.descends);
    state.sort = column.key;
    markSort();
    refresh();
  }

  // ---- Filters

  function drawChips() {
    for (const [outcome, n] of run.counts) {
      if (!n) continue;
      const chip = el("button", `plain chip ${outcome}`, el("i"), outcome, el("b", "", count(n)));
      chip.type = "button";
      chip.setAttribute("aria-pressed", "false");
      chip.addEventListener("click", () => {
        if (!state.outcomes.delete(outcome)) state.outcomes.add(outcome);
        chip.setAttribute("aria-pressed", state.outcomes.has(outcome));
        refresh();
      });
      byId("chips").append(chip);
    }
  }

  function drawPick(key, title) {
    const select = el("select");
    select.setAttribute("aria-label", title);
    select.append(new Option(`Every ${key}`, ""));
    const names = [...new Set(cases.map((one) => one[key]))].sort(collator.compare);
    for (const name of names) select.append(new Option(seen(name), name));
    select.addEventListener("change", () => {
      state[key] = select.value;
      refresh();
    });
    byId("picks").append(select);
  }

  function reset() {
    Object.assign(state, { text: "", target: "", suite: "" });
    state.outcomes.clear();
    byId("search").value = "";
    for (const chip of byId("chips").children) chip.setAttribute("aria-pressed", "false");
    for (const select of byId("picks").children) select.value = "";
    refresh();
    grid.focus();
  }

  // ---- A case

  const dialog = byId("case");

  function facts(pairs) {
    const list = el("dl", "facts");
    for (const [name, value] of pairs) {
      if (known(value) && value !== "") list.append(el("div", "", el("dt", "", name), el("dd", "", value)));
    }
    return list;
  }

  function tokensText(tokens) {
    if (!tokens) return "unknown";
    const cached = tokens.cached ? ` (${count(tokens.cached)} cached)` : "";
    return `${count(tokens.input)} in${cached}, ${count(tokens.output)} out`;
  }

  function judgeText(judge) {
    if (!judge) return null;
    const cost = known(judge.costUsd) ? money(judge.costUsd) : "cost unknown";
    return `${count(judge.calls)} ${judge.calls === 1 ? "call" : "calls"}, ${cost}`;
  }

  function caseHead(one, details) {
    const button = (text, title, act, off) => {
      const node = el("button", "plain", text);
      node.type = "button";
      node.setAttribute("aria-label", title);
      node.disabled = Boolean(off);
      node.addEventListener("click", act);
      return node;
    };
    const heading = el("h2", "", one.id);
    heading.id = "case-title";
    const close = button("Close", "Close", () => dialog.close());
    close.autofocus = true;
    const line = el("div", "line", badge(one.outcome), heading,
      button("↑", "Previous case", () => step(-1), active === 0),
      button("↓", "Next case", () => step(1), active >= shown.length - 1),
      close);
    return el("div", "case-head", line, facts([
      ["Score", orDash(one.score, score)],
      ["Target", one.target],
      ["Trial", manyTrials ? one.trial : null],
      ["Attempts", details && details.attempts > 1 ? details.attempts : null],
      ["Time", orDash(one.ms, duration)],
      ["Cost", known(one.cost) ? money(one.cost) : "unknown"],
      ["Tokens", details ? tokensText(details.tokens) : null],
      ["Judge", details && judgeText(details.judge)],
    ]));
  }

  function trouble(error, outcome) {
    return el("div", "trouble " + outcome, el("b", "", `${error.stage}/${error.kind} `), error.message);
  }

  function place(source) {
    if (!source) return null;
    const where = el("div", "where", `${source.file}:${source.line}`);
    const code = known(source.code) && el("pre", "code", source.code.trim());
    return el("div", "place", where, code);
  }

  // ---- Its assertions

  function toneOf(check) {
    if (check.outcome !== "graded") return check.outcome;
    if (check.gate === "missed") return "failed";
    if (!known(check.score)) return "skipped";
    // The usual thresholds of FORMAT.md 8.1: rows do not tell those of their suite, and this is a colour.
    if (check.score > 0.8 - 1e-9) return "passed";
    return check.score > 0.6 - 1e-9 ? "borderline" : "failed";
  }

  function gateText(check) {
    // Without a demand of its own it is a member's gate.
    const needs = typeof check.required === "number" ? ` (needs ${score(check.required)})` : check.required ? " (must pass)" : "";
    if (check.gate === "missed") return el("span", "lost", `gate missed${needs}`);
    if (check.gate === "met") return `gate met${needs}`;
    if (check.gate === "unchecked") return "gate not checked";
    return null;
  }

  function checkNotes(check) {
    const parts = [
      check.weight === 0 ? "weight 0, not counted" : `weight ${check.weight}`,
      gateText(check),
      known(check.ms) ? duration(check.ms) : null,
    ].filter(Boolean);
    const node = el("div", "notes");
    parts.forEach((part, at) => put(node, [at > 0 && " · ", part]));
    return node;
  }

  function sentences(list, outcome) {
    return (list || []).map((sentence) => {
      const glyph = el("i", "", GLYPHS[outcome]);
      glyph.setAttribute("aria-label", outcome === "passed" ? "hit" : "miss");
      return el("li", outcome, glyph, sentence);
    });
  }

  function checkNode(check) {
    const result = check.outcome === "graded" ? orDash(check.score, score) : check.outcome;
    const kind = [check.type === check.name ? null : check.type, check.aggregator].filter(Boolean).join(", ");
    const members = check.members || [];
    // What a member says is said there.
    const said = new Set(members.flatMap((member) => [...member.hits, ...member.misses]));
    const own = (list) => list.filter((sentence) => !said.has(sentence));
    return el("div", "check " + toneOf(check),
      el("div", "title", el("div", "", el("b", "", check.name), el("span", "kind", kind)), el("span", "score", result)),
      checkNotes(check),
      el("ul", "", ...sentences(own(check.misses), "failed"), ...sentences(own(check.hits), "passed")),
      check.error && el("div", "reasoning", `${check.error.stage}/${check.error.kind}: ${check.error.message}`),
      check.reasoning && el("div", "reasoning", check.reasoning),
      known(check.details) && more("Details", pretty(check.details)),
      place(check.source),
      ...members.map(checkNode));
  }

  function more(title, text) {
    return el("details", "more", el("summary", "", title), scrolled(text));
  }

  // What scrolls must be reachable by key.
  function scrolled(text) {
    const node = el("pre", "", text);
    node.tabIndex = 0;
    return node;
  }

  function checksNode(details) {
    const list = details.checks.map(checkNode);
    if (!list.length) list.push(el("p", "muted", "Nothing was graded."));
    return el("section", "checks", el("h3", "", "Assertions"), ...list);
  }

  // ---- Its conversation

  function blockText(block) {
    if (typeof block === "string") return block;
    if (!block || typeof block !== "object") return pretty(block);
    const value = known(block.value) ? block.value : block.text;
    if (!known(value)) return pretty(block);
    const kind = block.type && block.type !== "text" ? `[${block.type}] ` : "";
    return kind + pretty(value);
  }

  function contentText(content) {
    if (!known(content)) return "";
    return Array.isArray(content) ? content.map(blockText).join("\n\n") : blockText(content);
  }

  function callOf(value) {
    const call = value && typeof value === "object" ? value : { name: value };
    const asked = call.function || call;
    const input = [asked.arguments, asked.args, asked.input].find(known);
    return {
      id: call.id,
      name: known(asked.name) ? asked.name : call.tool,
      input: unpacked(input),
      output: call.output,
      ms: call.duration_ms,
    };
  }

  function callNode(call) {
    const preview = known(call.input) ? JSON.stringify(call.input).slice(0, 160) : "";
    return el("details", "call",
      el("summary", "", el("b", "", known(call.name) ? call.name : "tool"), el("span", "", preview)),
      known(call.input) && el("h4", "", "Arguments"),
      known(call.input) && scrolled(pretty(call.input)),
      known(call.output) && el("h4", "", known(call.ms) ? `Result, ${duration(call.ms)}` : "Result"),
      known(call.output) && scrolled(pretty(call.output)));
  }

  function saidNode(message, answered) {
    if (!message || typeof message !== "object") return el("div", "said", scrolled(pretty(message)));
    const calls = Array.isArray(message.tool_calls) ? message.tool_calls.map(callOf) : [];
    for (const call of calls) if (known(call.id) && known(call.output)) answered.add(call.id);
    // The call shows its result already.
    if (message.role === "tool" && answered.has(message.tool_call_id)) return null;
    const text = contentText(message.content);
    const role = known(message.name) ? `${message.role} · ${message.name}` : message.role;
    const tone = ["user", "system"].includes(message.role) ? " " + message.role : "";
    return el("div", "said" + tone, el("div", "role", known(role) ? role : "message"),
      text !== "" && scrolled(text), ...calls.map(callNode));
  }

  function conversationNode(details) {
    const said = details.conversation || {};
    const nodes = [];
    if (Array.isArray(said.messages) && said.messages.length) {
      const answered = new Set();
      nodes.push(...said.messages.map((message) => saidNode(message, answered)));
    } else if (known(said.answer)) {
      const empty = el("span", "muted", "The answer is empty.");
      nodes.push(el("div", "said", el("div", "role", "answer"), said.answer === "" ? empty : scrolled(said.answer)));
    } else {
      // Only a page that left something out has notes.
      const isCut = run.notes.length > 0 && !details.error;
      nodes.push(el("p", "muted", isCut ? "The answer is not in this page; see the note at its top." : "There is no answer."));
    }
    if (!said.messages && details.tools && details.tools.length) {
      nodes.push(el("p", "muted", `Tools called: ${details.tools.join(", ")}`));
    }
    return el("section", "", el("h3", "", said.messages ? "Conversation" : "Answer"), ...nodes);
  }

  function testNodes(one, details) {
    const record = details.record && `${details.record.file}, run ${details.record.run}`;
    return [el("h3", "", "Test"), place(details.source), facts([
      ["Suite", one.suite],
      ["Conversation", details.conversationId],
      ["Finished", details.timestamp],
      ["Record", record],
    ])];
  }

  // ---- Opening and closing it

  function drawCase(one) {
    const details = detailsOf(one.index);
    const nodes = [caseHead(one, details)];
    if (!details) {
      nodes.push(el("p", "trouble skipped", "The details of this case are not in this page, to keep it small. The results file has them."));
    } else {
      const tells = (check) => check.error && check.error.message === details.error.message;
      if (details.error && !details.checks.some(tells)) nodes.push(trouble(details.error, one.outcome));
      const conversation = conversationNode(details);
      put(conversation, testNodes(one, details));
      nodes.push(el("div", "case-body", conversation, checksNode(details)));
    }
    dialog.replaceChildren(...nodes);
    dialog.scrollTop = 0;
  }

  // The address names the open case, so that it can be sent to somebody with the file.
  function keepAddress(hash) {
    try {
      history.replaceState(null, "", hash);
    } catch {
      // Not every place that shows a file has a history.
    }
  }

  function open() {
    const one = shown[active];
    if (!one) return;
    drawCase(one);
    if (!dialog.open) dialog.showModal();
    keepAddress("#case-" + (one.index + 1));
  }

  function step(by) {
    const before = active;
    const used = document.activeElement && document.activeElement.getAttribute("aria-label");
    moveTo(active + by);
    if (active === before) return;
    open();
    // The button that was used is a new one now, and may be at its end.
    const same = [...dialog.querySelectorAll("button")].find((node) => node.getAttribute("aria-label") === used);
    (same && !same.disabled ? same : dialog).focus();
  }

  function openFromAddress() {
    const found = /^#case-(\d+)$/.exec(location.hash);
    const at = found ? shown.findIndex((one) => one.index + 1 === Number(found[1])) : -1;
    if (at < 0) return;
    moveTo(at);
    open();
  }

  // ---- Keys

  function gridKey(event) {
    const page = Math.max(1, Math.floor(grid.clientHeight / rowHeight) - 2);
    const moves = {
      ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: shown.length - 1,
      PageDown: active + page, PageUp: active - page,
    };
    if (event.target !== grid) return;
    if (event.key in moves) moveTo(moves[event.key]);
    else if (event.key === "Enter") open();
    else return;
    event.preventDefault();
  }

  function pageKey(event) {
    const typing = event.target.closest("input, select, textarea");
    if (event.ctrlKey || event.metaKey || event.altKey || typing) return;
    const by = { j: 1, k: -1 }[event.key];
    if (by && dialog.open) step(by);
    else if (by) {
      if (document.activeElement === grid) moveTo(active + by);
      grid.focus();
    } else if (event.key === "/" && !dialog.open) byId("search").focus();
    else return;
    event.preventDefault();
  }

  function searchKey(event) {
    if (event.key === "Escape" && event.target.value) {
      event.target.value = "";
      search();
    } else if (["Escape", "Enter", "ArrowDown"].includes(event.key)) grid.focus();
    else return;
    event.preventDefault();
  }

  function search() {
    state.text = byId("search").value.trim().toLowerCase();
    grid.scrollTop = 0;
    active = 0;
    refresh();
  }

  function listen() {
    let waiting = false;
    const later = () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        drawRows();
      });
    };
    grid.addEventListener("scroll", later, { passive: true });
    addEventListener("resize", later);
    grid.addEventListener("keydown", gridKey);
    document.addEventListener("keydown", pageKey);
    rows.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (!row) return;
      active = Number(row.dataset.at);
      markActive();
      open();
    });
    byId("search").addEventListener("input", search);
    byId("search").addEventListener("keydown", searchKey);
    byId("reset").addEventListener("click", reset);
    dialog.addEventListener("click", (event) => {
      if (event.clientX < dialog.getBoundingClientRect().left) dialog.close();
    });
    dialog.addEventListener("close", () => {
      keepAddress("#");
      grid.focus();
    });
  }

  startTheme();
  drawTop();
  drawSummary();
  drawDistribution();
  drawCosts();
  drawRates();
  drawHead();
  drawChips();
  if (manyTargets) drawPick("target", "Target");
  if (manySuites) drawPick("suite", "Suite");
  listen();
  refresh();
  openFromAddress();
})();
