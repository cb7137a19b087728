// A real browser with a report in it, and the list of checks.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [browserPath, where] = process.argv.slice(2);
// Holds `support`, `hostile`, `many` and `trials`, each with `out.html` and `compared.html`.
export const folder = where;
// Installed next to the reports, not next to this file.
const { chromium } = createRequire(join(folder, "package.json"))("playwright-core");

// The last four keep the browser itself from using the network.
const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--no-first-run",
  "--disable-quic", "--disable-background-networking", "--disable-component-update", "--disable-sync",
];
export const browser = await chromium.launch({ executablePath: browserPath, args: FLAGS });

// A page that also fails on errors that a person would not see. `hash` is the part of its address that
// says what is shown.
export async function open(name, { hash = "", ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: "light", ...options });
  const page = await context.newPage();
  const url = pathToFileURL(join(folder, name)).href;
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
  await page.goto(url + hash, { waitUntil: "commit" });
  await page.waitForSelector(".row, .none:not([hidden])", { state: "attached" });
  page.opened = Date.now() - start;
  return page;
}

export async function close(page) {
  assert.deepEqual(page.faults, []);
  await page.context().close();
}

export const tests = [];
export const test = (name, run) => tests.push([name, run]);

export const isOpen = (page) => page.evaluate(() => document.getElementById("case").open);
export const title = (page) => page.locator("#case-title").textContent();

export const ROW = "#tests-grid .row";
export const SEARCH = "#tests-view input[type=search]";
export const shown = (page) => page.locator("#tests-view .shown").textContent();
export const chip = (page, word) => page.locator("#tests-view .chip", { hasText: new RegExp(`^${word}\\d`) });
export const hashOf = (page) => page.evaluate(() => location.hash);

// Opens the first test that a search finds.
export async function openTest(page, words) {
  await page.fill(SEARCH, words);
  await page.locator(ROW).first().click();
  await page.waitForSelector("#case[open]");
}

// What a tool for accessibility calls a fault; serious and critical ones must not be there.
const axe = readFileSync(join(folder, "node_modules/axe-core/axe.min.js"), "utf8");

export async function assertAccessible(page, what) {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, { resultTypes: ["violations"] });
    return violations.filter((one) => ["serious", "critical"].includes(one.impact))
      .map((one) => `${one.id}: ${one.nodes.map((node) => node.target.join(" ")).slice(0, 3).join(", ")}`);
  });
  assert.deepEqual(found, [], what);
}

// Elements that only an answer could have brought in; a script and a style are ours.
export const elements = (page) => page.evaluate(() => document.querySelectorAll("img, svg[onload], base, script:not([type]), style").length);

// However long a list is, the page holds only its visible part.
export async function assertFew(page, row) {
  const rows = await page.locator(row).count();
  assert.ok(rows > 0 && rows < 80, `${rows} rows are in the page`);
}

// The WCAG 2 contrast ratio between the text of an element and its background.
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

export async function assertContrast(page, place) {
  const ratio = await page.locator(place).first().evaluate(contrast);
  assert.ok(ratio >= 4.5, `${place} has a contrast of ${ratio.toFixed(2)}`);
}
