// Checks of a page with a baseline and a history.
import assert from "node:assert/strict";
import { assertAccessible, assertContrast, chip, close, isOpen, open, openTest, ROW, SEARCH, shown, test, title } from "./browser.mjs";

const column = (page, name) => page.locator("#tests-grid [role=columnheader]", { hasText: name });
const countOf = async (page, word) => Number(await chip(page, word).last().locator("b").textContent());
const CHANGES = ["regressed", "errored", "changed", "fixed", "changed-test", "added", "removed", "unchanged"];

test("without a baseline the page has no comparison and no history", async () => {
  const page = await open("support/out.html");
  assert.equal(await page.locator("#compared, .verdict, .plot .point, .pips .before").count(), 0);
  await close(page);
});

test("the verdict comes first, with its margin and its doubt", async () => {
  const page = await open("support/compared.html");
  const verdict = await page.locator(".verdict").textContent();
  for (const part of [
    "Against earlier/support-2025-12-19.jsonl", "Worse", "A drop this large happens by chance in",
    "the margin of 10 points", "cost per case $", "tokens per case ", "time per case ", " could not be measured: ", " trials each",
  ]) assert.ok(verdict.includes(part), `the verdict does not say: ${part}`);
  const top = (place) => page.locator(place).evaluate((node) => node.getBoundingClientRect().top);
  assert.ok((await top("#verdict")) < (await top("#summary")));
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
  assert.match(await page.locator(".verdict").textContent(), /Inconclusive.*100 trials of each test would not be enough, so more tests are needed/);
  await close(page);
});

test("the largest drop comes first, and each row says what it was before", async () => {
  const page = await open("support/compared.html");
  const rows = await page.locator(`${ROW} .pips`).evaluateAll((list) => list.map((node) => node.getAttribute("aria-label")));
  const drops = rows.slice(0, 5).map((text) => {
    const [, passes, trials, before, all] = /(\d+) of (\d+) passed.*before (\d+) of (\d+)/.exec(text).map(Number);
    return passes / trials - before / all;
  });
  assert.ok(drops[0] < 0, rows[0]);
  assert.deepEqual(drops, [...drops].sort((a, b) => a - b));
  await close(page);
});

test("tests are filtered by what became of them", async () => {
  const page = await open("support/compared.html");
  const all = Number((await shown(page)).split(" ")[0]);
  const group = page.locator("#tests-view [role=group][aria-label=Change]");
  const words = (await group.locator(".chip").allTextContents()).map((text) => /^([a-z -]+)(\d+)$/.exec(text)).map(([, word, n]) => [word, Number(n)]);
  const changes = words.filter(([word]) => CHANGES.includes(word));
  assert.equal(changes.reduce((sum, [, n]) => sum + n, 0), all);
  for (const [word, n] of changes) {
    await group.locator(".chip", { hasText: new RegExp(`^${word}\\d`) }).click();
    assert.equal(await shown(page), `${n} of ${all} tests`);
    await group.locator(".chip", { hasText: new RegExp(`^${word}\\d`) }).click();
  }
  await page.fill(SEARCH, "GERMAN small");
  assert.equal(await shown(page), `1 of ${all} tests`);
  await page.fill(SEARCH, "nothing has this");
  await page.click("#tests-view .reset");
  assert.equal(await shown(page), `${all} tests`);
  await close(page);
});

test("what is beyond chance has a mark", async () => {
  const page = await open("trials/compared.html");
  assert.equal(await countOf(page, "beyond chance"), 2);
  await chip(page, "beyond chance").click();
  assert.equal(await page.locator(ROW).count(), 2);
  assert.match(await page.locator(ROW).first().textContent(), /regressed.*broken.*10\/10.*0\/10/);
  await close(page);
});

test("tests are sorted by gain, and what has none comes last both ways", async () => {
  const page = await open("support/compared.html");
  const gains = () => page.locator(`${ROW} .pips`).evaluateAll((list) => list
    .sort((a, b) => a.closest(".row").dataset.at - b.closest(".row").dataset.at)
    .map((node) => /(\d+) of (\d+) passed.*before (\d+) of (\d+)/.exec(node.getAttribute("aria-label")))
    .map((found) => found && found[1] / found[2] - found[3] / found[4]));
  const found = {};
  for (let n = 0; n < 2; n += 1) {
    await column(page, "Before").locator("button").click();
    found[await column(page, "Before").getAttribute("aria-sort")] = await gains();
  }
  const { ascending, descending } = found;
  assert.ok(ascending[0] < 0 && descending[0] >= ascending[0]);
  for (let at = 1; at < 8; at += 1) {
    assert.ok(ascending[at - 1] <= ascending[at] && descending[at - 1] >= descending[at]);
  }
  await close(page);
});

test("old and new answer are side by side, with the words that differ", async () => {
  const page = await open("support/compared.html");
  await openTest(page, "refund-after-deadline small");
  const sides = page.locator("#case .beside .side");
  assert.equal(await sides.count(), 2);
  assert.match(await sides.nth(0).textContent(), /^Before/);
  assert.match(await sides.nth(1).textContent(), /^Now/);
  assert.ok((await page.locator("#case .diff del").count()) > 0);
  const [before, now] = await Promise.all([0, 1].map((at) => sides.nth(at).boundingBox()));
  assert.ok(now.x >= before.x + before.width && Math.abs(now.y - before.y) < 2, "beside each other");
  // Without the marks both are what they were.
  const kept = (at, mark) => sides.nth(at).locator("pre").evaluate((node, tag) => {
    const copy = node.cloneNode(true);
    for (const one of copy.querySelectorAll(tag)) one.remove();
    return copy.textContent.replace(/\s+/g, "");
  }, mark);
  assert.equal(await kept(0, "del"), await kept(1, "ins"));
  assert.match(await page.locator("#case .deltas").textContent(), /Score.*Cost.*\$.*Tokens.*Time/);
  await close(page);
});

test("tool calls are side by side, with the first difference marked", async () => {
  const page = await open("support/compared.html");
  for (let trial = 1; trial <= 5; trial += 1) {
    await page.evaluate((at) => { location.hash = `#test=order-status&on=small&trial=${at}`; }, trial);
    await page.waitForSelector(`.trial[aria-label^="Trial ${trial},"][aria-pressed=true]`);
    const steps = await page.locator("#case .steps tbody tr").evaluateAll((rows) => rows.map((row) => [row.className, ...[...row.querySelectorAll("td")].map((cell) => cell.textContent)]));
    assert.match(steps[0][1], /^orders\.lookup\{"order":48213\}$/);
    const first = steps.findIndex(([, before, now]) => before !== now);
    assert.deepEqual(steps.map(([name]) => name === "diverges"), steps.map((_, at) => at === first));
    const words = await page.locator("#case .trajectories h3").textContent();
    assert.match(words, first < 0 ? /the same calls/ : new RegExp(`they differ from call ${first + 1} on`));
  }
  await close(page);
});

test("a test opens by keys with its change, and closing comes back", async () => {
  const page = await open("support/compared.html");
  await page.locator("#tests-grid").focus();
  await page.keyboard.press("j");
  const name = await page.locator(`${ROW}.active .id`).textContent();
  await page.keyboard.press("Enter");
  assert.equal(await title(page), name);
  assert.match(await page.locator(".case-head").textContent(), /Against the baseline\w+, passes \d of 5 → \d of 5/);
  await page.keyboard.press("Escape");
  assert.equal(await isOpen(page), false);
  // The event of closing comes a moment later.
  await page.waitForFunction(() => document.activeElement.id === "tests-grid" && !location.hash.includes("test="));
  await close(page);
});

test("a test that was not run now opens nothing", async () => {
  const page = await open("support/compared.html", { hash: "#change=removed" });
  await page.locator(ROW).first().click();
  await page.locator("#tests-grid").focus();
  await page.keyboard.press("Enter");
  assert.equal(await isOpen(page), false);
  assert.equal(await page.locator(ROW + ".still").count(), await page.locator(ROW).count());
  await close(page);
});

test("names of baselines and times that try to act are text", async () => {
  const page = await open("hostile/compared.html", { hash: "#view=breakdown" });
  assert.ok((await page.locator(".verdict").textContent()).includes('Against earlier/<img src=x onerror="window.owned = 1">.jsonl'));
  assert.match(await page.locator(".plot .point title").first().textContent(), /^<img src=x onerr/);
  await page.locator("#plots details summary").click();
  assert.equal(await page.evaluate(() => window.owned), undefined);
  await close(page);
});

test("the course of pass rates has its points, its words and a table", async () => {
  const page = await open("support/compared.html", { hash: "#view=breakdown" });
  const drawing = page.locator("#plots svg", { has: page.locator(".point") });
  assert.equal(await drawing.locator(".point").count(), 6);
  assert.equal(await drawing.locator(".point .whisker").count(), 6);
  assert.equal(await drawing.getAttribute("role"), "img");
  const words = await drawing.getAttribute("aria-label");
  assert.match(words, /^Pass rate over 6 points in time: on 2025-11-18.* \d+ of 120 passed, \d+ %, 95 % CI \d+–\d+ %, then on 2026-01-02.* \d+ of 119 passed/);
  const labels = await drawing.locator("text").allTextContents();
  assert.ok(labels.includes("2025-11-18") && labels.includes("2026-01-02"), labels.join(" "));
  await page.locator("#plots details summary").click();
  assert.equal(await page.locator("#plots tbody tr").count(), 6);
  assert.match(await page.locator("#plots tbody tr").last().textContent(), /2026-01-02 03:04\d+ of 119 passed/);
  await close(page);
});

test("the comparison is readable in light and dark", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const page = await open("support/compared.html", { colorScheme });
    for (const place of [".verdict .name", ".verdict .value", ".verdict p", ".verdict dt", ".against text", ".pips .before", ".chip b", "figcaption span"]) {
      await assertContrast(page, place);
    }
    await openTest(page, "refund-after-deadline small");
    for (const place of [".diff", ".deltas td", ".deltas th"]) await assertContrast(page, "#case " + place);
    await close(page);
  }
});

test("a comparison in a narrow place has no sideways scrolling", async () => {
  const page = await open("support/compared.html");
  const wide = await page.locator(".plot svg").first().evaluate((node) => node.clientWidth);
  await page.setViewportSize({ width: 390, height: 800 });
  await page.waitForFunction((before) => document.querySelector(".plot svg").clientWidth < before, wide);
  const overflow = () => page.evaluate(() => [document.documentElement, document.getElementById("case"), ...document.querySelectorAll(".grid, figure")]
    .map((node) => node.scrollWidth - node.clientWidth).filter((more) => more > 1));
  assert.deepEqual(await overflow(), []);
  // Rows are higher there; the last one must still be reachable.
  await page.locator("#tests-grid").focus();
  await page.keyboard.press("End");
  const row = await page.locator(`${ROW}.active`).boundingBox();
  assert.ok(row.y >= 0 && row.y + row.height <= 801, "the active row is in sight");
  await page.keyboard.press("Home");
  await openTest(page, "order-status small");
  assert.deepEqual(await overflow(), []);
  await close(page);
});

// Of four rounds, the first ones had a look.
test("a run in rounds shows its looks, what was not needed, and the margin", async () => {
  const page = await open("rounds/out.html");
  const place = page.locator("#rounds");
  const looks = await place.locator("ol.looks li").allTextContents();
  assert.ok(looks.length >= 1 && looks.length < 4, `${looks.length} looks`);
  for (const [at, words] of looks.entries()) {
    assert.match(words, new RegExp(`^round ${at + 1}: [+−]?[\\d.]+ points \\(95 % CI [+−][\\d.]+ to [+−][\\d.]+\\), p = `));
  }
  assert.equal(await place.locator("svg .now").count(), looks.length);
  assert.equal(await place.locator("svg text", { hasText: /^round \d$/ }).count(), 4);
  assert.equal(await place.locator("svg text", { hasText: "not needed" }).count(), 4 - looks.length);
  const middle = (name) => place.locator(name).first().evaluate((node) => node.getBBox().x + node.getBBox().width / 2);
  assert.ok(Math.abs((await middle("svg rect.margin")) - (await middle("svg .zero"))) < 1, "the margin is the same on both sides");
  assert.match(await place.locator("figcaption").textContent(), /stopped after round \d of 4: /);
  await assertAccessible(page, "rounds");
  await close(page);
});
