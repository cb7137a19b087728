// Opens `evalrig view` in a real browser while a run goes on.
// `check.mjs CHROMIUM FOLDER`: playwright-core is installed in FOLDER, and the project is made there.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [browserPath, folder] = process.argv.slice(2);
const { chromium } = createRequire(join(folder, "package.json"))("playwright-core");
const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--no-first-run",
  "--disable-quic", "--disable-background-networking", "--disable-component-update", "--disable-sync",
];
const PATIENCE = 60_000;

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
    console.log(`     ${id} is shown ${Date.now() - onDisk} ms after it is on disk`);
  }
  assert.equal(await run.ended, 0, run.said);
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
  assert.equal(label.suite, "live");
  assert.ok(tests.includes(label.test));
  assert.equal(label.label, "wrong");
  assert.match(label.answerHash, /^[0-9a-f]{16}$/);
  await page.locator('button[aria-pressed="true"]', { hasText: "Wrong" }).waitFor();
  await page.reload();
  await page.locator('#case[open] button[aria-pressed="true"]', { hasText: "Wrong" }).waitFor();
  console.log("ok   a label is set with the keyboard and stays");
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
  await listRuns(page, address);
  assert.deepEqual(faults, []);
  view.kill("SIGINT");
  assert.equal(await view.ended, 0);
  console.log("all passed");
} finally {
  await browser.close();
  for (const child of started) child.kill("SIGKILL");
}
