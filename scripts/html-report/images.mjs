// The pictures of docs/guides/html-report.md.
import { join } from "node:path";
import { close, open, openTest } from "./browser.mjs";

export async function draw(folder) {
  const picture = (page, name) => page.screenshot({ path: join(folder, name) });
  const page = await open("support/out.html");
  await picture(page, "report.png");
  await openTest(page, "gift-card-balance small");
  await page.locator("details.call summary").first().click();
  await picture(page, "report-case.png");
  await close(page);
  const beside = await open("support/compared.html", { viewport: { width: 1280, height: 1000 } });
  await picture(beside, "report-comparison.png");
  await openTest(beside, "refund-after-deadline small");
  await picture(beside, "report-answers.png");
  await close(beside);
  const breakdown = await open("support/compared.html", { hash: "#view=breakdown", viewport: { width: 1280, height: 1000 } });
  await breakdown.evaluate(() => {
    for (const id of ["verdict", "summary"]) document.getElementById(id).hidden = true;
    document.querySelector("footer").hidden = true;
  });
  await breakdown.locator("main").screenshot({ path: join(folder, "report-breakdown.png") });
  await close(breakdown);
}
