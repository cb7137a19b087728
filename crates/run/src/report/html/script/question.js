// What was asked, and what a good answer does.

function inputNode(message) {
  const text = contentText(message && message.content);
  const role = message && message.role;
  if (role === "system") return more("System prompt", el("div", "inner", textBlock(text)));
  return el("div", "said user", role !== "user" && el("div", "role", known(role) ? role : "message"), textBlock(text));
}

function expectedText(expected) {
  if (Array.isArray(expected) && expected.every((one) => one && known(one.content))) return expected.map((one) => contentText(one.content)).join("\n\n");
  return pretty(expected);
}

function questionText(details) {
  return (details.input || []).map((message) => contentText(message && message.content)).join("\n\n");
}

// Older rows do not have it; then the first messages of the conversation do.
function questionNode(details) {
  const input = details.input && details.input.length ? details.input : messagesOf(details).filter((one) => one && one.role === "user").slice(0, 1);
  const criteria = details.criteria && el("p", "criteria", el("b", "", "Criteria "), details.criteria);
  const expected = known(details.expected) && more("Expected answer", el("div", "inner", textBlock(expectedText(details.expected))));
  if (!input.length && !criteria && !expected) return null;
  const title = el("div", "title", el("h3", "", "Question"), input.length > 0 && copyButton("Copy the question", () => questionText({ input })));
  return el("section", "question", title, ...input.map(inputNode), criteria, expected);
}
