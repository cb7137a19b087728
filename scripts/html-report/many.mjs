// 10,000 tests with 5 trials each. Machines differ, so times are printed; EVALRIG_TIMES=check makes them
// limits.
import assert from "node:assert/strict";
import { assertFew, chip, close, open, ROW, SEARCH, shown, test } from "./browser.mjs";

async function timed(what, limit, act) {
  const start = Date.now();
  await act();
  told(what, limit, Date.now() - start);
}

function told(what, limit, took) {
  console.log(`     ${what}: ${took} ms (limit ${limit} ms)`);
  if (process.env.EVALRIG_TIMES === "check") assert.ok(took < limit, `${what} took ${took} ms`);
}

for (const name of ["out", "compared"]) {
  test(`10,000 tests with 5 trials each scroll, sort, search and open (${name})`, async () => {
    const page = await open(`many/${name}.html`);
    told("opening", 1500, page.opened);
    assert.equal(await shown(page), "10,000 tests");
    assert.equal(await page.locator("#notices").textContent(), "", "nothing is left out");
    await assertFew(page, ROW);
    await timed("searching", 300, async () => {
      await page.fill(SEARCH, "case-07777");
      await page.waitForFunction(() => document.querySelectorAll("#tests-grid .row").length === 1);
    });
    await page.fill(SEARCH, "");
    await timed("to the end by key", 300, async () => {
      await page.locator("#tests-grid").focus();
      await page.keyboard.press("End");
      await page.waitForSelector(`${ROW}[data-at="9999"].active`);
    });
    await assertFew(page, ROW);
    await timed("to the middle by scrolling", 300, async () => {
      // The key may still be moving the page.
      await page.waitForFunction((row) => {
        scrollTo(0, 5000 * 54);
        return document.querySelector(`${row}[data-at="4999"]`);
      }, ROW);
    });
    await assertFew(page, ROW);
    await timed("sorting", 300, () => page.locator("[role=columnheader] button", { hasText: "Time" }).click());
    await timed("filtering", 300, () => chip(page, "flaky").click());
    await page.waitForLoadState("load");
    await timed("opening a test", 300, async () => {
      await page.locator(ROW).first().click();
      await page.waitForSelector("#case[open] .answers");
    });
    const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
    assert.ok(nodes < 5000, `${nodes} elements`);
    await close(page);
  });
}
