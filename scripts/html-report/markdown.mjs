// Markdown in answers.
import assert from "node:assert/strict";
import { close, open, openTest, test } from "./browser.mjs";

test("an answer is formatted, and raw on demand", async () => {
  const page = await open("trials/out.html");
  await openTest(page, "Markdown");
  const answer = page.locator("#case .answers .markdown");
  const has = async (place, text) => assert.equal((await answer.locator(place).first().textContent()).trim(), text, place);
  await has(".heading", "Refunds in short");
  await has("ul > li > strong", "14 days");
  await has("ol > li > p", "Open your account");
  await has("ul li li", "then the label");
  await has("ol li li", "then the order");
  await has("code", "RMA-7731");
  await has("em", "before");
  await has("del", "30 days");
  await has("pre code", "refund --order 48213\n# <b>not bold</b>");
  await has("blockquote p", "Quoted words");
  await has("th", "step");
  await has("tbody tr:last-child td:last-child", "5 days");
  await has(".linked .url", "https://example.org/refunds");
  assert.match(await answer.textContent(), /snake_case_name stays/);
  assert.match(await answer.textContent(), /<b>HTML<\/b> stays text/);
  await page.locator("#case button", { hasText: /^Raw$/ }).click();
  assert.match(await page.locator("#case .answers pre").first().textContent(), /^## Refunds in short\n/);
  assert.equal(await page.locator("#case button", { hasText: /^Raw$/ }).getAttribute("aria-pressed"), "true");
  await close(page);
});
