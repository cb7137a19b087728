// Answers, names and runs that try to act.
import assert from "node:assert/strict";
import { close, elements, open, ROW, SEARCH, test } from "./browser.mjs";

// Nothing that an answer wrote became an element, and nothing in it leads anywhere.
async function assertInert(page) {
  assert.equal(await elements(page), 2, "one script and one style, ours");
  assert.equal(await page.evaluate(() => document.querySelectorAll("a[href]:not(.skip), [onerror], [onload], iframe, form, object, link").length), 0);
  assert.equal(await page.evaluate(() => window.owned), undefined);
}

for (const name of ["out", "compared"]) {
  test(`texts that try to act are text (${name})`, async () => {
    const page = await open(`hostile/${name}.html`);
    await assertInert(page);
    const rows = await page.locator(ROW).count();
    assert.ok(rows >= 12, `${rows} rows`);
    for (let n = 0; n < rows; n += 1) {
      await page.locator(`${ROW}[data-at="${n}"]`).click();
      await page.waitForSelector("#case[open]");
      for (const summary of await page.locator("#case details > summary").all()) await summary.click();
      await assertInert(page);
      const raw = page.locator("#case button", { hasText: /^Raw$/ });
      if (await raw.count()) await raw.click();
      await assertInert(page);
      await page.keyboard.press("Escape");
    }
    await page.click("#tab-breakdown");
    for (const line of await page.locator(".panel .line").all()) {
      await line.click();
      await page.click("#tab-breakdown");
    }
    await assertInert(page);
    await close(page);
  });
}

test("hidden and reversing characters are shown as symbols", async () => {
  const page = await open("hostile/out.html");
  await page.fill(SEARCH, "txt.exe");
  assert.ok((await page.locator(`${ROW} .id`).first().textContent()).startsWith("\ufffdtxt.exe"));
  await page.locator(ROW).first().click();
  assert.doesNotMatch(await page.locator("#case").textContent(), /[\u202e\u200b\u0000\u001b]/);
  await close(page);
});

test("addresses in answers are shown and cannot be followed", async () => {
  const page = await open("hostile/out.html");
  await page.fill(SEARCH, "click javascript");
  await page.locator(ROW).first().click();
  const answer = page.locator("#case .answers .markdown");
  assert.match(await answer.textContent(), /javascript:alert\(1\).*image: x http:\/\/127\.0\.0\.1:9\/x\.png/);
  assert.equal(await answer.locator("a, img").count(), 0);
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
