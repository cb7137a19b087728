// Opens reports in a real browser and checks what the page promises.
// `check.mjs CHROMIUM FOLDER [IMAGES]`: FOLDER holds support, hostile and many, each with `out.html`;
// with IMAGES the pictures of the docs are drawn too.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [browserPath, folder, images] = process.argv.slice(2);
// Installed beside the reports, not beside this file.
const { chromium } = createRequire(join(folder, "package.json"))("playwright-core");

// The last four keep the browser itself from asking anybody anything.
const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--no-first-run",
  "--disable-quic", "--disable-background-networking", "--disable-component-update", "--disable-sync",
];
const browser = await chromium.launch({ executablePath: browserPath, args: FLAGS });

// A page that fails when anything goes wrong that a person would not see.
async function open(name, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: "light", ...options });
  const page = await context.newPage();
  const url = pathToFileURL(join(folder, name, "out.html")).href;
  page.faults = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) page.faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => page.faults.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    page.faults.push(`a dialog opened: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    if (request.url().split("#")[0] !== url) page.faults.push(`request: ${request.url()}`);
  });
  const start = Date.now();
  await page.goto(url);
  await page.waitForSelector(".row");
  page.opened = Date.now() - start;
  return page;
}

async function close(page) {
  assert.deepEqual(page.faults, []);
  await page.context().close();
}

const isOpen = (page) => page.evaluate(() => document.getElementById("case").open);
const shown = (page) => page.locator("#shown").textContent();
const cell = (page, row, column) => page.locator(`.row[data-at="${row}"] > :nth-child(${column})`).textContent();
const activeRow = (page) => page.locator(".row.active").getAttribute("data-at");
const title = (page) => page.locator("#case-title").textContent();

const tests = [];
const test = (name, run) => tests.push([name, run]);

test("it loads from disk without a message or a request", async () => {
  const page = await open("support");
  assert.equal(await page.locator("h1").textContent(), "support");
  assert.match(await page.locator("#rate").textContent(), /Pass rate\d+ %\d+ of 47 cases with a verdict; 95 % interval/);
  assert.match(await page.locator("#tiles").textContent(), /Costunknownat least \$/);
  assert.equal(await page.locator("#plots svg").count(), 3);
  assert.match(await shown(page), /^48 cases$/);
  await close(page);
});

test("it filters by outcome, target and text", async () => {
  const page = await open("support");
  const failed = page.locator(".chip.failed");
  const count = Number(await failed.locator("b").textContent());
  await failed.click();
  assert.equal(await shown(page), `${count} of 48 cases`);
  assert.equal(await failed.getAttribute("aria-pressed"), "true");
  assert.equal(await page.locator(".row .badge.failed").count(), count);
  await failed.click();
  await page.selectOption("#picks select", "small");
  assert.equal(await shown(page), "24 of 48 cases");
  await page.fill("#search", "ANGRY small");
  assert.equal(await shown(page), "2 of 48 cases");
  await page.fill("#search", "nothing has this");
  assert.equal(await page.locator(".row").count(), 0);
  await page.click("#reset");
  assert.equal(await shown(page), "48 cases");
  // A miss is found, not only what the table shows first.
  await page.fill("#search", "output contains 'warranty'");
  assert.match(await cell(page, 0, 2), /refund-after-deadline/);
  await close(page);
});

test("it sorts, and what is unknown comes last both ways", async () => {
  const page = await open("support");
  const costs = async () => {
    const last = Number((await shown(page)).split(" ")[0]) - 1;
    await page.locator("#grid").focus();
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
  const page = await open("support");
  await page.fill("#search", "gift-card-balance small");
  await page.locator(".row").first().click();
  assert.equal(await isOpen(page), true);
  assert.equal(await title(page), "gift-card-balance");
  const text = await page.locator("#case").textContent();
  for (const part of [
    "How much is left on my gift card 7731?", "giftcards.balance", "Thank you for your message.",
    "gate", "weight 2", "llm-judge", "Output contains", "evals/support/EVAL.yaml:102", "type: contains-all",
  ]) assert.ok(text.includes(part), `the case does not show: ${part}`);
  // The result stands with its call, and not a second time as a message.
  assert.equal(text.split('"balance": 23.5').length, 2);
  assert.ok((await page.locator(".check .check").count()) >= 2, "members of a composite are nested");
  await page.locator("details.call summary").click();
  assert.equal(await page.locator("details.call pre").first().isVisible(), true);
  await page.locator("#case button", { hasText: "Close" }).click();
  assert.equal(await isOpen(page), false);
  await close(page);
});

test("a case opens, changes and closes by keys", async () => {
  const page = await open("support");
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.id), "search");
  await page.keyboard.type("small");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "grid");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("j");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("k");
  assert.equal(await activeRow(page), "2");
  assert.equal(await page.locator("#grid").getAttribute("aria-activedescendant"), "row-2");
  const ring = await page.evaluate(() => getComputedStyle(document.getElementById("grid")).outlineStyle);
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
  assert.equal(await page.evaluate(() => document.getElementById("grid") === document.activeElement), false);
  await page.keyboard.press("Escape");
  assert.equal(await isOpen(page), false);
  assert.equal(await page.evaluate(() => document.activeElement.id), "grid");
  await page.keyboard.press("End");
  assert.equal(await activeRow(page), "23");
  await close(page);
});

test("the address of a case opens it", async () => {
  const page = await open("support");
  await page.locator(".row").nth(4).click();
  const [hash, name] = [await page.evaluate(() => location.hash), await title(page)];
  await page.goto("about:blank");
  page.faults.length = 0;
  await page.goto(pathToFileURL(join(folder, "support", "out.html")).href + hash);
  await page.waitForSelector("#case[open]");
  assert.equal(await title(page), name);
  await close(page);
});

// The ratio of WCAG 2 between the text of an element and what lies behind it.
function contrast(element) {
  const parse = (color) => (color.match(/[\d.]+/g) || []).map(Number);
  const shine = ([r, g, b]) => {
    const part = (v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  let behind = element;
  let ground;
  for (; behind; behind = behind.parentElement) {
    ground = parse(getComputedStyle(behind).backgroundColor);
    if (ground.length === 3 || ground[3] === 1) break;
  }
  const style = getComputedStyle(element);
  const ink = parse(element instanceof SVGElement ? style.fill : style.color);
  const [low, high] = [shine(ink), shine(ground)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

async function assertReadable(page) {
  const places = [
    "h1", "#subtitle", "#rate .value", "#rate .muted", ".tile .note", ".breakdown .passed b", ".breakdown .borderline b",
    ".breakdown .failed b", ".breakdown .errored b", ".head button", ".row .id", ".row .why", ".row .badge", ".plots text",
  ];
  for (const place of places) {
    const ratio = await page.locator(place).first().evaluate(contrast);
    assert.ok(ratio >= 4.5, `${place} has a contrast of ${ratio.toFixed(2)}`);
  }
  await page.locator(".row").first().click();
  for (const place of [".said pre", ".said .role", ".check .notes", ".check .score", ".place .where", ".place .code", ".reasoning"]) {
    const ratio = await page.locator("#case " + place).first().evaluate(contrast);
    assert.ok(ratio >= 4.5, `${place} has a contrast of ${ratio.toFixed(2)}`);
  }
  await page.keyboard.press("Escape");
}

test("light and dark are both readable, and the button changes them", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const page = await open("support", { colorScheme });
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
  const page = await open("hostile");
  const elements = () => page.evaluate(() => [...document.querySelectorAll("img, svg[onload], base, script:not([type]), style")].length);
  assert.equal(await elements(), 2, "one script and one style, ours");
  for (let n = 0; n < 5; n += 1) {
    await page.locator(".row").nth(n).click();
    for (const summary of await page.locator("#case details > summary").all()) await summary.click();
    await page.keyboard.press("Escape");
  }
  await page.fill("#search", "window.owned");
  await page.locator(".row").first().click();
  const text = await page.locator("#case .said pre").nth(1).textContent();
  assert.ok(text.includes("<script>window.owned = 1; alert(1)</script>") || text.includes("onerror="), text);
  assert.equal(await elements(), 2);
  assert.equal(await page.evaluate(() => window.owned), undefined);
  await close(page);
});

test("the policy stops a script that was put in all the same", async () => {
  const page = await open("hostile");
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
  const page = await open("many");
  const most = async () => {
    const rows = await page.locator(".row").count();
    assert.ok(rows < 80, `${rows} rows are in the page`);
  };
  assert.equal(await shown(page), "10,000 cases");
  await most();
  const timed = async (what, limit, act) => {
    const start = Date.now();
    await act();
    const took = Date.now() - start;
    console.log(`     ${what}: ${took} ms`);
    assert.ok(took < limit, `${what} took ${took} ms`);
  };
  console.log(`     opening: ${page.opened} ms`);
  assert.ok(page.opened < 15000);
  await timed("to the end by key", 3000, async () => {
    await page.locator("#grid").focus();
    await page.keyboard.press("End");
    await page.waitForSelector('.row[data-at="9999"].active');
  });
  await most();
  await timed("to the middle by scrolling", 3000, async () => {
    await page.locator("#grid").evaluate((grid) => { grid.scrollTop = 5000 * 40; });
    await page.waitForSelector('.row[data-at="5005"]');
  });
  await most();
  await timed("searching", 3000, async () => {
    await page.fill("#search", "case-07777");
    await page.waitForFunction(() => document.querySelectorAll(".row").length === 1);
  });
  await page.fill("#search", "");
  await timed("sorting", 3000, async () => {
    await page.locator("[role=columnheader] button", { hasText: "Time" }).click();
  });
  await timed("opening a case", 3000, async () => {
    await page.locator(".row").first().click();
    await page.waitForSelector("#case[open]");
  });
  const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
  assert.ok(nodes < 5000, `${nodes} elements`);
  await close(page);
});

test("a narrow place has no sideways scrolling", async () => {
  const page = await open("support", { viewport: { width: 400, height: 800 } });
  const overflow = () => page.evaluate(() => [document.documentElement, document.getElementById("grid"), document.getElementById("case")]
    .map((node) => node.scrollWidth - node.clientWidth).filter((more) => more > 1));
  assert.deepEqual(await overflow(), []);
  await page.locator(".row").first().click();
  assert.deepEqual(await overflow(), []);
  await close(page);
});

async function draw() {
  const page = await open("support");
  await page.screenshot({ path: join(images, "report.png") });
  await page.fill("#search", "gift-card-balance small");
  await page.locator(".row").first().click();
  await page.locator("details.call summary").click();
  await page.screenshot({ path: join(images, "report-case.png") });
  await close(page);
}

let failures = 0;
for (const [name, run] of tests) {
  try {
    await run();
    console.log(`ok   ${name}`);
  } catch (error) {
    failures += 1;
    console.log(`FAIL ${name}\n${error.stack}`);
  }
}
if (images) await draw();
await browser.close();
console.log(failures ? `${failures} of ${tests.length} failed` : `all ${tests.length} passed`);
process.exit(failures ? 1 : 0);
