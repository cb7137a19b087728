// Arms side by side: how often each passes, what it uses, what it says against the baseline arm, and which
// skills are used in place of others.

const ARM_TONES = { better: "passed", equivalent: "passed", "not-worse": "passed", worse: "failed" };

function armTable(head, lines) {
  const top = el("tr", "", ...head.map((text) => having(el("th", "", text), { scope: "col" })));
  const box = el("div", "scrolled", el("table", "", el("thead", "", top), el("tbody", "", ...lines)));
  box.tabIndex = 0;
  return box;
}

function armLine(arm) {
  const name = having(el("th", "", el("span", "mono", arm.name)), { scope: "row" });
  const tone = arm.baseline ? "muted" : ARM_TONES[arm.verdict] || "borderline";
  const tests = el("td", "", arm.tests, arm.contracts && el("div", "note muted", arm.contracts));
  return el("tr", "", name, tests, el("td", "", arm.used || "–"), el("td", tone, arm.contrast || "baseline"));
}

function skillTable({ name, skills }) {
  const word = (skill) => skill === null ? "none" : skill;
  const lines = skills.rows.map((row) => el("tr", "",
    having(el("th", "", word(row.wanted)), { scope: "row" }),
    el("td", "", count(row.cases)),
    ...row.cells.map((cell) => el("td", cell.other ? "failed" : "", cell.text))));
  const head = ["Wanted", "Cases", ...skills.columns.map((skill) => `used ${word(skill)}`)];
  const notes = skills.lines.map((line) => el("li", "", line));
  return el("div", "", el("h3", "", "Skills in ", el("span", "mono", name)), armTable(head, lines), el("ul", "", ...notes));
}

function drawArms() {
  const node = byId("arms");
  node.hidden = !run.arms;
  if (!run.arms) return;
  const head = ["Arm", "Passed", "Used", "Against the baseline arm"];
  node.replaceChildren(el("h2", "", "Arms"), armTable(head, run.arms.map(armLine)),
    ...run.arms.filter((arm) => arm.skills).map(skillTable));
}
