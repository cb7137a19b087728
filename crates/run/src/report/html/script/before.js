// A case beside the same case of the baseline: answers, costs and tool calls.

function answerPair(one, before, answer) {
  const diff = wordDiff(before.answer, answer);
  const side = (name, outcome, nodes) => el("div", "said side", el("div", "role", name, outcome && badge(outcome, GLYPHS[outcome], outcome)), el("pre", "raw diff", ...nodes));
  if (diff.isSame) return el("div", "said answer", el("div", "role", "The same answer as before"), textBlock(answer));
  return el("div", "beside", side("Before", before.outcome, diff.before), side("Now", one.outcome, diff.now));
}

// ---- Numbers

function deltaRow(name, before, now, write) {
  if (!known(before) && !known(now)) return null;
  const change = known(before) && known(now) ? growth(before, now) || "same" : "";
  return el("tr", "", having(el("th", "", name), { scope: "row" }), el("td", "", orDash(before, write)), el("td", "", orDash(now, write)), el("td", "muted", change));
}

function deltas(one, before) {
  const rows = [
    deltaRow("Score", before.score, one.score, score),
    deltaRow("Cost", before.cost, one.cost, money),
    deltaRow("Tokens", before.tokens, one.tokens, count),
    deltaRow("Time", before.ms, one.ms, duration),
  ].filter(Boolean);
  const head = el("tr", "", ...["", "Before", "Now", "Change"].map((name) => (name ? having(el("th", "", name), { scope: "col" }) : el("td"))));
  return rows.length ? el("table", "deltas", el("thead", "", head), el("tbody", "", ...rows)) : null;
}

// ---- Tool calls

const CUT = /… \[[\d,]+ more characters? (?:is|are) in the results file\]$/;
const packed = (value) => (known(value) ? (typeof value === "string" ? value : JSON.stringify(value)) : null);

// `[name, arguments]`; null where calls are not known.
function callsNow(details) {
  const messages = messagesOf(details);
  if (messages.length) return messages.flatMap(callsIn).map((call) => [call.name, packed(call.input)]);
  return details.tools ? details.tools.map((name) => [name]) : null;
}

function sameCall(a, b) {
  if (!a || !b || a[0] !== b[0]) return false;
  if (!known(a[1]) || !known(b[1])) return true;
  const [x, y] = [a[1], b[1]].map((text) => packed(unpacked(text)));
  const cut = [x, y].find((text) => CUT.test(text));
  if (!cut) return x === y;
  const start = cut.replace(CUT, "");
  return x.startsWith(start) && y.startsWith(start);
}

function callCell(call) {
  if (!call) return el("td", "muted", "–");
  return el("td", "", el("b", "", call[0]), known(call[1]) && el("span", "arguments", call[1]));
}

function trajectories(before, now) {
  if (!before || !now || (!before.length && !now.length)) return null;
  const length = Math.max(before.length, now.length);
  const steps = Array.from({ length }, (_, at) => [before[at], now[at]]);
  const first = steps.findIndex(([a, b]) => !sameCall(a, b));
  const rows = steps.map(([a, b], at) => {
    const row = el("tr", at === first ? "diverges" : "", having(el("th", "", String(at + 1)), { scope: "row" }), callCell(a), callCell(b));
    if (at === first) row.firstChild.append(el("span", "mark", "first difference"));
    return row;
  });
  const head = el("tr", "", ...["Call", "Before", "Now"].map((name) => having(el("th", "", name), { scope: "col" })));
  const words = first < 0 ? "the same calls" : `they differ from call ${first + 1} on`;
  return el("section", "trajectories", el("h3", "", "Tool calls ", el("span", "muted", words)),
    el("table", "steps", el("thead", "", head), el("tbody", "", ...rows)));
}

function changeNode(one, details) {
  const before = earlierOf(one);
  if (!before) return null;
  const table = deltas(one, before);
  return el("div", "changes", table && el("section", "", el("h3", "", "Against the baseline"), table), trajectories(before.calls, callsNow(details)));
}
