// SPDX-License-Identifier: Apache-2.0
// What a story needs: a server (the real one or the mock), a browser, screenshots, the checks that
// every view has to pass. Nothing here waits for the clock: always for what the page shows.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const kAxe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const kBrowsers = [process.env.MILIEU_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
export const kPatience = Number(process.env.MILIEU_STORY_TIMEOUT ?? 60000);

export function findBrowser() {
  return kBrowsers.find((path) => path && existsSync(path));
}

export async function startServer(command, args) {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  const address = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", resolve);
    child.once("exit", (code) => reject(new Error(`${command} ${args.join(" ")} ended with ${code}`)));
  });
  const stop = () => new Promise((resolve) => { child.removeAllListeners("exit"); child.once("exit", resolve); child.kill("SIGINT"); });
  return { address, stop, origin: new URL(address).origin };
}

export class Stage {
  constructor(browser, folder) {
    this.browser = browser;
    this.folder = folder;
    this.problems = [];
    mkdirSync(folder, { recursive: true });
  }

  static async open(folder, flags = []) {
    const browser = await chromium.launch({ executablePath: findBrowser(), timeout: kPatience,
      args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", ...flags] });
    return new Stage(browser, folder);
  }

  // A page that may only speak to `origin`, and whose errors end the story.
  async page(origin, options = {}) {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: "light", acceptDownloads: true, reducedMotion: "reduce", ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(kPatience);
    page.on("pageerror", (error) => this.problems.push(`error on the page: ${error.stack ?? error}`));
    page.on("console", (message) => {
      if (message.type() === "error") this.problems.push(`console: ${message.text()} ${message.location().url}`);
    });
    page.on("request", (request) => {
      const url = request.url();
      if (!/^(data|blob):/.test(url) && !url.startsWith(origin)) this.problems.push(`a request to another host: ${url}`);
    });
    return page;
  }

  async shot(page, name) {
    await page.screenshot({ path: join(this.folder, `${name}.png`) });
  }

  // No accessibility violation, no horizontal scrolling of the whole page.
  async check(page, where) {
    await page.evaluate(kAxe);
    const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
    const text = found.violations.map((v) => `${v.id}: ${v.help}\n  ${v.nodes.slice(0, 3).map((n) => `${n.html}\n  ${n.failureSummary}`).join("\n  ")}`).join("\n");
    assert.equal(found.violations.length, 0, `accessibility, ${where}:\n${text}`);
    const [inner, whole] = await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth]);
    assert.ok(whole <= inner + 1, `${where} is ${whole} pixels wide in a window of ${inner}`);
    this.noProblems(where);
  }

  noProblems(where) {
    assert.deepEqual(this.problems, [], where);
  }

  // What was on the screen when a story failed.
  async shootAll(name) {
    for (const context of this.browser.contexts())
      for (const [i, page] of context.pages().entries()) await this.shot(page, `${name}-${i}`).catch(() => undefined);
  }

  async close() { await this.browser.close(); }
}

// The state of the page's legend: [selected, size] of each part.
export async function legend(page) {
  const texts = await page.locator("[data-testid^=legend-]").allInnerTexts();
  return texts.map((text) => text.replace(/[^\d/]/g, "").split("/").map(Number)).map((n) => (n.length === 2 ? n : [0, n[0]]));
}

export async function drawLasso(page, corners) {
  const box = await page.getByTestId("map").boundingBox();
  const at = ([x, y]) => [box.x + box.width * x, box.y + box.height * y];
  await page.mouse.move(...at(corners[0]));
  await page.mouse.down();
  for (const corner of corners.slice(1)) await page.mouse.move(...at(corner), { steps: 6 });
  await page.mouse.up();
}

// Two frames later the page has drawn what it was given.
export const settle = (page) => page.evaluate(() => new Promise((resolve) => {
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(true)));
}));

// How many pixels of the map's canvas are painted.
export const paintedPixels = (page) => page.evaluate(() => {
  const canvas = document.querySelector(".scatter-points");
  const copy = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height });
  const context = copy.getContext("2d");
  context.drawImage(canvas, 0, 0);
  const { data } = context.getImageData(0, 0, copy.width, copy.height);
  let painted = 0;
  for (let i = 3; i < data.length; i += 4) painted += data[i] > 0 ? 1 : 0;
  return painted;
});

export const sum = (list) => list.reduce((total, v) => total + v, 0);

export async function until(what, test) {
  const end = Date.now() + kPatience;
  for (;;) {
    const value = await test();
    if (value) return value;
    if (Date.now() > end) throw new Error(`waited in vain for: ${what}`);
    await new Promise((resolve) => { setTimeout(resolve, 50); });
  }
}
