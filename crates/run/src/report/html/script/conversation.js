// What was said in a case, and which tools were called.

function blockText(block) {
  if (typeof block === "string") return block;
  if (!block || typeof block !== "object") return pretty(block);
  const value = known(block.value) ? block.value : block.text;
  if (!known(value)) return pretty(block);
  const kind = block.type && block.type !== "text" ? `[${block.type}] ` : "";
  return kind + pretty(value);
}

function contentText(content) {
  if (!known(content)) return "";
  return Array.isArray(content) ? content.map(blockText).join("\n\n") : blockText(content);
}

function callOf(value) {
  const call = value && typeof value === "object" ? value : { name: value };
  const asked = call.function || call;
  const input = [asked.arguments, asked.args, asked.input].find(known);
  return {
    id: call.id,
    name: known(asked.name) ? asked.name : call.tool,
    input: unpacked(input),
    output: call.output,
    ms: call.duration_ms,
  };
}

function callNode(call) {
  const preview = known(call.input) ? JSON.stringify(call.input).slice(0, 160) : "";
  return el("details", "call",
    el("summary", "", el("b", "", known(call.name) ? call.name : "tool"), el("span", "", preview)),
    known(call.input) && el("h4", "", "Arguments"),
    known(call.input) && scrolled(pretty(call.input)),
    known(call.output) && el("h4", "", known(call.ms) ? `Result, ${duration(call.ms)}` : "Result"),
    known(call.output) && scrolled(pretty(call.output)));
}

function saidNode(message, answered) {
  if (!message || typeof message !== "object") return el("div", "said", scrolled(pretty(message)));
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.map(callOf) : [];
  for (const call of calls) if (known(call.id) && known(call.output)) answered.add(call.id);
  // The call shows its result already.
  if (message.role === "tool" && answered.has(message.tool_call_id)) return null;
  const text = contentText(message.content);
  const role = known(message.name) ? `${message.role} · ${message.name}` : message.role;
  const tone = ["user", "system"].includes(message.role) ? " " + message.role : "";
  return el("div", "said" + tone, el("div", "role", known(role) ? role : "message"),
    text !== "" && scrolled(text), ...calls.map(callNode));
}

function conversationNode(details) {
  const said = details.conversation || {};
  const nodes = [];
  if (Array.isArray(said.messages) && said.messages.length) {
    const answered = new Set();
    nodes.push(...said.messages.map((message) => saidNode(message, answered)));
  } else if (known(said.answer)) {
    const empty = el("span", "muted", "The answer is empty.");
    nodes.push(el("div", "said", el("div", "role", "answer"), said.answer === "" ? empty : scrolled(said.answer)));
  } else {
    const isCut = run.isCut && !details.error;
    nodes.push(el("p", "muted", isCut ? "The answer is not in this page; see the note at its top." : "There is no answer."));
  }
  if (!said.messages && details.tools && details.tools.length) {
    nodes.push(el("p", "muted", `Tools called: ${details.tools.join(", ")}`));
  }
  return el("section", "", el("h3", "", said.messages ? "Conversation" : "Answer"), ...nodes);
}

