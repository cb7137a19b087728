// Checks of a page with a baseline and a history.
import assert from "node:assert/strict";
import { assertContrast, assertFew, close, elements, isOpen, open, test, timed, title } from "./browser.mjs";

const ROW = "#tests-grid .row";
const SEARCH = "#comparison input[type=search]";

const shown = (page) => page.locator("#comparison .shown").textContent();
const cell = (page, row, column) => page.locator(`${ROW}[data-at="${row}"] > :nth-child(${column})`).textContent();
const focused = (page) => page.evaluate(() => document.activeElement.id);
const column = (page, name) => page.locator("#tests-grid [role=columnheader]", { hasText: name });
const chip = (page, word) => page.locator("#comparison .chip", { hasText: word });
const countOf = async (page, word) => Number(await chip(page, word).locator("b").textContent());

test("without a baseline the page has no comparison and no history", async () => {
  const page = await open("support/out.html");
  assert.equal(await page.locator("#comparison").isVisible(), false);
  assert.equal(await page.locator("#compared, #tests-grid, .plot .point").count(), 0);
  await close(page);
});

test("a baseline gives a verdict with its margin and its doubt", async () => {
  const page = await open("support/compared.html");
  const verdict = await page.locator(".verdict").textContent();
  for (const part of [
    "Against earlier/support-2025-12-19.jsonl", "Worse", "A drop this large happens by chance in",
    "the margin of 10 points", "Trials of 1 test could not be measured.", "20 tests, 2 trials each in both runs",
  ]) assert.ok(verdict.includes(part), `the verdict does not say: ${part}`);
  const drawing = page.locator(".against svg");
  assert.match(await drawing.getAttribute("aria-label"), /^Difference in pass rate: −[\d.]+ points \(95 % CI −[\d.]+ to [+−][\d.]+\), margin/);
  const place = (name) => drawing.locator(name).evaluateAll((list) => list.map((node) => node.getBBox().x + node.getBBox().width / 2));
  const [[low, high], [dot], [zero], [margin]] = await Promise.all([".cap", ".mark", ".zero", ".margin"].map(place));
  assert.ok(low < dot && dot < high && dot < zero, "the drop is left of zero and within its interval");
  assert.ok(Math.abs(margin - zero) < 1, "the margin is the same on both sides");
  await close(page);
});

test("an open question says what would settle it", async () => {
  const page = await open("trials/compared.html");
  assert.match(await page.locator(".verdict").textContent(), /Inconclusive.*About [\d,]+ trials of each test in both runs would settle it, for about \$/);
  await close(page);
});

test("tests are filtered by what became of them", async () => {
  const page = await open("support/compared.html");
  const all = Number((await shown(page)).split(" ")[0]);
  const words = ["regressed", "errored", "fixed", "changed", "changed-test", "added", "removed", "unchanged"];
  const counts = await Promise.all(words.map((word) => countOf(page, word)));
  assert.equal(counts.reduce((sum, n) => sum + n, 0), all);
  assert.match(await cell(page, 0, 1), /regressed/);
  for (const [at, word] of words.entries()) {
    await chip(page, word).click();
    assert.equal(await chip(page, word).getAttribute("aria-pressed"), "true");
    assert.equal(await shown(page), `${counts[at]} of ${all} tests`);
    assert.match(await cell(page, 0, 1), new RegExp(word));
    await chip(page, word).click();
  }
  await chip(page, "fixed").click();
  await chip(page, "added").click();
  assert.equal(await shown(page), `${counts[2] + counts[4]} of ${all} tests`);
  await page.fill(SEARCH, "GERMAN small");
  assert.equal(await shown(page), `1 of ${all} tests`);
  await page.fill(SEARCH, "nothing has this");
  await page.click("#comparison .reset");
  assert.equal(await shown(page), `${all} tests`);
  await close(page);
});

test("what is beyond chance has a mark", async () => {
  const page = await open("trials/compared.html");
  assert.equal(await countOf(page, "beyond chance"), 2);
  await chip(page, "beyond chance").click();
  assert.equal(await page.locator(ROW).count(), 2);
  assert.match(await page.locator(ROW).first().textContent(), /regressed.*broken.*10 of 10.*0 of 10.*beyond chance/);
  await close(page);
});

test("tests are sorted by gain, and what has none comes last both ways", async () => {
  const page = await open("support/compared.html");
  const gains = () => page.evaluate(() => {
    const share = (text) => { const [a, b] = text.split(",")[0].split(" of ").map(Number); return a / b; };
    const rows = [...document.querySelectorAll("#tests-grid .row")].sort((a, b) => a.dataset.at - b.dataset.at);
    return rows.map((row) => [...row.querySelectorAll(".pair")[0].children].map((node) => node.textContent))
      .map(([before, , now]) => share(now) - share(before));
  });
  const header = column(page, "Passes");
  const found = {};
  for (let n = 0; n < 2; n += 1) {
    await header.locator("button").click();
    found[await header.getAttribute("aria-sort")] = await gains();
  }
  assert.deepEqual(Object.keys(found).sort(), ["ascending", "descending"]);
  const { ascending, descending } = found;
  assert.ok(ascending[0] < 0 && descending[0] > 0);
  for (let at = 1; at < 12; at += 1) {
    assert.ok(ascending[at - 1] <= ascending[at] && descending[at - 1] >= descending[at]);
  }
  await page.locator("#tests-grid").focus();
  await page.keyboard.press("End");
  const last = Number((await shown(page)).split(" ")[0]) - 1;
  assert.match(await cell(page, last, 4), /–/);
  await close(page);
});

test("a test opens its cases by keys, and closing comes back", async () => {
  const page = await open("support/compared.html");
  await page.locator("#tests-grid").focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  assert.equal(await page.locator(ROW + ".active").getAttribute("data-at"), "1");
  assert.equal(await page.locator("#tests-grid").getAttribute("aria-activedescendant"), "tests-row-1");
  const name = await page.locator(`${ROW}.active .id`).textContent();
  await page.keyboard.press("Enter");
  assert.equal(await isOpen(page), true);
  assert.equal(await title(page), name);
  const head = () => page.locator(".case-head").textContent();
  assert.match(await head(), /1 of 2/);
  assert.match(await head(), /Against the baselineregressed, passes 2 of 2 → \d of 2/);
  const first = await page.evaluate(() => location.hash);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  assert.notEqual(await page.evaluate(() => location.hash), first);
  assert.equal(await title(page), name, "only the cases of this test");
  assert.match(await head(), /2 of 2/);
  await page.keyboard.press("Escape");
  assert.equal(await isOpen(page), false);
  assert.equal(await focused(page), "tests-grid");
  assert.equal(await page.locator("#cases-view .shown").textContent(), "48 cases");
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.closest("section").id), "comparison");
  await close(page);
});

test("a test that was not run now opens nothing", async () => {
  const page = await open("support/compared.html");
  await chip(page, "removed").click();
  await page.locator(ROW).first().click();
  await page.locator("#tests-grid").focus();
  await page.keyboard.press("Enter");
  assert.equal(await isOpen(page), false);
  assert.equal(await page.locator(ROW + ".still").count(), await page.locator(ROW).count());
  await close(page);
});

test("names of tests and baselines that try to act are text", async () => {
  const page = await open("hostile/compared.html");
  assert.equal(await elements(page), 2, "one script and one style, ours");
  assert.ok((await page.locator(".verdict").textContent()).includes('Against earlier/<img src=x onerror="window.owned = 1">.jsonl'));
  const names = await page.locator(`${ROW} .id`).allTextContents();
  assert.ok(names.includes("</script><script>window.owned = 1; alert(1)</script>"), names.join("\n"));
  for (let n = 0; n < names.length; n += 1) {
    await page.locator(ROW).nth(n).click();
    assert.equal(await title(page), names[n]);
    await page.keyboard.press("Escape");
  }
  assert.match(await page.locator(".plot .point title").first().textContent(), /^<img src=x onerr/);
  await page.locator("#plots details summary").click();
  assert.equal(await elements(page), 2);
  assert.equal(await page.evaluate(() => window.owned), undefined);
  await close(page);
});

test("ten thousand compared tests scroll, sort, filter and open", async () => {
  const page = await open("many/compared.html");
  console.log(`     opening: ${page.opened} ms`);
  assert.equal(await shown(page), "10,000 tests");
  await assertFew(page, ROW);
  await timed("to the end by key", async () => {
    await page.locator("#tests-grid").focus();
    await page.keyboard.press("End");
    await page.waitForSelector(`${ROW}[data-at="9999"].active`);
  });
  await assertFew(page, ROW);
  await timed("to the middle by scrolling", async () => {
    await page.locator("#tests-grid").evaluate((grid) => { grid.scrollTop = 5000 * 40; });
    await page.waitForSelector(`${ROW}[data-at="5005"]`);
  });
  await assertFew(page, ROW);
  await timed("sorting", () => column(page, "Score").locator("button").click());
  await timed("filtering", () => chip(page, "regressed").click());
  assert.equal(await shown(page), `${(await chip(page, "regressed").locator("b").textContent())} of 10,000 tests`);
  await timed("opening a case", async () => {
    await page.locator(ROW).first().click();
    await page.waitForSelector("#case[open]");
  });
  const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
  assert.ok(nodes < 5000, `${nodes} elements`);
  await close(page);
});

test("the course of pass rates has its points, its words and a table", async () => {
  const page = await open("support/compared.html");
  const drawing = page.locator("#plots svg", { has: page.locator(".point") });
  assert.equal(await drawing.locator(".point").count(), 6);
  assert.equal(await drawing.locator(".point .whisker").count(), 6);
  assert.equal(await drawing.getAttribute("role"), "img");
  const words = await drawing.getAttribute("aria-label");
  assert.match(words, /^Pass rate over 6 points in time: on 2025-11-18.* 22 of 48 passed, 46 %, 95 % CI \d+–\d+ %, then on 2026-01-02.* 28 of 47 passed/);
  const titles = await drawing.locator(".point title").allTextContents();
  for (const text of titles) assert.match(text, /^20\d\d-\d\d-\d\d \d\d:\d\d: \d+ of 4[78] passed, \d+ %, 95 % CI \d+–\d+ %$/);
  const labels = await drawing.locator("text").allTextContents();
  assert.ok(labels.includes("2025-11-18") && labels.includes("2026-01-02"), labels.join(" "));
  await page.locator("#plots details summary").click();
  assert.equal(await page.locator("#plots tbody tr").count(), 6);
  assert.match(await page.locator("#plots tbody tr").last().textContent(), /2026-01-02 03:0428 of 47 passed/);
  await close(page);
});

test("the comparison is readable in light and dark", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const page = await open("support/compared.html", { colorScheme });
    for (const place of [".verdict .name", ".verdict .value", ".verdict p", ".verdict dt", ".against text", ".pair span", ".chip b", "figcaption span"]) {
      await assertContrast(page, place);
    }
    for (const word of ["regressed", "errored", "fixed", "changed", "changed-test", "added", "removed", "unchanged"]) {
      await chip(page, word).click();
      await assertContrast(page, ROW + " .badge");
      await chip(page, word).click();
    }
    await close(page);
  }
});

test("a comparison in a narrow place has no sideways scrolling", async () => {
  const page = await open("support/compared.html");
  const wide = await page.locator(".plot svg").first().evaluate((node) => node.clientWidth);
  await page.setViewportSize({ width: 390, height: 800 });
  await page.waitForFunction((before) => document.querySelector(".plot svg").clientWidth < before, wide);
  // Redrawn instead of scaled, so that the text keeps its size.
  await page.waitForFunction(() => [...document.querySelectorAll(".plot svg")].every((node) => node.viewBox.baseVal.width === node.clientWidth));
  const overflow = await page.evaluate(() => [document.documentElement, ...document.querySelectorAll(".grid, figure")]
    .map((node) => node.scrollWidth - node.clientWidth).filter((more) => more > 1));
  assert.deepEqual(overflow, []);
  // Rows have two lines there; the last one must still be reachable.
  await page.locator("#tests-grid").focus();
  await page.keyboard.press("End");
  const [row, grid] = await Promise.all([`${ROW}.active`, "#tests-grid"].map((place) => page.locator(place).boundingBox()));
  assert.ok(row.y >= grid.y && row.y + row.height <= grid.y + grid.height + 2, "the active row is in sight");
  await close(page);
});
