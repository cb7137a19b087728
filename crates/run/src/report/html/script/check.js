// The assertions of a case, each with its reasons and its line in the suite.

function toneOf(check) {
  if (check.outcome !== "graded") return check.outcome;
  if (check.gate === "missed") return "failed";
  if (!known(check.score)) return "skipped";
  // The usual thresholds of spec 8.1: rows do not tell those of their suite, and this is a colour.
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

function checkNotes(check) {
  const parts = [
    check.weight === 0 ? "weight 0, not counted" : `weight ${check.weight}`,
    gateText(check),
    known(check.ms) ? duration(check.ms) : null,
  ].filter(Boolean);
  const node = el("div", "notes");
  parts.forEach((part, at) => put(node, [at > 0 && " · ", part]));
  return node;
}

function sentences(list, outcome) {
  return (list || []).map((sentence) => {
    const glyph = el("i", "", GLYPHS[outcome]);
    glyph.setAttribute("aria-label", outcome === "passed" ? "hit" : "miss");
    glyph.setAttribute("role", "img");
    return el("li", outcome, glyph, sentence);
  });
}

function place(source) {
  if (!source) return null;
  const where = el("div", "where", `${source.file}:${source.line}`);
  const code = known(source.code) && el("pre", "code", source.code.trim());
  return el("div", "place", where, code);
}

function checkNode(check) {
  const result = check.outcome === "graded" ? orDash(check.score, score) : check.outcome;
  const kind = [check.type === check.name ? null : check.type, check.aggregator].filter(Boolean).join(", ");
  const members = check.members || [];
  // What a member says is said there.
  const said = new Set(members.flatMap((member) => [...member.hits, ...member.misses]));
  const own = (list) => list.filter((sentence) => !said.has(sentence));
  return el("div", "check " + toneOf(check),
    el("div", "title", el("div", "", el("b", "", check.name), el("span", "kind", kind)), el("span", "score", result)),
    checkNotes(check),
    el("ul", "", ...sentences(own(check.misses), "failed"), ...sentences(own(check.hits), "passed")),
    check.error && el("div", "reasoning", `${check.error.stage}/${check.error.kind}: ${check.error.message}`),
    check.reasoning && el("div", "reasoning", check.reasoning),
    known(check.details) && more("Details", scrolled(pretty(check.details))),
    place(check.source),
    ...members.map(checkNode));
}

function checksNode(details) {
  const list = details.checks.map(checkNode);
  if (!list.length) list.push(el("p", "muted", "Nothing was graded."));
  return el("section", "checks", el("h3", "", "Assertions"), ...list);
}

