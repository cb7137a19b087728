// Opens reports in a real browser and checks them.
// `check.mjs CHROMIUM FOLDER [IMAGES]`: FOLDER holds the reports, see browser.mjs; with IMAGES the
// pictures of the docs are drawn too.
import { browser, tests } from "./browser.mjs";
import "./tests.mjs";
import "./comparison.mjs";
import "./hostile.mjs";
import "./markdown.mjs";
import "./access.mjs";
import "./many.mjs";
import { draw } from "./images.mjs";

const images = process.argv[4];

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
if (images) await draw(images);
await browser.close();
console.log(failures ? `${failures} of ${tests.length} failed` : `all ${tests.length} passed`);
process.exit(failures ? 1 : 0);
