// One case in full, in a dialog beside the page.

const dialog = byId("case");
// What the arrows go through, and the list to come back to.
const walk = { cases: [], at: 0, list: null };

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

// What became of its test, where there is a baseline.
function changeText(one) {
  const test = changeOf(one);
  return test && `${test.change}, passes ${sideText(test.base)} → ${sideText(test.now)}`;
}

function stepButton(text, title, by) {
  const node = button("plain", () => step(by), text);
  node.setAttribute("aria-label", title);
  node.disabled = !walk.cases[walk.at + by];
  return node;
}

function caseHead(one, details) {
  const heading = el("h2", "", one.id);
  heading.id = "case-title";
  const close = button("plain", () => dialog.close(), "Close");
  close.autofocus = true;
  const line = el("div", "line", badge(one.outcome, GLYPHS[one.outcome] || "?", one.outcome), heading,
    el("span", "muted position", `${count(walk.at + 1)} of ${count(walk.cases.length)}`),
    stepButton("↑", "Previous case", -1),
    stepButton("↓", "Next case", 1),
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
    ["Against the baseline", changeText(one)],
  ]));
}

function trouble(error, outcome) {
  return el("div", "trouble " + outcome, el("b", "", `${error.stage}/${error.kind} `), error.message);
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

// ---- Opening and closing it

// The URL fragment names the open case, so that a link to it can be shared.
function keepAddress(hash) {
  try {
    history.replaceState(null, "", hash);
  } catch {
    // Not every place that shows a file has a history.
  }
}

function openCase(list, found, at) {
  Object.assign(walk, { list, cases: found, at });
  if (found === list.shown) list.moveTo(at);
  drawCase(found[at]);
  if (!dialog.open) dialog.showModal();
  keepAddress("#case-" + (found[at].index + 1));
}

function step(by) {
  const at = walk.at + by;
  if (!walk.cases[at]) return;
  const used = document.activeElement && document.activeElement.getAttribute("aria-label");
  openCase(walk.list, walk.cases, at);
  // The button that was used is a new one now, and may be at its end.
  const same = [...dialog.querySelectorAll("button")].find((node) => node.getAttribute("aria-label") === used);
  (same && !same.disabled ? same : dialog).focus();
}

function openFromAddress(list) {
  const found = /^#case-(\d+)$/.exec(location.hash);
  const at = found ? list.shown.findIndex((one) => one.index + 1 === Number(found[1])) : -1;
  if (at >= 0) openCase(list, list.shown, at);
}

function listenToCase() {
  dialog.addEventListener("click", (event) => {
    if (event.clientX < dialog.getBoundingClientRect().left) dialog.close();
  });
  dialog.addEventListener("close", () => {
    keepAddress("#");
    walk.list.grid.focus();
  });
}

