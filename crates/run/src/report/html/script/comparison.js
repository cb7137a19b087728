// This run beside its baseline: the verdict, what it rests on, and every test.

// Sign and colour of each change, in the order in which they need a look.
const CHANGES = {
  regressed: ["▼", "failed"],
  errored: ["!", "errored"],
  fixed: ["▲", "passed"],
  "changed-test": ["◆", "borderline"],
  added: ["+", "added"],
  removed: ["−", "skipped"],
  unchanged: ["=", "skipped"],
};
const CHANGE_WORDS = Object.keys(CHANGES);
const VERDICTS = { better: "passed", equivalent: "passed", worse: "failed", inconclusive: "borderline" };
const CERTAIN = "beyond chance";

function sideText(side) {
  if (!side) return "–";
  const passes = side.trials > 0 && `${count(side.passes)} of ${count(side.trials)}`;
  const errors = side.errors > 0 && `${count(side.errors)} errored`;
  return [passes, errors].filter(Boolean).join(", ") || "–";
}

// ---- The verdict

function verdictCard() {
  const tone = VERDICTS[compared.verdict] || "skipped";
  const heading = el("h2", "name", "Against ", el("span", "base", compared.base));
  heading.id = "verdict-title";
  return el("div", "card verdict " + tone,
    heading,
    el("div", "value", compared.title),
    el("p", "", compared.sentences.join(" ")),
    facts(compared.facts));
}

// Round steps, and no more of them than have room for their words.
function ticks(from, to, width) {
  const steps = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1];
  const most = Math.max(3, width / 64);
  const step = steps.find((one) => (to - from) / one <= most) || 1;
  const first = Math.ceil(from / step - 1e-9), last = Math.floor(to / step + 1e-9);
  const all = Array.from({ length: last - first + 1 }, (_, n) => (first + n) * step);
  return all.filter((at) => Math.abs(at) < 1 + 1e-9);
}

function difference(width) {
  const { delta, low, high, label: text, words } = compared.difference;
  const margin = Math.min(1, compared.difference.margin);
  const reach = [0, delta, low, high, margin, -margin];
  const span = Math.max(0.02, Math.max(...reach) - Math.min(...reach));
  const from = Math.min(...reach) - span * 0.12, to = Math.max(...reach) + span * 0.12;
  const height = 150, top = 22, bottom = height - 22, y = (top + bottom) / 2 + 6;
  const px = (share) => 8 + ((share - from) / (to - from)) * (width - 16);
  const nodes = [
    svg("rect", { x: px(-margin), y: top, width: Math.max(1, px(margin) - px(-margin)), height: bottom - top, class: "margin" }),
    ...ticks(from, to, width).flatMap((at) => [
      upright(px(at), top, bottom, "rule"),
      label(px(at), height - 5, points(at)),
    ]),
    upright(px(0), top - 6, bottom, "zero"),
    label(0, 11, "← worse", "start"),
    label(width, 11, "better →", "end"),
    level(px(low), px(high), y, "range"),
    ...[low, high].map((end) => upright(px(end), y - 7, y + 7, "cap")),
    svg("circle", { cx: px(delta), cy: y, r: 6, class: "mark" }),
    label(px(delta), y - 15, text, "middle", "strong"),
  ];
  return canvas(width, height, words, ...nodes);
}

function drawVerdict(place) {
  place.append(verdictCard());
  if (!compared.difference) return place.classList.add("alone");
  plot(place, compared.difference.title, compared.difference.note, difference);
  place.lastChild.classList.add(VERDICTS[compared.verdict] || "skipped");
}

// ---- The tests

const pair = (before, now) => el("span", "pair", el("span", "", before), sign("→"), el("span", "", now));
const rateOf = (side) => (side && side.trials ? side.passes / side.trials : null);
const scoreOf = (side) => (side && known(side.score) ? side.score : null);

// What it gained; unknown where one side is.
function gain(of, one) {
  const [before, now] = [of(one.base), of(one.now)];
  return known(before) && known(now) ? now - before : null;
}

function changeColumns() {
  const differ = (key) => compared.tests.some((one) => one[key] !== compared.tests[0][key]);
  const targets = differ("target"), suites = differ("suite");
  return [
    { key: "change", title: "Change", width: "124px", value: (one) => CHANGE_WORDS.indexOf(one.change), cell: (one) => [badge(CHANGES[one.change][1], CHANGES[one.change][0], one.change)] },
    { key: "id", title: "Test", long: true, width: "minmax(150px, 1fr)", cell: (one) => [el("span", "id", one.id), suites && el("span", "small", one.suite), targets && el("span", "small narrow", one.target)] },
    { key: "target", title: "Target", long: true, width: "minmax(80px, 150px)", wide: true, show: targets, cell: (one) => [one.target] },
    { key: "passes", title: "Passes", width: "264px", name: "paired", value: (one) => gain(rateOf, one), cell: (one) => [pair(sideText(one.base), sideText(one.now))] },
    {
      key: "score", title: "Score", width: "150px", wide: true, name: "paired", value: (one) => gain(scoreOf, one),
      cell: (one) => [pair(orDash(scoreOf(one.base), mean), orDash(scoreOf(one.now), mean))],
    },
    { key: "certain", title: "Chance", width: "120px", wide: true, show: compared.tests.some((one) => one.certain), value: (one) => (one.certain ? 0 : 1), cell: (one) => [one.certain && el("span", "certain", CERTAIN)] },
  ].filter((column) => column.show !== false);
}

function drawTests(place) {
  const list = new List({
    name: "tests",
    items: compared.tests,
    columns: changeColumns(),
    tie: (a, b) => Number(Boolean(b.certain)) - Number(Boolean(a.certain)) || a.index - b.index,
    opens: (test) => casesOf(test).length > 0,
    open: (from, at) => openCase(from, casesOf(from.shown[at]), 0),
  });
  const bar = new Bar(list, {
    title: "Compared tests",
    nouns: ["test", "tests"],
    hint: "Search test, target",
    words: (one) => [one.id, one.target, one.suite],
  });
  const marks = compared.counts.map(([word, n]) => ({ word, tone: CHANGES[word][1], n }));
  const certain = compared.tests.filter((one) => one.certain).length;
  const has = (one, word) => (word === CERTAIN ? Boolean(one.certain) : one.change === word);
  bar.addChips("Change", [...marks, { word: CERTAIN, tone: "certain", n: certain }], has);
  put(place, [compared.note && el("p", "notice", compared.note), bar.node, list.grid]);
  list.refresh();
  return { list, bar };
}

// The list of tests, if there is one.
function drawComparison() {
  if (!compared) return null;
  const section = byId("comparison");
  const against = el("div", "against");
  section.hidden = false;
  section.append(against);
  drawVerdict(against);
  return compared.tests.length ? drawTests(section) : null;
}

