// What failed most: misses, assertions and tags, each a way into the table of tests.

const PANEL_LINES = 6;

function panelLine(title, tone, share, value, act) {
  const line = button("line " + tone, act, el("span", "text", title), el("span", "value", value));
  line.style.setProperty("--share", Math.max(0, Math.min(1, share)) * 100 + "%");
  return el("li", "", line);
}

function panel(title, note, lines) {
  if (!lines.length) return null;
  return el("section", "card panel", el("h2", "", title), note && el("p", "muted", note), el("ul", "", ...lines));
}

// Shows the tests behind a line.
const filtered = (act) => () => {
  chooseView("tests");
  act();
  testTable.list.table.focus({ preventScroll: true });
};

function missPanel() {
  const list = run.misses.slice(0, PANEL_LINES);
  const most = list.length ? list[0][1] : 1;
  return panel("Top misses", null, list.map(([miss, n]) =>
    panelLine(miss, "failed", n / most, counted(n, "case", "cases"), filtered(() => testTable.showMiss(miss)))));
}

function assertionPanel() {
  const scored = run.assertions.filter((one) => known(one.score));
  const list = [...scored].sort((a, b) => a.score - b.score).slice(0, PANEL_LINES);
  const note = scored.length > list.length ? `the lowest ${list.length} of ${count(scored.length)}` : null;
  if (scored.length < 2) return null;
  return panel("Mean score by assertion", note, list.map((one) =>
    panelLine(one.name, one.score > 1 - 1e-9 ? "passed" : "accent", one.score, mean(one.score), filtered(() => testTable.showAssertion(one.name)))));
}

function tagRates() {
  const rates = new Map();
  for (const test of tests) {
    for (const tag of test.tags || []) {
      const rate = rates.get(tag) || { tag, passes: 0, trials: 0 };
      rate.passes += test.passes;
      rate.trials += test.judged;
      rates.set(tag, rate);
    }
  }
  return [...rates.values()].filter((rate) => rate.trials > 0);
}

function tagPanel() {
  const share = (rate) => rate.passes / rate.trials;
  const rates = tagRates().sort((a, b) => share(a) - share(b) || collator.compare(a.tag, b.tag));
  const list = rates.slice(0, PANEL_LINES);
  const note = rates.length > list.length ? `the lowest ${list.length} of ${count(rates.length)}` : null;
  return panel("Pass rate by tag", note, list.map((rate) =>
    panelLine(rate.tag, "accent", share(rate), percent(rate.passes, rate.trials), filtered(() => {
      remember({ tag: rate.tag });
      testTable.bar.restore();
    }))));
}

function drawPanels() {
  const panels = [missPanel(), assertionPanel(), tagPanel()].filter(Boolean);
  byId("panels").replaceChildren(...panels);
}
