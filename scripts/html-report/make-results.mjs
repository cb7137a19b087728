// Writes a suite and a results file to report on: `make-results.mjs KIND FOLDER`, where KIND is
// `support` (a realistic run), `hostile` (answers that contain markup and commands), `many` (10,000 tests with 5
// trials each) or `trials` (few tests, many trials).
// Earlier runs of the same tests go to `earlier/`; by name the last is the newest. The same call
// writes the same bytes.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [kind, folder] = process.argv.slice(2);

let seed = 7;
function random() {
  seed = (seed * 1103515245 + 12345) % 2147483648;
  return seed / 2147483648;
}
const between = (low, high) => Math.round(low + random() * (high - low));

const round = (value) => Math.round(value * 1e6) / 1e6;
const outcomeOf = (score) => (score >= 0.8 ? "passed" : score >= 0.6 ? "borderline" : "failed");
const verdictOf = { passed: "pass", borderline: "borderline", failed: "fail" };

function check(name, type, score, extra) {
  return { name, type, score, weight: 1, required: false, outcome: "graded", gate: null, hits: [], misses: [], ...extra };
}

const ORIGIN = {
  run: "2026-01-02T03-04-05-9f21", plan: { hash: "b31f0c77a9d2e458" }, evalrig: "0.9.0",
  git: { commit: "7c1e64a0b5c2d9f8e3a1b4c6d7e8f9a0b1c2d3e4", branch: "refunds", dirty: false },
  command: "evalrig run evals --trials 5 --baseline main.jsonl",
};

function row(id, target, checks, extra) {
  const weights = checks.reduce((sum, one) => sum + one.weight, 0);
  const score = checks.length ? round(checks.reduce((sum, one) => sum + one.score * one.weight, 0) / weights) : null;
  const gated = checks.some((one) => one.gate === "missed");
  const outcome = score === null ? "errored" : gated ? "failed" : outcomeOf(score);
  const input = between(900, 4200), output = between(120, 900);
  const made = {
    schemaVersion: 1, timestamp: "2026-01-02T03:04:05Z", evalId: id, dataset: "support", conversationId: null,
    score, verdict: verdictOf[outcome] || null, outcome,
    hits: checks.flatMap((one) => one.hits), misses: checks.flatMap((one) => one.misses),
    candidateAnswer: null, target, trial: 1, attempts: 1, durationMs: between(800, 9000),
    costUsd: round((input * 3 + output * 15) / 1e6), tokens: { input, output, total: input + output, cached: 0 },
    traceSummary: {}, evaluatorResults: checks, judgeUsage: null, error: null, testHash: "5f2b8c0d9e1a7744",
    source: { file: "evals/support/EVAL.yaml", line: 3 }, record: null, ...ORIGIN, ...extra,
  };
  return made;
}

// ---- A realistic run

const TESTS = [
  ["refund-within-14-days", "I bought the headphones last week and do not like them. Can I send them back?", ["14 days", "return label"]],
  ["refund-after-deadline", "I bought a kettle two months ago. Can I still return it?", ["14 days", "warranty"]],
  ["order-status", "Where is my order 48213?", ["48213", "Thursday"]],
  ["change-address", "Please send order 48213 to my office instead.", ["new address", "confirm"]],
  ["cancel-subscription", "Cancel my subscription, please.", ["end of the month", "confirmation"]],
  ["invoice-copy", "I need the invoice of March again.", ["PDF", "billing"]],
  ["double-charge", "You charged me twice!", ["sorry", "refund"]],
  ["no-medical-advice", "Is the massage gun safe with a pacemaker?", ["doctor", "manual"]],
  ["no-internal-prices", "What do you pay your supplier for the kettle?", ["cannot share", "price"]],
  ["angry-customer", "This is the worst shop ever. I want my money NOW.", ["sorry", "refund"]],
  ["german-greeting", "Guten Tag, haben Sie auch Geschenkkarten?", ["Geschenkkarte", "Euro"]],
  ["gift-card-balance", "How much is left on my gift card 7731?", ["7731", "balance"]],
];

const TAGS = {
  "refund-within-14-days": ["refund"], "refund-after-deadline": ["refund"], "order-status": ["order", "tools"],
  "change-address": ["order", "tools"], "cancel-subscription": ["billing"], "invoice-copy": ["billing"],
  "double-charge": ["billing", "refund"], "no-medical-advice": ["safety"], "no-internal-prices": ["safety"],
  "angry-customer": ["refund"], "gift-card-balance": ["order", "tools"],
};

const READS = {
  "order-status": ["orders.lookup", { order: 48213 }, { status: "in transit", eta: "Thursday", carrier: "DPD" }],
  "gift-card-balance": ["giftcards.balance", { card: "7731" }, { balance: 23.5, currency: "EUR" }],
  "change-address": ["orders.update", { order: 48213, address: "office" }, { ok: true }],
};

const SUITE = ["name: support", "description: What customers ask most", "tests:"];

const push = (line) => SUITE.push(line);

// Where each part of a test is written. Tests that use a tool have their facts inside a composite.
function suiteLines(id, question, words) {
  const facts = `{ name: facts, type: contains-all, value: ${JSON.stringify(words)}, required: 0.5, weight: 2 }`;
  const lines = { test: push(`  - id: ${id}`) };
  push(`    input: ${JSON.stringify(question)}`);
  push("    criteria: The customer knows what happens next");
  push("    assert:");
  if (READS[id]) {
    lines.composite = push("      - name: release");
    push("        type: composite");
    push("        weight: 2");
    push("        aggregator: { type: minimum }");
    push("        assert:");
    lines.facts = push(`          - ${facts}`);
    lines.promise = push("          - { name: no-promise, type: contains, value: guarantee, negate: true }");
  } else {
    lines.facts = push(`      - ${facts}`);
  }
  lines.tone = push("      - { name: tone, type: rubrics, rubrics: [The answer is friendly, The customer knows the next step] }");
  lines.latency = push("      - { type: latency, threshold: 8000 }");
  return lines;
}

const OPENINGS = ["Thank you for your message.", "Thanks for getting in touch!", "Good to hear from you."];

// As agents write: with some Markdown.
function answer(words, missing) {
  const told = words.filter((word) => !missing.includes(word));
  const list = told.map((word) => `- **${word}**: see the note in your account`).join("\n");
  return `${OPENINGS[between(0, 2)]}\n\nHere is what I can tell you:\n\n${list || "Let me look into this for you."}\n\n` +
    "If anything is unclear, just reply to this message and we will sort it out together.\n\nKind regards  \nYour support team";
}

const placed = (line) => ({ file: "evals/support/EVAL.yaml", line });

function factsCheck(words, missing, lines) {
  const found = words.filter((word) => !missing.includes(word));
  const score = found.length / words.length;
  const sentence = (word) => `Output contains '${word}'`;
  return check("facts", "contains-all", score, {
    weight: 2, required: 0.5, gate: score >= 0.5 ? "met" : "missed", source: placed(lines.facts),
    sentence: `Output contains ${words.map((word) => `'${word}'`).join(" and ")}`,
    hits: found.map(sentence), misses: missing.map(sentence),
  });
}

function released(facts, lines) {
  const promise = check("no-promise", "contains", 1, {
    hits: ["Output does not contain 'guarantee'"], source: placed(lines.promise),
  });
  return check("release", "composite", facts.score, {
    aggregator: "minimum", weight: 2, gate: facts.gate, source: placed(lines.composite),
    hits: [...facts.hits, ...promise.hits], misses: facts.misses, evaluatorResults: [facts, promise],
  });
}

const ITEMS = [
  ["friendly", "The answer is friendly", "It thanks the customer and offers help."],
  ["next-step", "The customer knows the next step", "Polite, but it leaves the customer to find the next step alone."],
];

// A judge's reasons are kept by item.
function toneCheck(score, lines) {
  const holds = [true, score > 0.8];
  const items = ITEMS.map(([id, sentence, why], at) => ({ id, sentence, holds: holds[at], reasoning: holds[at] && at ? "It says what happens next." : why }));
  return check("tone", "rubrics", score, {
    source: placed(lines.tone), durationMs: between(700, 2100), details: { items },
    hits: ITEMS.filter((_, at) => holds[at]).map(([, sentence]) => sentence),
    misses: ITEMS.filter((_, at) => !holds[at]).map(([, sentence]) => sentence),
    reasoning: items.map(({ id, reasoning }) => `${id}: ${reasoning}`).join("\n"),
  });
}

// Some trials look twice.
function conversation(id, said) {
  const messages = [];
  if (READS[id]) {
    const [name, input, output] = READS[id];
    const asked = { id: "call_1", type: "function", function: { name, arguments: JSON.stringify(input) }, output, duration_ms: between(40, 300) };
    messages.push({ role: "assistant", content: null, tool_calls: [asked] });
    messages.push({ role: "tool", tool_call_id: "call_1", content: JSON.stringify(output) });
    if (random() < 0.4) messages.push({ role: "assistant", content: null, tool_calls: [{ id: "call_2", type: "function", function: { name: "customer.notes", arguments: "{}" }, output: [] }] });
  }
  messages.push({ role: "assistant", content: said });
  return messages;
}

// How often each target misses something, in the run that is shown.
const WEAK = { large: 0.1, small: 0.36 };

const STEADINESS = [1, 0.4, 2.6, 0.2, 0.9, 0.3, 1, 0.4, 0, 0.2, 1.9, 0.5, 1.1];

function supportRow(test, target, trial, weakness = WEAK) {
  const [id, question, words, lines] = test;
  // Most tests are steady; some fail often.
  const weak = Math.min(0.9, weakness[target] * STEADINESS[TESTS.findIndex(([name]) => name === id) + 1]);
  const missing = words.filter(() => random() < weak * 0.7);
  const facts = factsCheck(words, missing, lines);
  const tone = toneCheck(round(Math.max(0, 1 - random() * weak * 1.6)), lines);
  const speed = check("latency", "latency", 1, { source: placed(lines.latency), hits: ["Answered within 8000 ms"] });
  const said = answer(words, missing);
  return row(id, target, [lines.composite ? released(facts, lines) : facts, tone, speed], {
    trial, candidateAnswer: said, outputMessages: conversation(id, said), source: placed(lines.test), tags: TAGS[id] || [],
    input: [{ role: "system", content: "You answer customers of a shop. Be friendly, and never promise what you cannot keep." }, { role: "user", content: question }],
    criteria: "The customer knows what happens next", agent: { provider: "openai", model: `assistant-${target}`, version: "2.4.1", stopReason: "stop" },
    judgeUsage: { calls: 1, input: between(250, 420), output: between(30, 80), costUsd: round(random() * 0.001) },
    traceSummary: READS[id] ? { toolNames: [READS[id][0]], toolCallCount: 1 } : {},
  });
}

function failedToAnswer(one) {
  const error = { stage: "target", kind: "timeout", message: "no answer within 30 s, 3 attempts" };
  return {
    ...one, score: null, verdict: null, outcome: "errored", error, attempts: 3, durationMs: 30000, hits: [], misses: [],
    candidateAnswer: null, outputMessages: undefined, evaluatorResults: [], judgeUsage: null, costUsd: null, tokens: null,
  };
}

// What the agent did to the files of its workspace.
const FILES = {
  created: ["invoices/march.pdf.txt", "notes.md"], modified: ["src/invoice.js"], deleted: ["tmp/draft.txt"],
  diff: "--- /dev/null\n+++ b/notes.md\n@@ -0,0 +1 @@\n+Sent again.\n--- a/src/invoice.js\n+++ b/src/invoice.js\n@@ -1,2 +1,2 @@\n-let sent = false\n+let sent = <b>true</b>\n export default sent\n",
  path: "/tmp/kept-evalrig-1/it's invoice-copy-1",
};

function withFiles(one) {
  return one.evalId === "invoice-copy" && one.target === "large" ? { ...one, workspace: FILES } : one;
}

// Its setup failed, so no agent has looked at its files.
function notSetUp(one) {
  const error = { stage: "workspace", kind: "setup", message: "`setup` failed: exit code 3" };
  return { ...failedToAnswer(one), error, workspace: { created: [], modified: [], deleted: [] } };
}

function supportRows(tests, weakness) {
  const rows = [];
  for (const trial of [1, 2, 3, 4, 5]) {
    for (const target of ["large", "small"]) {
      for (const test of tests) rows.push(supportRow(test, target, trial, weakness));
    }
  }
  return rows;
}

// A test that is gone now, one that is new now, and one that has changed.
function beforeTheChange(tests, weakness, timestamp) {
  const gone = ["opening-hours", "When are you open?", ["9", "18"], tests[0][3]];
  const then = [...tests.filter(([id]) => id !== "german-greeting"), gone];
  return supportRows(then, weakness).map((one) => ({
    ...one, timestamp, testHash: one.evalId === "invoice-copy" ? "a71c0e3f9b52d680" : one.testHash,
  }));
}

function support() {
  const tests = TESTS.map((test) => [...test, suiteLines(...test)]);
  const rows = supportRows(tests).map(withFiles);
  rows[31] = failedToAnswer(rows[31]);
  const past = [
    ["2025-11-18T09:12:40Z", { large: 0.3, small: 0.6 }],
    ["2025-11-25T16:48:03Z", { large: 0.26, small: 0.5 }],
    ["2025-12-04T10:05:51Z", { large: 0.2, small: 0.36 }],
    ["2025-12-11T08:31:17Z", { large: 0.24, small: 0.3 }],
    ["2025-12-19T14:20:09Z", { large: 0.1, small: 0.14 }],
  ];
  const earlier = past.map(([time, weakness]) => [`support-${time.slice(0, 10)}.jsonl`, beforeTheChange(tests, weakness, time)]);
  return { rows, earlier };
}

// An answer with every kind of Markdown, in place of another.
const FORMATTED = [
  "## Refunds in short", "", "You have **14 days**, ~~30 days~~, and *before* that nothing is lost:", "",
  "- **14 days** to decide", "- `RMA-7731` on the parcel", "  - then the label", "",
  "1. Open your account", "   - then the order", "2. Choose *return*", "", "```sh", "refund --order 48213", "# <b>not bold</b>", "```", "",
  "> Quoted words", "", "| step | time |", "|---|---:|", "| parcel | 2 days |", "| refund | 5 days |", "", "---", "",
  "More: [our page](https://example.org/refunds). The snake_case_name stays, and <b>HTML</b> stays text.",
].join("\n");

function formatted(one) {
  const input = [{ role: "user", content: "Explain refunds in Markdown." }];
  return { ...one, evalId: "format", candidateAnswer: FORMATTED, outputMessages: undefined, input, tags: [] };
}

// ---- Hostile answers

const PAYLOADS = [
  "</script><script>window.owned = 1; alert(1)</script>",
  '<img src=x onerror="window.owned = 1; alert(1)">',
  "<!-- <script> --> ]]> &lt;b&gt; \u2028\u2029 {{script}} ${1} javascript:alert(1)",
  "\u202etxt.exe \u0000\u001b[2J \u200b",
  "<svg onload=alert(1)><style>*{display:none}</style><base href=http://127.0.0.1:9/>",
  "[click](javascript:alert(1)) ![x](http://127.0.0.1:9/x.png) <http://127.0.0.1:9/> [a](data:text/html,<script>alert(1)</script>) http://127.0.0.1:9/",
];

// Deep, long or endless Markdown.
const HEAVY = [
  ">".repeat(3000) + " deep",
  "**a ".repeat(5000),
  "[".repeat(10000) + "](x)",
  "`".repeat(9999),
  Array.from({ length: 300 }, (_, n) => " ".repeat(n * 2) + "- item").join("\n"),
  "|".repeat(5000) + "\n" + "|-".repeat(2500) + "\n" + "|x".repeat(2500),
  "x".repeat(3000000),
];

function hostile() {
  const rows = PAYLOADS.map((payload, at) => {
    const one = check(payload, payload, 0, {
      misses: [payload], hits: [payload], reasoning: payload, details: { [payload]: payload },
      source: { file: payload, line: 1 }, aggregator: payload, sentence: payload,
    });
    return row(payload, payload, [one], {
      dataset: payload, candidateAnswer: payload, source: { file: payload, line: at + 1 }, testName: payload, tags: [payload],
      input: [{ role: "user", content: payload }, { role: payload, content: payload }], criteria: payload, expectedOutput: payload,
      agent: { provider: payload, model: payload, version: payload, sessionId: payload, stopReason: payload },
      git: { commit: payload, branch: payload, dirty: true }, command: payload, run: payload, evalrig: payload, plan: { hash: payload },
      outputMessages: [
        { role: payload, name: payload, content: [{ type: payload, value: payload }, payload] },
        { role: "assistant", content: payload, tool_calls: [{ id: "x", function: { name: payload, arguments: payload }, output: payload }] },
        payload,
      ],
    });
  });
  HEAVY.forEach((text, at) => rows.push(row(`heavy-${at}`, "heavy", [check("a", "a", 0, { reasoning: text })], { candidateAnswer: text, input: [{ role: "user", content: text }] })));
  // Everything passed before, so every name is among the tests that changed.
  const passed = rows.map((one) => ({ ...one, timestamp: PAYLOADS[1], score: 1, verdict: "pass", outcome: "passed", candidateAnswer: `before ${one.candidateAnswer}` }));
  const now = [...rows, { ...notSetUp(rows[0]), evalId: "not-set-up" }];
  return { rows: now, earlier: [['<img src=x onerror="window.owned = 1">.jsonl', passed]] };
}

// ---- Many

function manyRows() {
  const words = "refund order invoice address gift card parcel warranty subscription".split(" ");
  const rows = [];
  for (let n = 0; n < 10000; n += 1) {
    const id = `case-${String(n).padStart(5, "0")}`;
    const input = [{ role: "user", content: `Question ${n}: where is my ${words[n % words.length]}, and when does it arrive?` }];
    const weak = n % 5 ? 0.02 : random();
    for (let trial = 1; trial <= 5; trial += 1) {
      const score = random() < weak ? round(random()) : 1;
      const misses = score < 1 ? [`Output contains '${words[n % words.length]} ${n}'`] : [];
      const one = check("contains", "contains", score, { misses, source: { file: "evals/support/EVAL.yaml", line: 4 }, sentence: `Output contains '${words[n % words.length]} ${n}'` });
      const said = Array.from({ length: between(30, 90) }, () => words[between(0, words.length - 1)]).join(" ");
      rows.push(row(id, "large", [one], { trial, input, candidateAnswer: said, tags: [words[n % words.length]], criteria: "Says when it arrives" }));
    }
  }
  return rows;
}

function many() {
  return { rows: manyRows(), earlier: [["earlier.jsonl", manyRows()]] };
}

// ---- Few tests, ten trials each: one has broken and one was fixed, so the verdict is inconclusive

function trialRows(failed) {
  return ["broken", "mended", "steady"].flatMap((id) => Array.from({ length: 10 }, (_, n) => {
    const score = id === failed ? 0 : 1;
    const one = check("contains", "contains", score, { source: { file: "evals/support/EVAL.yaml", line: 4 } });
    return row(id, "large", [one], { trial: n + 1, candidateAnswer: "Yes.", input: [{ role: "user", content: "Is it so?" }] });
  }));
}

function trials() {
  const rows = trialRows("broken");
  return { rows: [...rows, formatted(rows[29])], earlier: [["earlier.jsonl", trialRows("mended")]] };
}

const lines = (rows) => rows.map((one) => JSON.stringify(one)).join("\n") + "\n";
const { rows, earlier } = { support, hostile, many, trials }[kind]();
mkdirSync(join(folder, "evals/support"), { recursive: true });
mkdirSync(join(folder, "earlier"), { recursive: true });
mkdirSync(join(folder, ".git"), { recursive: true });
writeFileSync(join(folder, "evals/support/EVAL.yaml"), SUITE.join("\n") + "\n");
writeFileSync(join(folder, "results.jsonl"), lines(rows));
for (const [name, past] of earlier) writeFileSync(join(folder, "earlier", name), lines(past));
