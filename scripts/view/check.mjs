// Opens `evalrig view` in a real browser while a run goes on.
// `check.mjs CHROMIUM FOLDER`: playwright-core is installed in FOLDER, and the project is made there.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [browserPath, folder] = process.argv.slice(2);
const { chromium } = createRequire(join(folder, "package.json"))("playwright-core");
const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--no-first-run",
  "--disable-quic", "--disable-background-networking", "--disable-component-update", "--disable-sync",
];
const PATIENCE = 60_000;
const axe = readFileSync(join(folder, "node_modules/axe-core/axe.min.js"), "utf8");

// In light and dark, as the system asks for it.
async function assertAccessible(page, what) {
  for (const colorScheme of ["dark", "light"]) {
    await page.emulateMedia({ colorScheme });
    await assertNoFault(page, `${what}, ${colorScheme}`);
  }
}

async function assertNoFault(page, what) {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, { resultTypes: ["violations"] });
    return violations.filter((one) => ["serious", "critical"].includes(one.impact))
      .map((one) => `${one.id}: ${one.nodes.map((node) => node.target.join(" ")).slice(0, 3).join(", ")}`);
  });
  assert.deepEqual(found, [], what);
}

// A test answers once its file is there, with an answer that must stay a text.
const project = join(folder, "project");
mkdirSync(join(project, ".git"), { recursive: true });
mkdirSync(join(project, ".evalrig"));
const tests = ["first", "second", "third"];
writeFileSync(join(project, "EVAL.yaml"), `name: live
tests:
${tests.map((id) => `  - {id: ${id}, criteria: Greets, input: Hi, assert: [{type: contains, value: Hello}]}`).join("\n")}
`);
writeFileSync(join(project, "answer.sh"), `while [ ! -e "go-$EVALRIG_TEST_ID" ]; do sleep 0.02; done
echo 'Hello <img src=x onerror="document.title=1"><script>document.title=1</script>'
`);
writeFileSync(join(project, ".evalrig/targets.yaml"), "targets: [{name: default, provider: cli, command: [sh, answer.sh]}]\n");
const go = (id) => writeFileSync(join(project, `go-${id}`), "");

const started = [];
function start(...args) {
  const child = spawn(process.env.EVALRIG, args, { cwd: project, stdio: ["ignore", "pipe", "pipe"] });
  started.push(child);
  child.said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => { child.said += bytes; });
  child.ended = new Promise((resolve) => child.on("exit", resolve));
  return child;
}

async function until(what, find) {
  const begun = Date.now();
  for (;;) {
    const found = find();
    if (found) return found;
    assert.ok(Date.now() - begun < PATIENCE, `waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

// Whether the row of a test is on disk.
const results = join(project, ".evalrig/results");
const isWritten = (id) => readdirSync(results).filter((name) => /^live-.*\.jsonl$/.test(name))
  .some((name) => readFileSync(join(results, name), "utf8").split("\n").slice(0, -1).some((line) => line.includes(`"evalId":"${id}"`)));

async function newPage(browser, faults) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(PATIENCE);
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("request", (request) => {
    if (!request.url().startsWith("http://127.0.0.1:")) faults.push(`request: ${request.url()}`);
  });
  return page;
}

const visible = (page, id) => page.locator("main").getByText(id, { exact: true }).first();

async function watchRun(page, address) {
  const run = start("run", "--no-record", "--quiet");
  await page.goto(address.replace("/?", "/next?"));
  assert.match(new URL(page.url()).pathname, /^\/runs\/.+\/$/);
  assert.equal(new URL(page.url()).search, "", "the token stays in the address");
  for (const id of tests) {
    assert.equal(await visible(page, id).count(), 0, `${id} is there too early`);
    go(id);
    await until(`the row of ${id}`, () => isWritten(id));
    const onDisk = Date.now();
    await visible(page, id).waitFor();
    const took = Date.now() - onDisk;
    console.log(`     ${id} is shown ${took} ms after it is on disk (limit 500 ms)`);
    if (process.env.EVALRIG_TIMES === "check") assert.ok(took < 500, `${id} took ${took} ms`);
    await page.locator("#live", { hasText: `${tests.indexOf(id) + 1} of 3 cases` }).waitFor();
    // While the run goes on: after the last row it may end at any moment.
    if (id === tests[1]) await assertAccessible(page, "a live run");
  }
  assert.equal(await run.ended, 0, run.said);
  await page.locator("#live").waitFor({ state: "hidden" });
  assert.equal(await page.locator("#rate .value").textContent(), "100 %");
  console.log("ok   rows appear while the run goes on");
}

// From the list to the answer, without a mouse.
async function labelWithKeyboard(page) {
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.locator("#case[open]").waitFor();
  const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim());
  for (let steps = 0; (await focused()) !== "Wrong"; steps += 1) {
    assert.ok(steps < 80, "the label cannot be reached with the keyboard");
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Space");
  const line = await until("the label", () => {
    try {
      return readFileSync(join(project, ".evalrig/labels.jsonl"), "utf8").split("\n")[0];
    } catch {
      return "";
    }
  });
  const label = JSON.parse(line);
  assert.equal(label.schemaVersion, 1);
  assert.equal(label.dataset, "live");
  assert.ok(tests.includes(label.evalId));
  assert.equal(label.label, "fail");
  assert.match(label.answerHash, /^[0-9a-f]{16}$/);
  await page.locator('button[aria-pressed="true"]', { hasText: "Wrong" }).waitFor();
  await page.reload();
  await page.locator('#case[open] button[aria-pressed="true"]', { hasText: "Wrong" }).waitFor();
  console.log("ok   a label is set with the keyboard and stays");
}

const labelLines = () => readFileSync(join(project, ".evalrig/labels.jsonl"), "utf8").trim().split("\n").map((line) => JSON.parse(line));

// A note, the label of someone else, and taking one's own back.
async function talkAboutLabels(page) {
  const note = page.locator("#case .labels input");
  await note.fill("Says <b>nothing</b>");
  await note.press("Tab");
  await until("the note", () => labelLines().at(-1).note === "Says <b>nothing</b>");
  await page.getByText("Saved", { exact: true }).waitFor();
  const other = { ...labelLines().at(-1), by: "Bob", label: "pass", note: "Fine <img src=x>" };
  writeFileSync(join(project, ".evalrig/labels.jsonl"), labelLines().concat(other).map((line) => JSON.stringify(line)).join("\n") + "\n");
  await page.reload();
  await page.locator("#case .others", { hasText: "right, says BobFine <img src=x>" }).waitFor();
  assert.equal(await note.inputValue(), "Says <b>nothing</b>");
  await assertAccessible(page, "labels");
  await page.locator('#case button[aria-pressed="true"]', { hasText: "Wrong" }).click();
  await until("the withdrawal", () => labelLines().at(-1).label === null);
  await page.reload();
  await page.locator("#case .labels").waitFor();
  assert.equal(await page.locator('#case .labels button[aria-pressed="true"]').count(), 0);
  await assertInert(page);
  console.log("ok   labels have notes, and those of others stay");
}

// Answers of a served page are as inert as those in a file.
async function assertInert(page) {
  const found = await page.evaluate(() => document.querySelectorAll("img, iframe, script:not([type]), [onerror]").length);
  assert.equal(found, 1, "only our script");
  assert.notEqual(await page.title(), "1", "an answer ran a script");
}

// The same page with a baseline.
async function compareRuns(page, address) {
  const again = start("run", "--no-record", "--quiet");
  assert.equal(await again.ended, 0, again.said);
  await page.goto(new URL("/", address).href);
  assert.equal(await page.locator("tbody tr").count(), 2);
  await assertAccessible(page, "the list of runs");
  const ids = await page.locator('a[href^="/runs/"]').evaluateAll((links) => [...new Set(links.map((link) => link.getAttribute("href").split("/")[2]))]);
  await page.goto(new URL(`/compare?base=${ids[1]}&candidate=${ids[0]}`, address).href);
  await page.locator(".verdict").waitFor();
  await visible(page, "first").click();
  await page.locator("#case[open]", { hasText: "The same answer as before" }).waitFor();
  await page.locator("#case .labels button", { hasText: "Right" }).click();
  await until("the label", () => labelLines().at(-1).label === "pass");
  await assertAccessible(page, "a comparison");
  await assertInert(page);
  await page.keyboard.press("Escape");
  await page.locator(".home").click();
  await page.locator("tbody tr").first().waitFor();
  console.log("ok   two runs are compared, and labelled there too");
}

// Records of the run log: the list, one record, and one of its runs.
async function readRecords(page, address) {
  for (let run = 1; run <= 2; run += 1) {
    const recorded = start("run", "--record", "--quiet");
    assert.equal(await recorded.ended, 0, recorded.said);
  }
  await page.goto(new URL("/", address).href);
  await page.locator('a[href^="/records/"]').first().waitFor();
  await assertAccessible(page, "the list of runs with records");
  await page.locator('a[href^="/records/"]').first().click();
  assert.match(new URL(page.url()).pathname, /^\/records\/.+/);
  await assertAccessible(page, "a record");
  await page.locator('a[href*="?run=1"]').first().click();
  assert.equal(new URL(page.url()).search, "?run=1");
  await assertAccessible(page, "a run of a record");
  assert.equal(await page.evaluate(() => document.querySelectorAll("script, img").length), 0);
  console.log("ok   records of the run log are readable");
}

// `run --view` serves its own page.
async function watchOwnRun(browser, faults) {
  for (const id of tests) rmSync(join(project, `go-${id}`));
  const run = start("run", "--no-record", "--view", "--no-open");
  const address = await until("the address", () => (run.said.match(/http:\/\/\S+/) || [])[0]);
  const page = await newPage(browser, faults);
  await page.goto(address);
  go("first");
  await visible(page, "first").waitFor();
  // Without a terminal the server ends with the run.
  for (const id of tests) go(id);
  assert.equal(await run.ended, 0, run.said);
  await page.close();
  console.log("ok   run --view shows its own run");
}

async function listRuns(page, address) {
  await page.goto(new URL("/", address).href);
  assert.equal(await page.locator("tbody tr").count(), 1);
  await page.getByText("100 %").first().waitFor();
  assert.equal(await page.evaluate(() => document.querySelectorAll("script, img").length), 0);
  assert.notEqual(await page.title(), "1", "an answer ran a script");
  console.log("ok   the list of runs has it");
}

const browser = await chromium.launch({ executablePath: browserPath, args: FLAGS });
try {
  const faults = [];
  const view = start("view", "--no-open");
  const address = await until("the address", () => (view.said.match(/http:\/\/\S+/) || [])[0]);
  const page = await newPage(browser, faults);
  await watchRun(page, address);
  await labelWithKeyboard(page);
  await talkAboutLabels(page);
  await listRuns(page, address);
  await compareRuns(page, address);
  await readRecords(page, address);
  assert.deepEqual(faults, []);
  view.kill("SIGINT");
  assert.equal(await view.ended, 0);
  await watchOwnRun(browser, []);
  console.log("all passed");
} finally {
  await browser.close();
  for (const child of started) child.kill("SIGKILL");
}
