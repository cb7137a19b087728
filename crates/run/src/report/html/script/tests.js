// The table of tests: what needs a look comes first.

// Sign and colour of each change.
const CHANGES = {
  regressed: ["▼", "failed"],
  errored: ["!", "errored"],
  changed: ["△", "borderline"],
  fixed: ["▲", "passed"],
  "changed-test": ["◆", "borderline"],
  added: ["+", "added"],
  removed: ["−", "skipped"],
  unchanged: ["=", "skipped"],
};
const changeBadge = (word) => badge((CHANGES[word] || ["?", "skipped"])[1], (CHANGES[word] || ["?"])[0], word);

// The table, and what is drawn again when cases arrive.
const testTable = { list: null, bar: null, redraw: [] };

// The largest drop first, then what fails, is flaky, passes.
function byNeed(a, b) {
  const drop = (one) => Math.min(0, one.gain || 0);
  return drop(a) - drop(b) || isBaseline(a) - isBaseline(b) || a.severity - b.severity
    || a.passes / (a.judged || 1) - b.passes / (b.judged || 1);
}

// The order of the suite.
function inSuite(a, b) {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line || a.index - b.index;
}

function meter(value, tone) {
  const fill = el("i");
  fill.style.width = Math.max(0, Math.min(1, value)) * 100 + "%";
  return el("span", "meter " + tone, fill);
}

function testCell(one) {
  const name = el("div", "name", el("span", "id", one.id), one.name && el("span", "small", one.name),
    several("target") && el("span", "small", one.target), several("suite") && el("span", "small", one.suite),
    ...(one.tags || []).slice(0, 3).map((tag) => el("span", "tag", tag)));
  return [name, one.ask && el("div", "ask", one.ask)];
}

function stateCell(one) {
  if (!one.cases.length) return [changeBadge(one.change ? one.change.change : "removed")];
  const moved = one.change && !["unchanged", "errored"].includes(one.change.change);
  return [badge(one.state, GLYPHS[one.state], one.state), moved && el("div", "moved", changeBadge(one.change.change))];
}

function testColumns() {
  const trials = tests.some((one) => one.cases.length > 1);
  return [
    { key: "need", title: "Result", width: "118px", compare: byNeed, cell: stateCell },
    { key: "test", title: "Test", name: "test", long: true, width: "minmax(200px, 8fr)", value: (one) => one.id, cell: testCell },
    {
      key: "passes", title: compared ? "Before → now" : "Passed", width: compared ? "196px" : trials ? "132px" : "84px", name: "passes",
      value: (one) => (compared ? one.gain : one.judged ? one.passes / one.judged : null), cell: (one) => [pips(one)],
    },
    {
      key: "score", title: "Score", hint: "Mean over trials", width: "96px", name: "score", number: true, wide: true,
      cell: (one) => (known(one.score) ? [meter(one.score, one.state), mean(one.score)] : ["–"]),
    },
    { key: "why", title: "First miss", long: true, width: "minmax(0, 6fr)", wide: true, name: "why", cell: (one) => [one.why] },
    { key: "cost", title: "Cost", hint: "Mean over trials", width: "70px", wide: true, number: true, descends: true, cell: (one) => [orDash(one.cost, money)] },
    { key: "time", title: "Time", hint: "Mean over trials", width: "74px", wide: true, number: true, descends: true, value: (one) => one.ms, cell: (one) => [orDash(one.ms, duration)] },
  ];
}

function stateMarks() {
  return SEVERITY.map((word) => ({ word, tone: word, n: tests.filter((one) => one.cases.length && one.state === word).length }));
}

function changeMarks() {
  const of = (word) => tests.filter((one) => one.change && one.change.change === word).length;
  const certain = tests.filter((one) => one.change && one.change.certain).length;
  return [...Object.keys(CHANGES).map((word) => ({ word, tone: CHANGES[word][1], n: of(word) })), { word: "beyond chance", tone: "certain", n: certain }];
}

const hasChange = (one, word) => Boolean(one.change && (word === "beyond chance" ? one.change.certain : one.change.change === word));
const namesOf = (key) => () => [...new Set(tests.map((one) => one[key]))].sort(collator.compare);
const tagNames = () => [...new Set(tests.flatMap((one) => one.tags || []))].sort(collator.compare);

function searchedWords(one) {
  const misses = one.cases.flatMap((each) => [each.why, ...(each.misses || [])]);
  return [one.id, one.name, one.suite, one.target, one.ask, ...(one.tags || []), ...misses];
}

function addFilters(bar) {
  const states = bar.addChips("state", "Result", stateMarks, (one, word) => one.cases.length > 0 && one.state === word);
  testTable.redraw.push(states.draw);
  testTable.showState = states.only;
  if (compared) testTable.redraw.push(bar.addChips("change", "Change", changeMarks, hasChange).draw);
  testTable.showAssertion = bar.addFacet("assertion", "assertion", (one, name) => one.cases.some((each) => (each.lost || []).includes(name)));
  testTable.showMiss = bar.addFacet("miss", "miss", (one, text) => one.cases.some((each) => each.why === text || (each.misses || []).includes(text)));
  testTable.redraw.push(bar.addPick("target", "Target", namesOf("target"), (one, name) => one.target === name));
  testTable.redraw.push(bar.addPick("suite", "Suite", namesOf("suite"), (one, name) => one.suite === name));
  testTable.redraw.push(bar.addPick("tag", "Tag", tagNames, (one, name) => (one.tags || []).includes(name)));
}

function drawTests() {
  const list = new List({
    name: "tests",
    items: tests,
    columns: testColumns(),
    tie: inSuite,
    opens: (one) => one.cases.length > 0,
    open: (at) => openTest(list.shown[at]),
  });
  const bar = new Bar(list, { title: "Tests", nouns: ["test", "tests"], hint: "Search tests, questions, misses", words: searchedWords });
  Object.assign(testTable, { list, bar });
  addFilters(bar);
  if (!tests.length && !setting("live")) list.none.replaceChildren(el("p", "", "Nothing was run."));
  put(byId("tests-view"), [compared && compared.note && el("p", "notice", compared.note), bar.node, list.node]);
  bar.restore();
}
