// What the page knows, from the blocks of JSON in it.

const BLOCK = 50; // cases per block of details, as in html.rs
const GLYPHS = { passed: "✓", borderline: "~", failed: "✗", errored: "!", skipped: "–" };
// What needs a look comes first.
const SEVERITY = ["failed", "errored", "borderline", "passed", "skipped"];

const read = (id) => JSON.parse(byId(id).textContent);
const run = read("run");
const cases = read("cases");
// Null without a baseline.
const compared = byId("compared") && read("compared");
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

const several = (key) => cases.some((one) => one[key] !== cases[0][key]);
const manyTargets = several("target");
const manySuites = several("suite");
const manyTrials = several("trial");

// ---- Which cases belong to which test of the comparison

const keyOf = (one) => JSON.stringify([one.suite, one.id, one.target]);
const casesByTest = new Map();
const changes = new Map();

if (compared) {
  for (const one of cases) {
    const key = keyOf(one);
    if (!casesByTest.has(key)) casesByTest.set(key, []);
    casesByTest.get(key).push(one);
  }
  for (const list of casesByTest.values()) list.sort((a, b) => a.severity - b.severity || a.trial - b.trial);
  compared.tests.forEach((one, index) => {
    one.index = index;
    changes.set(keyOf(one), one);
  });
}

const casesOf = (test) => casesByTest.get(keyOf(test)) || [];
const changeOf = (one) => changes.get(keyOf(one));

