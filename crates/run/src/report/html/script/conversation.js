// What was asked and said in a case, and which tools were called.

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
  const wanted = call.function || call;
  const input = [wanted.arguments, wanted.args, wanted.input].find(known);
  const name = known(wanted.name) ? wanted.name : call.tool;
  return { id: call.id, name: known(name) ? name : "tool", input: unpacked(input), output: call.output, ms: call.duration_ms };
}

const callsIn = (message) => (message && Array.isArray(message.tool_calls) ? message.tool_calls.map(callOf) : []);

function callNode(call) {
  const preview = known(call.input) ? JSON.stringify(call.input).slice(0, 160) : "";
  return el("details", "call",
    el("summary", "", el("b", "", call.name), el("span", "", preview)),
    known(call.input) && el("div", "part", "Arguments"),
    known(call.input) && el("pre", "", pretty(call.input)),
    known(call.output) && el("div", "part", known(call.ms) ? `Result, ${duration(call.ms)}` : "Result"),
    known(call.output) && el("pre", "", pretty(call.output)));
}

function saidNode(message, answered) {
  if (!message || typeof message !== "object") return el("div", "said", el("pre", "", pretty(message)));
  const calls = callsIn(message);
  for (const call of calls) if (known(call.id) && known(call.output)) answered.add(call.id);
  // The call shows its result already.
  if (message.role === "tool" && answered.has(message.tool_call_id)) return null;
  const text = contentText(message.content);
  const role = known(message.name) ? `${message.role} · ${message.name}` : message.role;
  const tone = ["user", "system"].includes(message.role) ? " " + message.role : "";
  return el("div", "said" + tone, el("div", "role", known(role) ? role : "message"),
    text !== "" && (message.role === "tool" ? el("pre", "", text) : textBlock(text)), ...calls.map(callNode));
}

const messagesOf = (details) => (details.conversation && Array.isArray(details.conversation.messages) ? details.conversation.messages : []);

// The answer is left out where the last message is the same text.
function answerOf(details) {
  const said = details.conversation;
  if (!said) return null;
  if (known(said.answer)) return said.answer;
  const last = messagesOf(details).at(-1);
  return last && typeof last === "object" ? contentText(last.content) : null;
}

// The way to the answer: nothing where the answer is all there is.
function conversationNode(details) {
  const messages = messagesOf(details);
  const calls = messages.flatMap(callsIn).length;
  if (messages.length < 2 && !calls) {
    const tools = details.tools && details.tools.length ? details.tools.join(", ") : null;
    return tools && el("section", "conversation", el("h3", "", "Tools called"), el("p", "muted", tools));
  }
  const answered = new Set();
  const title = [counted(messages.length, "message", "messages"), calls && counted(calls, "tool call", "tool calls")];
  return el("section", "conversation", el("h3", "", "Conversation ", el("span", "muted", title.filter(Boolean).join(", "))),
    ...messages.map((message) => saidNode(message, answered)));
}
