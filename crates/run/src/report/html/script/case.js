// One test in full, in a dialog beside the page: question, answer, what failed, and the way there.

const dialog = byId("case");
// The case that is shown.
let current = null;

function tokensText(tokens) {
  if (!tokens) return "unknown";
  if (tokens.input === null || tokens.output === null) {
    return `${count(tokens.total)} in all`;
  }
  const cached = tokens.cached ? ` (${count(tokens.cached)} cached)` : "";
  return `${count(tokens.input)} in${cached}, ${count(tokens.output)} out`;
}

function judgeText(judge) {
  if (!judge) return null;
  const cost = known(judge.costUsd) ? money(judge.costUsd) : "cost unknown";
  return `${counted(judge.calls, "call", "calls")}, ${cost}`;
}

// What became of the test, where there is a baseline.
function changeText({ change }) {
  return change && `${change.change}, passes ${sideText(change.base)} → ${sideText(change.now)}${change.certain ? ", beyond chance" : ""}`;
}

// ---- The head

const placeInList = () => testTable.list.shown.indexOf(current.test);

function stepButton(text, title, by) {
  const node = having(button("plain", () => step(by), text), { "aria-label": title });
  const at = placeInList();
  node.disabled = at < 0 || !nextOpen(at, by);
  return node;
}

function trialButtons() {
  const { cases } = current.test;
  if (cases.length < 2) return null;
  const nodes = cases.map((one) => {
    const node = button("plain trial " + one.outcome, () => showTrial(one), sign(GLYPHS[one.outcome]), String(one.trial));
    return having(node, { "aria-label": `Trial ${one.trial}, ${one.outcome}`, "aria-pressed": one === current });
  });
  return having(el("div", "trials", el("span", "muted", "Trial"), ...nodes), { role: "group", "aria-label": "Trials" });
}

function headFacts(one, details) {
  const agent = details && details.agent;
  return facts([
    ["Score", orDash(one.score, score)],
    ["Target", one.test.target],
    ["Model", agent && agent.model],
    ["Time", orDash(one.ms, duration)],
    ["Cost", known(one.cost) ? money(one.cost) : "unknown"],
    ["Tokens", details ? tokensText(details.tokens) : null],
    ["Judge", details && judgeText(details.judge)],
    ["Answer", details && details.cached ? "from the cache; time, cost and tokens are those of the first time" : null],
    ["Attempts", details && details.attempts > 1 ? details.attempts : null],
    ["Worker", details && details.worker],
    ["Stop reason", details && details.stopReason],
    ["Against the baseline", changeText(one.test)],
  ]);
}

function caseHead(one, details) {
  const heading = el("h2", "", one.test.id, one.test.name && el("span", "small", one.test.name));
  heading.id = "case-title";
  const close = button("plain", () => dialog.close(), "Close");
  close.autofocus = true;
  const at = placeInList();
  const position = at >= 0 && el("span", "muted position", `${count(at + 1)} of ${count(testTable.list.shown.length)}`);
  const line = el("div", "line", badge(one.outcome, GLYPHS[one.outcome] || "?", one.outcome), heading, position,
    stepButton("↑", "Previous test", -1), stepButton("↓", "Next test", 1),
    copyButton("Copy link", () => location.href), close);
  return el("div", "case-head", line, trialButtons(), headFacts(one, details));
}

// ---- The body

function trouble(error, outcome) {
  return el("div", "trouble " + outcome, el("b", "", `${error.stage}/${error.kind} `), error.message);
}

function testNode(one, details) {
  const record = details.record && `${details.record.file}, run ${details.record.run}`;
  const tags = one.test.tags && one.test.tags.join(", ");
  return el("section", "about", el("h3", "", "Test"), place(details.source), facts([
    ["Suite", one.test.suite],
    ["Tags", tags],
    ["Conversation", details.conversationId],
    ["Session", details.sessionId],
    ["Finished", details.timestamp && short(details.timestamp)],
    ["Record", record],
  ]));
}

function caseBody(one, details) {
  const before = earlierOf(one);
  const tells = (check) => check.error && check.error.message === details.error.message;
  return [
    details.error && !details.checks.some(tells) && trouble(details.error, one.outcome),
    el("div", before ? "case-body compared" : "case-body",
      el("div", "said-part", questionNode(details), answerNode(one, details)),
      checksNode(details),
      el("div", "rest", changeNode(one, details), filesNode(details), conversationNode(details), testNode(one, details))),
  ];
}

const NOT_HERE = "The details of this case are not in this page, to keep it small. The results file has them.";

function redrawCase() {
  const one = current;
  const details = detailsOf(one);
  const wait = () => { if (current === one && dialog.open) redrawCase(); };
  if (details === undefined) addEventListener("DOMContentLoaded", wait, { once: true });
  const body = details ? caseBody(one, details) : [el("p", "trouble skipped", details === null ? NOT_HERE : "Reading the page…")];
  dialog.replaceChildren(caseHead(one, details), ...body.filter(Boolean));
}

// ---- Opening and closing it

function showTrial(one) {
  current = one;
  const nameOfButton = (node) => node.getAttribute("aria-label") || node.textContent;
  const used = dialog.open && document.activeElement && nameOfButton(document.activeElement);
  redrawCase();
  dialog.scrollTop = 0;
  if (!dialog.open) dialog.showModal();
  const { id, suite, target, cases } = one.test;
  remember({ test: id, of: several("suite") ? suite : null, on: several("target") ? target : null, trial: cases.length > 1 ? one.trial : null });
  // The button that was used is a new one now, and may be at its end.
  const same = used && [...dialog.querySelectorAll("button")].find((node) => nameOfButton(node) === used);
  if (used) (same && !same.disabled ? same : dialog).focus();
}

// The case that needs a look.
function worstOf(test) {
  const rank = (one) => SEVERITY.indexOf(one.outcome);
  return test.cases.reduce((worst, one) => (rank(one) < rank(worst) ? one : worst));
}

function openTest(test, trial) {
  const at = testTable.list.shown.indexOf(test);
  if (at >= 0) testTable.list.moveTo(at);
  showTrial(test.cases.find((one) => one.trial === trial) || worstOf(test));
}

function nextOpen(at, by) {
  const { shown } = testTable.list;
  for (let next = at + by; shown[next]; next += by) if (shown[next].cases.length) return shown[next];
  return null;
}

function step(by) {
  const test = nextOpen(placeInList(), by);
  if (test) openTest(test);
}

function stepTrial(by) {
  const { cases } = current.test;
  const next = cases[cases.indexOf(current) + by];
  if (next) showTrial(next);
}

function openFromAddress() {
  const fits = (one) => one.id === asked("test") && (!address.has("of") || one.suite === asked("of")) && (!address.has("on") || one.target === asked("on"));
  const found = address.has("test") && tests.find((one) => one.cases.length && fits(one));
  if (found) openTest(found, Number(asked("trial")));
  else if (dialog.open) dialog.close();
}

function listenToCase() {
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog && event.clientX < dialog.getBoundingClientRect().left) dialog.close();
  });
  dialog.addEventListener("close", () => {
    remember({ test: null, of: null, on: null, trial: null });
    testTable.list.table.focus({ preventScroll: true });
  });
}
