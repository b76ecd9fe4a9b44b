// SPDX-License-Identifier: Apache-2.0
// The documentation site in a browser, from file://: search finds a method, no page is wider than a
// phone, axe-core has nothing to say in light and dark. Screenshots stay beside the site.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const site = resolve(process.argv[2]);
const require = createRequire(join(import.meta.dirname, "../../web/package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const shots = `${site}-screenshots`;
const pages = ["index.html", "tutorial.html", "gallery.html", "command_line.html", "algorithms/dcp.html",
  "reference/commands.html", "reference/cpp/classic.html", "reference/python.html", "format.html", "explorer_api.html",
  "project/README.html"];
const problems = [];

async function look(browser, name, options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.on("pageerror", (error) => problems.push(`${name}: ${error}`));
  page.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) problems.push(`${name}: a request to ${request.url()}`);
  });
  return page;
}

async function check_axe(page, name) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  for (const rule of found.violations)
    problems.push(`${name}: ${rule.id}: ${rule.help}: ${rule.nodes.slice(0, 2).map((node) => node.html.slice(0, 120)).join(" ")}`);
}

async function phone(browser) {
  const page = await look(browser, "phone", { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
  for (const name of pages) {
    await page.goto(`file://${site}/${name}`);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    if (width > 391) problems.push(`${name}: ${width} pixels wide on a phone of 390`);
    await page.screenshot({ path: join(shots, `phone-${name.replaceAll("/", "-")}.png`) });
  }
}

async function desk(browser, scheme) {
  const page = await look(browser, scheme, { viewport: { width: 1280, height: 900 }, colorScheme: scheme });
  for (const name of pages) {
    await page.goto(`file://${site}/${name}`);
    await check_axe(page, `${name} (${scheme})`);
    await page.screenshot({ path: join(shots, `${scheme}-${name.replaceAll("/", "-")}.png`) });
  }
}

async function search(browser) {
  const page = await look(browser, "search", { viewport: { width: 1280, height: 900 } });
  await page.goto(`file://${site}/index.html`);
  await page.fill(".sidebar-search", "context partitioning");
  await page.press(".sidebar-search", "Enter");
  await page.waitForSelector("#search-results li a", { timeout: 20000 });
  const links = await page.$$eval("#search-results li a", (all) => all.map((link) => link.getAttribute("href")));
  assert.ok(links.some((link) => link.includes("algorithms/dcp.html")), `search found ${links}`);
}

const path = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
assert.ok(path, "chromium is not installed: run scripts/setup package");
mkdirSync(shots, { recursive: true });
const browser = await chromium.launch({ executablePath: path, args: ["--no-sandbox", "--allow-file-access-from-files"] });
try {
  await phone(browser);
  await desk(browser, "light");
  await desk(browser, "dark");
  await search(browser);
} finally {
  await browser.close();
}
for (const problem of problems) console.log(problem);
console.log(`site: ${pages.length} pages looked at in ${shots}, ${problems.length} problems`);
process.exit(problems.length ? 1 : 0);
