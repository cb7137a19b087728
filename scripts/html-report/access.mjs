// Accessibility and paper.
import assert from "node:assert/strict";
import { assertAccessible, close, open, openTest, ROW, test } from "./browser.mjs";

const VIEWS = {
  tests: async () => {},
  breakdown: (page) => page.click("#tab-breakdown"),
  "a test": (page) => openTest(page, "gift-card-balance small"),
};

for (const colorScheme of ["light", "dark"]) {
  test(`axe finds no serious fault in any view (${colorScheme})`, async () => {
    for (const name of ["support/out.html", "support/compared.html"]) {
      for (const width of [1280, 390]) {
        for (const [view, act] of Object.entries(VIEWS)) {
          const page = await open(name, { colorScheme, viewport: { width, height: 900 } });
          await act(page);
          await assertAccessible(page, `${name}, ${view}, ${width} px`);
          await close(page);
        }
      }
    }
  });
}

// Chromium tells a page of printing when it makes a PDF.
async function printed(page, read) {
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  const found = await read();
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  await page.emulateMedia({ media: null });
  return found;
}

test("paper has every test and no buttons", async () => {
  const page = await open("support/out.html", { colorScheme: "dark" });
  await printed(page, async () => {
    assert.equal(await page.locator(ROW).count(), 24);
    assert.equal(await page.locator("#tests-view input, .tabs, #theme").filter({ visible: true }).count(), 0);
    const boxes = await page.locator(ROW).evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().top));
    assert.deepEqual(boxes, [...boxes].sort((a, b) => a - b), "rows follow each other");
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
  });
  const pdf = await page.pdf({ format: "A4" });
  assert.ok(pdf.length > 20_000);
  await close(page);
});

test("an open test is printed alone and whole", async () => {
  const page = await open("support/out.html");
  await openTest(page, "gift-card-balance small");
  await printed(page, async () => {
    assert.equal(await page.locator("main").isVisible(), false);
    assert.equal(await page.locator("#case details:not([open])").count(), 0);
    const { bottom, height } = await page.locator("#case").evaluate((node) => ({ bottom: node.scrollHeight, height: node.clientHeight }));
    assert.ok(height >= bottom - 1, "nothing is cut off");
  });
  await close(page);
});
