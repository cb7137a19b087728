// A text of a person or an agent: formatted as Markdown, or as it was written.

let isRaw = false;

try {
  isRaw = localStorage.getItem("evalrig-raw") === "yes";
} catch {
  // Some browsers keep nothing for pages from disk.
}

function textBlock(text) {
  return isRaw ? el("pre", "raw", text) : markdown(text);
}

// Switches every text of the open case.
function rawButton(redraw) {
  const node = button("copy", () => {
    isRaw = !isRaw;
    try {
      localStorage.setItem("evalrig-raw", isRaw ? "yes" : "no");
    } catch {
      // As above.
    }
    redraw();
  }, "Raw");
  return having(node, { "aria-pressed": isRaw, title: "Show the text as it was written" });
}
