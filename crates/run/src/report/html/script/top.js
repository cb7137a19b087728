// The head of the page, and at its foot where the run came from.

const short = (time) => String(time).replace("T", " ").replace(/(:\d\d)(\.\d+)?Z$/, "$1 UTC");

function titleText() {
  const suites = run.suites.length > 3 && `${count(run.suites.length)} suites`;
  return suites || run.suites.join(", ") || "evalrig report";
}

function drawTop() {
  byId("title").textContent = seen(titleText());
  document.title = seen(`${titleText()}: ${run.headline}`);
  const targets = [...new Set(tests.map((one) => one.target))];
  const models = [...new Set((run.origin.agents || []).map((agent) => agent.model).filter(Boolean))];
  const parts = [
    targets.length > 3 ? `${targets.length} targets` : targets.join(", "),
    models.length <= 2 && models.join(", "),
    commitText((run.origin.git || [])[0], 9),
    run.span && short(run.span[1]),
  ];
  byId("subtitle").textContent = seen([...new Set(parts)].filter(Boolean).join("  ·  "));
  byId("notices").replaceChildren(...run.notes.map((note) => el("p", "notice", note)));
  byId("made").textContent = seen(`Page made by ${run.generator}`);
  drawOrigin();
}

function drawHome() {
  const home = setting("home");
  if (!home) return;
  const link = el("a", "home", "All runs");
  link.href = home;
  byId("home").append(link);
}

function commitText(git, digits) {
  if (!git) return null;
  const commit = digits ? git.commit.slice(0, digits) : git.commit;
  return [git.branch, commit].filter(Boolean).join(" @ ") + (git.dirty ? " (with changes)" : "");
}

function agentText({ target, provider, model, version }) {
  return `${target}: ${[model, provider, version].filter(Boolean).join(", ")}`;
}

// Provenance: enough to repeat the run and to find its rows.
function drawOrigin() {
  const { agents, git, commands, versions, plans, runs, workers } = run.origin;
  const lines = [
    ["Agents", (agents || []).map(agentText)],
    ["Commit", (git || []).map((one) => commitText(one))],
    ["Command", known(run.command) ? [run.command] : commands],
    ["Run by", (versions || []).map((version) => `evalrig ${version}`)],
    ["Plan", plans],
    ["Run", runs],
    ["Workers", (workers || []).map(([name, rows]) => `${name}: ${counted(rows, "case", "cases")}`)],
    ["Results", known(run.results) ? [run.results] : []],
  ];
  const list = el("dl", "origin");
  for (const [name, values] of lines) {
    if (!values || !values.length) continue;
    const value = el("dd", "", ...values.map((text) => el("div", "", el("code", "", text))));
    if (name === "Command") value.append(copyButton("Copy the command", () => values.join("\n")));
    list.append(el("div", "", el("dt", "", name), value));
  }
  byId("origin").replaceChildren(list);
}
