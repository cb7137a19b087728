// What people say of answers: right or wrong, with a note. Only a page from a server can keep it.

const labelPlace = setting("labels");
const stored = byId("labels") ? read("labels") : [];

const labelsOf = (one, hash) => stored.filter((label) => label.answerHash === hash && label.test === one.test.id && label.suite === one.test.suite);
const isOwn = (label) => label.who === setting("author");

function keepLabel(label) {
  const at = stored.findIndex((other) => isOwn(other) && other.answerHash === label.answerHash && other.test === label.test && other.suite === label.suite);
  if (at >= 0) stored.splice(at, 1);
  if (label.label) stored.push(label);
}

async function sendLabel(one, hash, mark, note) {
  const answer = await fetch(labelPlace, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Evalrig-Token": setting("token") },
    body: JSON.stringify({ suite: one.test.suite, test: one.test.id, answerHash: hash, label: mark, note }),
  });
  if (!answer.ok) throw new Error(await answer.text());
  keepLabel(await answer.json());
}

function othersNode(list) {
  const lines = list.map((label) => el("li", "", badge(label.label === "right" ? "passed" : "failed", label.label === "right" ? "✓" : "✗", `${label.label}, says ${label.who}`), label.note && el("span", "muted", label.note)));
  return lines.length ? el("ul", "others", ...lines) : null;
}

function labelNode(one, details) {
  const hash = details.answerHash;
  if (!labelPlace || !hash) return null;
  const said = labelsOf(one, hash);
  const own = said.find(isOwn);
  const note = having(el("input"), { "aria-label": "Note on the label", placeholder: "Why? (optional)", maxlength: 2000 });
  note.value = own ? own.note || "" : "";
  const status = having(el("span", "muted"), { role: "status" });
  const marks = {};
  const show = () => {
    const now = labelsOf(one, hash).find(isOwn);
    for (const [mark, node] of Object.entries(marks)) node.setAttribute("aria-pressed", Boolean(now && now.label === mark));
  };
  const send = async (mark) => {
    status.textContent = "Saving…";
    try {
      await sendLabel(one, hash, mark, note.value.trim());
      status.textContent = mark ? "Saved" : "Removed";
    } catch (error) {
      status.textContent = seen(`Not saved: ${error.message}`);
    }
    show();
  };
  const chosen = () => Object.keys(marks).find((mark) => marks[mark].getAttribute("aria-pressed") === "true");
  for (const [mark, word, tone] of [["right", "Right", "passed"], ["wrong", "Wrong", "failed"]]) {
    marks[mark] = button("plain label " + tone, () => send(chosen() === mark ? null : mark), word);
  }
  note.addEventListener("change", () => { if (chosen()) send(chosen()); });
  show();
  const group = having(el("div", "labels", el("span", "muted", "Is this answer right?"), marks.right, marks.wrong, note, status), { role: "group", "aria-label": "Label of this answer" });
  return el("div", "", group, othersNode(said.filter((label) => !isOwn(label))));
}
