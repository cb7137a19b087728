// What the agent did to the files of its workspace.

const DIFF_TONES = { "+": "added", "-": "removed", "@": "hunk" };

function diffNode(diff) {
  const lines = diff.split("\n").map((line) => {
    const isName = line.startsWith("+++ ") || line.startsWith("--- ") || line.startsWith("diff ");
    return el("span", isName ? "name" : DIFF_TONES[line[0]] || "", line + "\n");
  });
  return having(el("pre", "diff", ...lines), { tabindex: "0", role: "region", "aria-label": "Diff" });
}

function keptNode({ path, enter }) {
  if (!path) return null;
  if (!enter) return el("p", "muted", "The workspace is kept in ", el("code", "", path));
  return el("p", "muted", "The workspace is kept. Enter it with: ", el("code", "", enter), " ", copyButton("Copy the command", () => enter));
}

function filesNode(details) {
  const { files } = details;
  if (!files) return null;
  const kinds = [["Created", files.created], ["Modified", files.modified], ["Deleted", files.deleted]];
  const lists = kinds.filter(([, paths]) => paths && paths.length).map(([kind, paths]) =>
    el("div", "paths", el("b", "", kind), el("ul", "", ...paths.map((path) => el("li", "", path)))));
  const title = el("div", "title", el("h3", "", "Files"), files.diff && copyButton("Copy diff", () => files.diff));
  const unchanged = !files.unknown && el("p", "muted", "No file was changed.");
  return el("section", "files", title,
    lists.length ? el("div", "path-lists", ...lists) : unchanged,
    files.diff && diffNode(files.diff),
    keptNode(files));
}
