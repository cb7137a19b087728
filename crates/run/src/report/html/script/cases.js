// The table of cases.

function meter(one) {
  const fill = el("i");
  fill.style.width = Math.max(0, Math.min(1, one.score)) * 100 + "%";
  return el("span", "meter " + one.outcome, fill);
}

const CASE_COLUMNS = [
  { key: "severity", title: "Outcome", width: "104px", cell: (one) => [badge(one.outcome, GLYPHS[one.outcome] || "?", one.outcome)] },
  {
    key: "id", title: "Test", long: true, width: "minmax(150px, 5fr)",
    cell: (one) => [
      el("span", "id", one.id),
      manyTargets && el("span", "small narrow", one.target),
      manySuites && el("span", "small", one.suite),
      manyTrials && el("span", "small", "trial " + one.trial),
    ],
  },
  { key: "target", title: "Target", long: true, width: "minmax(80px, 130px)", wide: true, show: manyTargets, cell: (one) => [one.target] },
  {
    key: "score", title: "Score", width: "104px", name: "score", number: true,
    cell: (one) => (known(one.score) ? [meter(one), score(one.score)] : ["–"]),
  },
  { key: "why", title: "First miss", long: true, width: "minmax(0, 8fr)", wide: true, name: "why", cell: (one) => [one.why] },
  { key: "cost", title: "Cost", width: "76px", wide: true, number: true, descends: true, cell: (one) => [orDash(one.cost, money)] },
  { key: "ms", title: "Time", width: "84px", wide: true, number: true, descends: true, cell: (one) => [orDash(one.ms, duration)] },
].filter((column) => column.show !== false);

function drawCases() {
  const list = new List({
    name: "cases",
    items: cases,
    columns: CASE_COLUMNS,
    // The order of the suite.
    tie: (a, b) => collator.compare(a.file, b.file) || a.line - b.line || a.index - b.index,
    opens: () => true,
    open: (from, at) => openCase(from, from.shown, at),
  });
  const bar = new Bar(list, {
    title: "Cases",
    nouns: run.nouns,
    hint: "Search id, target, misses",
    words: (one) => [one.id, one.suite, one.target, one.why, ...(one.misses || [])],
  });
  const marks = run.counts.map(([outcome, n]) => ({ word: outcome, tone: outcome, n }));
  bar.addChips("Outcome", marks, (one, outcome) => one.outcome === outcome);
  if (manyTargets) bar.addPick("target", "Target");
  if (manySuites) bar.addPick("suite", "Suite");
  if (!cases.length) list.none.replaceChildren(el("p", "", "Nothing was run."));
  put(byId("cases-view"), [bar.node, list.grid]);
  list.refresh();
  return { list, bar };
}

