// Checks of the summary, the table of tests and the view of a test.
import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { assertContrast, browser, chip, close, folder, hashOf, isOpen, open, openTest, ROW, SEARCH, shown, test, title } from "./browser.mjs";

const cell = (page, row, column) => page.locator(`${ROW}[data-at="${row}"] > :nth-child(${column})`).textContent();
const activeRow = (page) => page.locator(ROW + ".active").getAttribute("data-at");
const texts = (page, place) => page.locator(place).allTextContents();
const header = (page, name) => page.locator("[role=columnheader]", { hasText: name });

test("it loads from disk without a message or a request", async () => {
  const page = await open("support/out.html");
  assert.equal(await page.locator("h1").textContent(), "support");
  assert.match(await page.locator("#subtitle").textContent(), /large, small.*assistant-large, assistant-small.*refunds @ 7c1e64a0b.*2026-01-02 03:04:05 UTC/);
  assert.match(await page.locator("#rate").textContent(), /Pass rate\d+ %\d+ of 119 cases with a verdict; 95 % CI \d+–\d+ %/);
  assert.match(await page.locator("#tiles").textContent(), /Cost\$\d+\.\d+of the targets/);
  assert.match(await shown(page), /^24 tests$/);
  assert.equal(await page.locator("#verdict").isVisible(), false);
  await close(page);
});

test("rows are tests, with a dot for every trial", async () => {
  const page = await open("support/out.html");
  await page.fill(SEARCH, "refund-after-deadline small");
  const row = page.locator(ROW);
  assert.equal(await row.count(), 1);
  assert.equal(await row.locator(".dots i").count(), 5);
  const passed = await row.locator(".dots .passed").count();
  assert.equal(await row.locator(".pips b").textContent(), `${passed}/5`);
  assert.equal(await row.locator(".pips").getAttribute("aria-label"), `${passed} of 5 passed`);
  assert.match(await cell(page, 0, 2), /I bought a kettle two months ago/, "the question is in the table");
  await close(page);
});

test("what needs a look comes first", async () => {
  const page = await open("support/out.html");
  await page.locator("#tests-grid").focus();
  const states = [];
  for (let at = 0; at < 24; at += 1) {
    states.push(await page.locator(`${ROW}[data-at="${at}"] .badge`).first().evaluate((node) => node.lastChild.textContent));
    await page.keyboard.press("ArrowDown");
  }
  const order = ["failed", "errored", "flaky", "borderline", "passed", "skipped"];
  assert.deepEqual(states, [...states].sort((a, b) => order.indexOf(a) - order.indexOf(b)));
  assert.ok(new Set(states).size >= 3, states.join(" "));
  await close(page);
});

test("flaky tests are counted, and the line leads to them", async () => {
  const page = await open("support/out.html");
  const flaky = Number(await chip(page, "flaky").locator("b").textContent());
  assert.ok(flaky > 0);
  assert.match(await page.locator(".flaky-line").textContent(), new RegExp(`${flaky} of 24 tests are flaky`));
  await page.locator(".flaky-line button").click();
  assert.equal(await shown(page), `${flaky} of 24 tests`);
  assert.equal(await chip(page, "flaky").getAttribute("aria-pressed"), "true");
  for (const label of await page.locator(`${ROW} .pips`).evaluateAll((list) => list.map((node) => node.getAttribute("aria-label")))) {
    const [passes, trials] = label.match(/\d+/g).map(Number);
    assert.ok(passes > 0 && passes < trials, label);
  }
  await close(page);
});

test("it filters by result, target, tag and text", async () => {
  const page = await open("support/out.html");
  const count = Number(await chip(page, "passed").locator("b").textContent());
  await chip(page, "passed").click();
  assert.equal(await shown(page), `${count} of 24 tests`);
  await chip(page, "passed").click();
  await page.selectOption("#tests-view select[aria-label=Target]", "small");
  assert.equal(await shown(page), "12 of 24 tests");
  await page.selectOption("#tests-view select[aria-label=Tag]", "safety");
  assert.equal(await shown(page), "2 of 24 tests");
  await page.fill(SEARCH, "nothing has this");
  assert.equal(await page.locator(ROW).count(), 0);
  await page.click("#tests-view .reset");
  assert.equal(await shown(page), "24 tests");
  // Search also finds questions and misses.
  await page.fill(SEARCH, "WORST shop");
  assert.equal(await shown(page), "2 of 24 tests");
  await page.fill(SEARCH, "output contains 'warranty'");
  assert.match(await cell(page, 0, 2), /refund-after-deadline/);
  await close(page);
});

test("the address keeps filters and order, and restores them", async () => {
  const page = await open("support/out.html");
  await chip(page, "flaky").click();
  await page.selectOption("#tests-view select[aria-label=Target]", "small");
  await page.fill(SEARCH, "refund");
  await header(page, "Cost").locator("button").click();
  const [hash, found, first] = [await hashOf(page), await shown(page), await cell(page, 0, 2)];
  assert.match(hash, /state=flaky/);
  await close(page);
  const again = await open("support/out.html", { hash });
  assert.equal(await shown(again), found);
  assert.equal(await cell(again, 0, 2), first);
  assert.equal(await again.locator(SEARCH).inputValue(), "refund");
  assert.equal(await header(again, "Cost").getAttribute("aria-sort"), "descending");
  assert.equal(await chip(again, "flaky").getAttribute("aria-pressed"), "true");
  await again.evaluate(() => { location.hash = "#view=breakdown"; });
  await again.waitForFunction(() => !document.getElementById("breakdown-view").hidden);
  await close(again);
});

test("it sorts, and what is unknown comes last both ways", async () => {
  const page = await open("hostile/out.html");
  const order = async () => {
    await header(page, "Score").locator("button").click();
    return [await header(page, "Score").getAttribute("aria-sort"), await texts(page, `${ROW} > .score`)];
  };
  const [first] = await order();
  const [second] = await order();
  assert.deepEqual(new Set([first, second]), new Set(["ascending", "descending"]));
  await close(page);
});

test("a test opens with the question, the answer and the line that failed", async () => {
  const page = await open("support/out.html");
  await openTest(page, "gift-card-balance small");
  assert.equal(await title(page), "gift-card-balance");
  const parts = ["How much is left on my gift card 7731?", "The customer knows what happens next", "Here is what I can tell you", "Output contains", "evals/support/EVAL.yaml:1", "type: contains-all", "giftcards.balance"];
  const text = await page.locator("#case").textContent();
  const places = parts.map((part) => text.indexOf(part));
  assert.ok(places.every((at) => at >= 0), `missing: ${parts.filter((_, at) => places[at] < 0)}`);
  assert.deepEqual(places.slice(0, 4), [...places.slice(0, 4)].sort((a, b) => a - b), "question, then answer, then what failed");
  assert.match(await page.locator(".case-head").textContent(), /Model.*assistant-small/);
  // The result is shown with its call, and not a second time as a message.
  assert.equal(text.split('"balance": 23.5').length, 2);
  const first = page.locator(".checks > .check").first();
  assert.match(await first.getAttribute("class"), /failed|borderline/);
  assert.equal(await first.locator(".place .code").first().isVisible(), true);
  await page.locator("details.call summary").first().click();
  assert.equal(await page.locator("details.call pre").first().isVisible(), true);
  await page.locator("#case button", { hasText: "Close" }).click();
  assert.equal(await isOpen(page), false);
  await close(page);
});

test("files of the workspace are listed, with their diff and the way to them", async () => {
  const page = await open("support/out.html");
  await openTest(page, "invoice-copy large");
  const files = page.locator("#case section.files");
  assert.deepEqual(await files.locator(".paths b").allTextContents(), ["Created", "Modified", "Deleted"]);
  assert.deepEqual(await files.locator(".paths li").allTextContents(), ["invoices/march.pdf.txt", "notes.md", "src/invoice.js", "tmp/draft.txt"]);
  assert.deepEqual(await files.locator("pre.diff .added").allTextContents(), ["+Sent again.\n", "+let sent = <b>true</b>\n"]);
  assert.deepEqual(await files.locator("pre.diff .removed").allTextContents(), ["-let sent = false\n"]);
  assert.equal(await files.locator("code").textContent(), "cd '/tmp/kept-evalrig-1/it'\\''s invoice-copy-1'");
  assert.equal(await files.locator("button[aria-label='Copy the command']").count(), 1);
  await close(page);
  const other = await open("support/out.html");
  await openTest(other, "order-status large");
  assert.equal(await other.locator("#case section.files").count(), 0, "a case without a workspace");
  await close(other);
});

test("without an agent the report does not say that no file was changed", async () => {
  const page = await open("hostile/out.html");
  await openTest(page, "not-set-up");
  assert.equal((await page.locator("#case section.files").textContent()).trim(), "Files");
  await close(page);
});

test("a judge's reasons are beside their items", async () => {
  const page = await open("support/out.html", { hash: "#miss=The+customer+knows+the+next+step" });
  await page.locator(ROW).first().click();
  const item = page.locator("#case .check li", { hasText: "The customer knows the next step" });
  for (let n = 0; n < 5 && !(await item.count()); n += 1) await page.keyboard.press("ArrowRight");
  assert.match(await item.locator(".reason").textContent(), /leaves the customer to find the next step alone|says what happens next/);
  assert.equal(await page.locator("#case .reasoning").count(), 0, "and not once more below");
  await close(page);
});

test("trials are chosen with buttons and keys", async () => {
  const page = await open("support/out.html");
  await openTest(page, "angry-customer small");
  const pressed = () => page.locator(".trial[aria-pressed=true]").getAttribute("aria-label");
  assert.equal(await page.locator(".trial").count(), 5);
  await page.locator(".trial").first().click();
  assert.match(await pressed(), /^Trial 1,/);
  await page.keyboard.press("ArrowRight");
  assert.match(await pressed(), /^Trial 2,/);
  assert.match(await hashOf(page), /trial=2/);
  await page.keyboard.press("ArrowLeft");
  assert.match(await pressed(), /^Trial 1,/);
  await close(page);
});

test("a test opens, changes and closes by keys", async () => {
  const page = await open("support/out.html");
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.type), "search");
  await page.keyboard.type("small");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "tests-grid");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("j");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("k");
  assert.equal(await activeRow(page), "2");
  assert.equal(await page.locator("#tests-grid").getAttribute("aria-activedescendant"), "tests-row-2");
  const ring = await page.evaluate(() => getComputedStyle(document.getElementById("tests-grid")).outlineStyle);
  assert.equal(ring, "solid", "focus is visible");
  await page.keyboard.press("Enter");
  assert.equal(await isOpen(page), true);
  const inside = () => page.evaluate(() => document.getElementById("case").contains(document.activeElement));
  assert.equal(await inside(), true);
  const before = await hashOf(page);
  await page.keyboard.press("j");
  assert.notEqual(await hashOf(page), before);
  assert.equal(await inside(), true);
  assert.equal(await activeRow(page), "3");
  for (let n = 0; n < 30; n += 1) await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.getElementById("tests-grid") === document.activeElement), false);
  await page.keyboard.press("Escape");
  assert.equal(await isOpen(page), false);
  await page.waitForFunction(() => document.activeElement.id === "tests-grid");
  await page.keyboard.press("End");
  assert.equal(await activeRow(page), "11");
  assert.equal(await page.locator(ROW + ".active").evaluate((node) => node.getBoundingClientRect().bottom <= innerHeight + 1), true);
  await close(page);
});

test("the views are tabs that keys reach", async () => {
  const page = await open("support/out.html");
  await page.locator("#tab-tests").focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.locator("#tab-breakdown").getAttribute("aria-selected"), "true");
  assert.equal(await page.locator("#tab-tests").getAttribute("aria-selected"), "false");
  assert.equal(await page.locator("#breakdown-view").isVisible(), true);
  assert.deepEqual(await texts(page, ".panel h2"), ["Top misses", "Mean score by assertion", "Pass rate by tag"]);
  assert.match(await page.locator(".panel", { hasText: "by tag" }).textContent(), /refund\d+ %/);
  assert.ok((await page.locator("#plots svg").count()) >= 2);
  // A line leads to its tests.
  const [miss, cases] = await page.locator(".panel").first().locator(".line").first().locator("span").allTextContents();
  await page.locator(".panel").first().locator(".line").first().click();
  assert.equal(await page.locator("#tests-view").isVisible(), true);
  assert.ok(Number(cases.split(" ")[0]) >= Number((await shown(page)).split(" ")[0]));
  assert.equal(await page.locator(".chip.facet").textContent(), `miss: ${miss}×`);
  await page.locator(".chip.facet").click();
  assert.equal(await shown(page), "24 tests");
  await page.click("#tab-breakdown");
  await page.locator(".panel", { hasText: "by assertion" }).locator(".line").first().click();
  assert.match(await shown(page), /^\d+ of 24 tests$/);
  await close(page);
});

test("the address of a test opens it", async () => {
  const page = await open("support/out.html");
  await page.locator(ROW).nth(4).click();
  await page.locator(".trial").nth(2).click();
  const [hash, name] = [await hashOf(page), await title(page)];
  await close(page);
  const again = await open("support/out.html", { hash });
  await again.waitForSelector("#case[open]");
  assert.equal(await title(again), name);
  assert.match(await again.locator(".trial[aria-pressed=true]").getAttribute("aria-label"), /^Trial 3,/);
  await close(again);
});

test("the foot says where the run came from", async () => {
  const page = await open("support/out.html");
  const text = await page.locator("#origin").textContent();
  for (const part of ["large: assistant-large, openai, 2.4.1", "refunds @ 7c1e64a0b5c2d9f8e3a1b4c6d7e8f9a0b1c2d3e4", "evalrig run evals --trials 5", "evalrig 0.9.0", "b31f0c77a9d2e458", "results.jsonl"]) {
    assert.ok(text.includes(part), `the foot does not say: ${part}`);
  }
  await close(page);
});

test("buttons copy what is seen", async () => {
  const page = await open("support/out.html");
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await openTest(page, "angry-customer small");
  await page.locator("#case .question button", { hasText: "Copy" }).click();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /This is the worst shop ever/);
  await page.locator("#case .answers button", { hasText: "Copy" }).click();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /Here is what I can tell you:\n\n/);
  await page.locator("#case button", { hasText: "Copied" }).first().waitFor();
  await close(page);
});

test("rates are rounded as everywhere else", async () => {
  const page = await open("support/out.html");
  const script = await page.evaluate(() => document.querySelector("script:not([type])").textContent);
  const [source] = /function percent\([^]*?\n}/.exec(script);
  const percent = new Function(`${source}; return percent;`)();
  // The cases of `percent` in crates/core/src/stats/rate.rs.
  assert.deepEqual([[155, 200], [1, 300], [299, 300], [0, 5], [5, 5], [1, 8], [0, 0]].map((pair) => percent(...pair)),
    ["78 %", "1 %", "99 %", "0 %", "100 %", "13 %", "–"]);
  await close(page);
});

async function assertReadable(page) {
  const places = [
    "h1", "#subtitle", "#rate .value", "#rate .muted", ".tile .note", ".breakdown .passed b", ".breakdown .borderline b",
    ".breakdown .failed b", ".breakdown .errored b", ".flaky-line button", ".head button", ".row .id", ".row .ask", ".row .why", ".row .badge", ".row .tag", "#origin dt",
  ];
  for (const place of places) await assertContrast(page, place);
  await page.locator(ROW).first().click();
  for (const place of [".said .markdown p", ".criteria", ".check .notes", ".check .score", ".place .where", ".place .code"]) await assertContrast(page, "#case " + place);
  await page.keyboard.press("Escape");
}

test("light and dark are both readable, and the button changes them", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const page = await open("support/out.html", { colorScheme });
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const first = await ground();
    await assertReadable(page);
    await page.click("#theme");
    assert.notEqual(await ground(), first);
    await assertReadable(page);
    await close(page);
  }
});

test("a narrow place has no sideways scrolling", async () => {
  const page = await open("support/out.html", { viewport: { width: 390, height: 800 } });
  const overflow = () => page.evaluate(() => [document.documentElement, document.getElementById("tests-grid"), document.getElementById("case")]
    .map((node) => node.scrollWidth - node.clientWidth).filter((more) => more > 1));
  assert.deepEqual(await overflow(), []);
  await page.locator(ROW).first().click();
  assert.deepEqual(await overflow(), []);
  await page.keyboard.press("Escape");
  await page.click("#tab-breakdown");
  assert.deepEqual(await overflow(), []);
  await close(page);
});

test("without scripts the page says so", async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(pathToFileURL(join(folder, "support/out.html")).href);
  assert.match(await page.locator("noscript").innerText(), /Allow scripts to see it/);
  await context.close();
});
