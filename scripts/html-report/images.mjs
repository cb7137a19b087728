// The pictures of docs/guides/html-report.md.
import { join } from "node:path";
import { close, open } from "./browser.mjs";

export async function draw(folder) {
  const picture = (page, name) => page.screenshot({ path: join(folder, name) });
  const page = await open("support/out.html");
  await picture(page, "report.png");
  await page.fill("#cases-view input[type=search]", "gift-card-balance small");
  await page.locator("#cases-grid .row").first().click();
  await page.locator("details.call summary").click();
  await picture(page, "report-case.png");
  await close(page);
  // Without what the other picture shows already.
  const beside = await open("support/compared.html", { viewport: { width: 1280, height: 1000 } });
  await beside.evaluate(() => {
    for (const id of ["summary", "cases-view"]) document.getElementById(id).hidden = true;
    for (const node of document.querySelectorAll("footer, #plots figure:nth-child(-n + 2)")) node.hidden = true;
  });
  await beside.locator("body").screenshot({ path: join(folder, "report-comparison.png") });
  await close(beside);
}
