// The assertions of a case: what failed first, with its reasons and its line in the suite.

function toneOf(check) {
  if (check.outcome !== "graded") return check.outcome;
  if (check.gate === "missed") return "failed";
  if (!known(check.score)) return "skipped";
  // The usual thresholds of spec 8.1: rows do not have those of their suite, and this is a colour.
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

// How many readings a judge gave, and whether they differ.
function votesText(check) {
  const votes = check.details && check.details.votes;
  if (!votes || !known(votes.readings)) return null;
  const differ = votes.disagreement > 0 ? ", which differ" : "";
  return `${votes.measured} of ${votes.readings} votes${differ}`;
}

function checkNotes(check) {
  const parts = [
    check.type === check.name ? null : check.type,
    check.aggregator,
    check.weight === 0 ? "weight 0, not counted" : check.weight === 1 ? null : `weight ${check.weight}`,
    gateText(check),
    known(check.ms) ? duration(check.ms) : null,
    votesText(check),
  ].filter(Boolean);
  const node = el("div", "notes");
  parts.forEach((part, at) => put(node, [at > 0 && " · ", part]));
  return parts.length ? node : null;
}

function finding(text, outcome, reason) {
  const glyph = having(el("i", "", GLYPHS[outcome]), { role: "img", "aria-label": outcome === "passed" ? "hit" : "miss" });
  return el("li", outcome, glyph, el("span", "", text), reason && el("div", "reason", reason));
}

// Judges give a reason for each item; it is shown with its item.
function judgedItems(check) {
  const items = check.details && Array.isArray(check.details.items) ? check.details.items : null;
  if (!items || !items.every((item) => item && known(item.sentence) && known(item.holds))) return null;
  const sorted = [...items.filter((item) => !item.holds), ...items.filter((item) => item.holds)];
  return sorted.map((item) => finding(item.sentence, item.holds ? "passed" : "failed", item.reasoning));
}

function findings(check, members) {
  // What a member says is said there.
  const said = new Set(members.flatMap((member) => [...member.hits, ...member.misses]));
  const own = (list) => list.filter((sentence) => !said.has(sentence));
  return [...own(check.misses).map((text) => finding(text, "failed")), ...own(check.hits).map((text) => finding(text, "passed"))];
}

function place(source) {
  if (!source) return null;
  const code = known(source.code) && el("pre", "code", source.code.trim());
  return el("div", "place", el("div", "where", `${source.file}:${source.line}`), code);
}

function checkBody(check) {
  const members = check.members || [];
  const items = judgedItems(check);
  const list = items || findings(check, members);
  return [
    checkNotes(check),
    check.sentence && !list.length && !members.length && el("p", "demand", check.sentence),
    list.length > 0 && el("ul", "", ...list),
    check.error && el("div", "reasoning", `${check.error.stage}/${check.error.kind}: ${check.error.message}`),
    place(check.source),
    check.reasoning && !items && el("div", "reasoning", check.reasoning),
    known(check.details) && !items && more("Details", el("pre", "", pretty(check.details))),
    ...members.map(checkNode),
  ];
}

// One that passed is closed: it needs no look.
function checkNode(check) {
  const tone = toneOf(check);
  const result = check.outcome === "graded" ? orDash(check.score, score) : check.outcome;
  const title = [sign(GLYPHS[tone]), el("b", "", check.name), el("span", "score", result)];
  if (tone === "passed") return el("details", "check passed", el("summary", "title", ...title), ...checkBody(check));
  return el("div", "check " + tone, el("div", "title", ...title), ...checkBody(check));
}

function checksNode(details) {
  const rank = (check) => ["failed", "errored", "borderline", "skipped", "passed"].indexOf(toneOf(check));
  const list = [...details.checks].sort((a, b) => rank(a) - rank(b)).map(checkNode);
  if (!list.length) list.push(el("p", "muted", "Nothing was graded."));
  return el("section", "checks", el("div", "title", el("h3", "", "Assertions")), ...list);
}
