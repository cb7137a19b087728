// Checks of the summary, the table of cases and the view of a case.
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { assertContrast, assertFew, close, elements, folder, isOpen, open, test, timed, title } from "./browser.mjs";

const ROW = "#cases-grid .row";
const SEARCH = "#cases-view input[type=search]";

const shown = (page) => page.locator("#cases-view .shown").textContent();
const cell = (page, row, column) => page.locator(`${ROW}[data-at="${row}"] > :nth-child(${column})`).textContent();
const activeRow = (page) => page.locator(ROW + ".active").getAttribute("data-at");

test("it loads from disk without a message or a request", async () => {
  const page = await open("support/out.html");
  assert.equal(await page.locator("h1").textContent(), "support");
  assert.match(await page.locator("#rate").textContent(), /Pass rate\d+ %\d+ of 47 cases with a verdict; 95 % CI \d+–\d+ %/);
  assert.match(await page.locator("#tiles").textContent(), /Cost\$\d+\.\d+of the targets/);
  assert.equal(await page.locator("#plots svg").count(), 3);
  assert.match(await shown(page), /^48 cases$/);
  await close(page);
});

test("it filters by outcome, target and text", async () => {
  const page = await open("support/out.html");
  const failed = page.locator("#cases-view .chip.failed");
  const count = Number(await failed.locator("b").textContent());
  await failed.click();
  assert.equal(await shown(page), `${count} of 48 cases`);
  assert.equal(await failed.getAttribute("aria-pressed"), "true");
  assert.equal(await page.locator(ROW + " .badge.failed").count(), count);
  await failed.click();
  await page.selectOption("#cases-view .picks select", "small");
  assert.equal(await shown(page), "24 of 48 cases");
  await page.fill(SEARCH, "ANGRY small");
  assert.equal(await shown(page), "2 of 48 cases");
  await page.fill(SEARCH, "nothing has this");
  assert.equal(await page.locator(ROW).count(), 0);
  await page.click("#cases-view .reset");
  assert.equal(await shown(page), "48 cases");
  // Search also finds misses, not only the visible columns.
  await page.fill(SEARCH, "output contains 'warranty'");
  assert.match(await cell(page, 0, 2), /refund-after-deadline/);
  await close(page);
});

test("it sorts, and what is unknown comes last both ways", async () => {
  const page = await open("support/out.html");
  const costs = async () => {
    const last = Number((await shown(page)).split(" ")[0]) - 1;
    await page.locator("#cases-grid").focus();
    await page.keyboard.press("End");
    const end = await cell(page, last, 6);
    await page.keyboard.press("Home");
    return [await cell(page, 0, 6), await cell(page, 1, 6), end];
  };
  const header = page.locator("[role=columnheader]", { hasText: "Cost" });
  await header.locator("button").click();
  const first = await header.getAttribute("aria-sort");
  const [a, b, unknown] = await costs();
  await header.locator("button").click();
  const second = await header.getAttribute("aria-sort");
  const [c, d, still] = await costs();
  assert.deepEqual(new Set([first, second]), new Set(["ascending", "descending"]));
  assert.deepEqual([unknown, still], ["–", "–"]);
  const ascends = (x, y) => Number(x.slice(1)) <= Number(y.slice(1));
  assert.equal(ascends(a, b), first === "ascending");
  assert.equal(ascends(d, c), second === "descending");
  await close(page);
});

test("a case opens by mouse and shows all of it", async () => {
  const page = await open("support/out.html");
  await page.fill(SEARCH, "gift-card-balance small");
  await page.locator(ROW).first().click();
  assert.equal(await isOpen(page), true);
  assert.equal(await title(page), "gift-card-balance");
  const text = await page.locator("#case").textContent();
  for (const part of [
    "How much is left on my gift card 7731?", "giftcards.balance", "Thank you for your message.",
    "gate", "weight 2", "llm-judge", "Output contains", "evals/support/EVAL.yaml:102", "type: contains-all",
  ]) assert.ok(text.includes(part), `the case does not show: ${part}`);
  // The result is shown with its call, and not a second time as a message.
  assert.equal(text.split('"balance": 23.5').length, 2);
  assert.ok((await page.locator(".check .check").count()) >= 2, "members of a composite are nested");
  await page.locator("details.call summary").click();
  assert.equal(await page.locator("details.call pre").first().isVisible(), true);
  await page.locator("#case button", { hasText: "Close" }).click();
  assert.equal(await isOpen(page), false);
  await close(page);
});

test("a case opens, changes and closes by keys", async () => {
  const page = await open("support/out.html");
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.type), "search");
  await page.keyboard.type("small");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "cases-grid");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("j");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("k");
  assert.equal(await activeRow(page), "2");
  assert.equal(await page.locator("#cases-grid").getAttribute("aria-activedescendant"), "cases-row-2");
  const ring = await page.evaluate(() => getComputedStyle(document.getElementById("cases-grid")).outlineStyle);
  assert.equal(ring, "solid", "focus is visible");
  await page.keyboard.press("Enter");
  assert.equal(await isOpen(page), true);
  const inside = () => page.evaluate(() => document.getElementById("case").contains(document.activeElement));
  assert.equal(await inside(), true);
  const before = await page.evaluate(() => location.hash);
  await page.keyboard.press("j");
  assert.notEqual(await page.evaluate(() => location.hash), before);
  assert.equal(await inside(), true);
  assert.equal(await activeRow(page), "3");
  for (let n = 0; n < 30; n += 1) await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.getElementById("cases-grid") === document.activeElement), false);
  await page.keyboard.press("Escape");
  assert.equal(await isOpen(page), false);
  assert.equal(await page.evaluate(() => document.activeElement.id), "cases-grid");
  await page.keyboard.press("End");
  assert.equal(await activeRow(page), "23");
  await close(page);
});

test("the address of a case opens it", async () => {
  const page = await open("support/out.html");
  await page.locator(ROW).nth(4).click();
  const [hash, name] = [await page.evaluate(() => location.hash), await title(page)];
  await page.goto("about:blank");
  page.faults.length = 0;
  await page.goto(pathToFileURL(join(folder, "support/out.html")).href + hash);
  await page.waitForSelector("#case[open]");
  assert.equal(await title(page), name);
  await close(page);
});

async function assertReadable(page) {
  const places = [
    "h1", "#subtitle", "#rate .value", "#rate .muted", ".tile .note", ".breakdown .passed b", ".breakdown .borderline b",
    ".breakdown .failed b", ".breakdown .errored b", ".head button", ".row .id", ".row .why", ".row .badge", ".plot text",
  ];
  for (const place of places) await assertContrast(page, place);
  await page.locator(ROW).first().click();
  for (const place of [".said pre", ".said .role", ".check .notes", ".check .score", ".place .where", ".place .code", ".reasoning"]) await assertContrast(page, "#case " + place);
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

test("answers that try to act are text", async () => {
  const page = await open("hostile/out.html");
  assert.equal(await elements(page), 2, "one script and one style, ours");
  for (let n = 0; n < 5; n += 1) {
    await page.locator(ROW).nth(n).click();
    for (const summary of await page.locator("#case details > summary").all()) await summary.click();
    await page.keyboard.press("Escape");
  }
  await page.fill(SEARCH, "window.owned");
  await page.locator(ROW).first().click();
  const text = await page.locator("#case .said pre").nth(1).textContent();
  assert.ok(text.includes("<script>window.owned = 1; alert(1)</script>") || text.includes("onerror="), text);
  assert.equal(await elements(page), 2);
  assert.equal(await page.evaluate(() => window.owned), undefined);
  await close(page);
});

test("the policy stops a script that was put in all the same", async () => {
  const page = await open("hostile/out.html");
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.owned = 1";
    document.body.append(script);
  });
  assert.equal(await page.evaluate(() => window.owned), undefined);
  assert.ok(page.faults.some((fault) => fault.includes("Content Security Policy")));
  await page.context().close();
});

test("ten thousand cases scroll, sort and search at once", async () => {
  const page = await open("many/out.html");
  const most = () => assertFew(page, ROW);
  assert.equal(await shown(page), "10,000 cases");
  await most();
  console.log(`     opening: ${page.opened} ms`);
  await timed("to the end by key", async () => {
    await page.locator("#cases-grid").focus();
    await page.keyboard.press("End");
    await page.waitForSelector('#cases-grid .row[data-at="9999"].active');
  });
  await most();
  await timed("to the middle by scrolling", async () => {
    await page.locator("#cases-grid").evaluate((grid) => { grid.scrollTop = 5000 * 40; });
    await page.waitForSelector('#cases-grid .row[data-at="5005"]');
  });
  await most();
  await timed("searching", async () => {
    await page.fill(SEARCH, "case-07777");
    await page.waitForFunction(() => document.querySelectorAll("#cases-grid .row").length === 1);
  });
  await page.fill(SEARCH, "");
  await timed("sorting", async () => {
    await page.locator("[role=columnheader] button", { hasText: "Time" }).click();
  });
  await timed("opening a case", async () => {
    await page.locator(ROW).first().click();
    await page.waitForSelector("#case[open]");
  });
  const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
  assert.ok(nodes < 5000, `${nodes} elements`);
  await close(page);
});

test("a narrow place has no sideways scrolling", async () => {
  const page = await open("support/out.html", { viewport: { width: 400, height: 800 } });
  const overflow = () => page.evaluate(() => [document.documentElement, document.getElementById("cases-grid"), document.getElementById("case")]
    .map((node) => node.scrollWidth - node.clientWidth).filter((more) => more > 1));
  assert.deepEqual(await overflow(), []);
  await page.locator(ROW).first().click();
  assert.deepEqual(await overflow(), []);
  await close(page);
});
