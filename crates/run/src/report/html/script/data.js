// What the page knows: tests with their cases, from the blocks of JSON in the page and from events.

const BLOCK = 50; // tests per block of details, as in page.rs
const OUTCOMES = { p: "passed", b: "borderline", f: "failed", e: "errored", s: "skipped" };
const GLYPHS = { passed: "✓", borderline: "~", failed: "✗", errored: "!", skipped: "–", flaky: "≈" };
// What needs a look comes first.
const SEVERITY = ["failed", "errored", "flaky", "borderline", "passed", "skipped"];

const read = (id) => JSON.parse(byId(id).textContent);
const setting = (name) => document.querySelector(`meta[name="evalrig-${name}"]`)?.content;

let run = read("run");
// Null without a baseline.
let compared = byId("compared") && read("compared");

const tests = [];
// `suite` and `target`, where there is more than one.
const differing = new Set();
const testsByKey = new Map();
const keyOf = (one) => JSON.stringify([one.suite, one.id, one.target]);

// The order is that of `case_line` in case.rs.
function caseOf([trial, outcome, score, cost, ms, tokens, why, misses, lost], test, at) {
  return { trial, outcome: OUTCOMES[outcome], score, cost, ms, tokens, why, misses, lost, test, at };
}

function stateOf(test) {
  const has = (outcome) => test.cases.some((one) => one.outcome === outcome);
  if (!test.judged) return has("errored") ? "errored" : "skipped";
  if (test.passes === test.judged) return has("errored") ? "errored" : "passed";
  if (test.passes > 0) return "flaky";
  return has("failed") ? "failed" : "borderline";
}

function averageOf(cases, key) {
  const values = cases.map((one) => one[key]).filter(known);
  return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
}

// Failures of the baseline arm show what the others are worth.
const isBaseline = (test) => run.baselineTargets.includes(test.target);

// Everything that follows from the cases of a test.
function digest(test) {
  const judged = test.cases.filter((one) => ["passed", "borderline", "failed"].includes(one.outcome));
  test.judged = judged.length;
  test.passes = judged.filter((one) => one.outcome === "passed").length;
  test.state = stateOf(test);
  test.severity = SEVERITY.indexOf(test.state);
  for (const key of ["score", "cost", "ms"]) test[key] = averageOf(test.cases, key);
  test.why = test.cases.find((one) => one.why)?.why;
  test.hay = undefined;
}

function addTest(line) {
  const test = { ...line, index: tests.length };
  test.cases = line.cases.map((one, at) => caseOf(one, test, at));
  digest(test);
  for (const key of ["suite", "target"]) if (tests.length && test[key] !== tests[0][key]) differing.add(key);
  tests.push(test);
  testsByKey.set(keyOf(test), test);
  return test;
}

// A case that arrived while the page is open; one that is known already is replaced.
function addCase({ details, ...line }) {
  const test = testsByKey.get(keyOf(line));
  if (!test) {
    const added = addTest(line);
    added.cases[0].held = details;
    return added;
  }
  const one = caseOf(line.cases[0], test, 0);
  one.held = details;
  const at = test.cases.findIndex((other) => other.trial === one.trial);
  if (at >= 0) test.cases[at] = one;
  else test.cases.push(one);
  test.cases.sort((a, b) => a.trial - b.trial);
  digest(test);
  return test;
}

// ---- Details

const blocks = new Map();

// Undefined while the page is still being read, null when there was no room for them.
function detailsOf(one) {
  let held = one.held, at = 0;
  if (!held) {
    if (document.readyState === "loading") return undefined;
    const number = Math.floor(one.test.index / BLOCK);
    if (!blocks.has(number)) blocks.set(number, read("details-" + number));
    [held, at] = [blocks.get(number)[one.test.index % BLOCK], one.at];
  }
  const found = held && held.cases[at];
  if (!found) return null;
  return { ...found, ...held.common[found.common || 0], source: held.source, checks: (found.checks || []).map((check) => checkOf(check, held.specs)) };
}

// What an assertion demands is kept once for all trials of a test.
function checkOf(check, specs) {
  const members = check.members && check.members.map((member) => checkOf(member, specs));
  return { outcome: "graded", hits: [], misses: [], ...specs[check.of], ...check, members };
}

// ---- The baseline

let earlier = null;

const earlierKey = (one, trial) => JSON.stringify([one.suite, one.id, one.target, trial]);

// The case of the baseline with the same trial, else its first one.
function earlierOf(one) {
  if (!compared) return null;
  if (!earlier) readEarlier(byId("earlier") ? read("earlier") : []);
  const of = (trial) => earlier.get(earlierKey(one.test, trial));
  return of(one.trial) || of(1) || null;
}

function readEarlier(list) {
  earlier = new Map(list.map((one) => [earlierKey(one, one.trial), one]));
}

// Tests that were only in the baseline are listed too, without cases.
function joinChanges() {
  for (const change of compared ? compared.tests : []) {
    const test = testsByKey.get(keyOf(change)) || addTest({ ...change, cases: [], file: "\uffff", line: 0 });
    test.change = change;
    test.gain = gainOf(change);
  }
}

// Unknown where one side is.
function gainOf({ base, now }) {
  const rate = (side) => (side && side.trials ? side.passes / side.trials : null);
  return known(rate(base)) && known(rate(now)) ? rate(now) - rate(base) : null;
}

const several = (key) => differing.has(key);

for (const line of read("tests")) addTest(line);
joinChanges();
