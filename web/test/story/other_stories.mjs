// SPDX-License-Identifier: Apache-2.0
// The stories beside the main one: keyboard only, narrow and enlarged windows, dark, no WebGL, the
// report from a file.
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { legend, Stage, sum, until } from "./stage.mjs";

const focused = (page) => page.evaluate(() => {
  const e = document.activeElement;
  return `${e?.getAttribute("aria-label") ?? ""}|${e?.textContent ?? ""}|${e?.id ?? ""}`;
});

// Presses Tab until what has the focus matches.
export async function tabTo(page, pattern, most = 80) {
  for (let i = 0; i < most; ++i) {
    await page.keyboard.press("Tab");
    if (pattern.test(await focused(page))) return;
  }
  throw new Error(`Tab does not lead to ${pattern}; the last was ${await focused(page)}`);
}

export async function keyboardStory(stage, address) {
  const page = await stage.page(new URL(address).origin);
  await page.goto(address);
  await page.getByTestId("map").waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await stage.shot(page, "20-keys");
  await stage.check(page, "the keys");
  await page.keyboard.press("Escape");
  await tabTo(page, /\|rings/);
  await page.keyboard.press("Space");
  await tabTo(page, /Everything else/);
  await page.keyboard.press("Space");
  await page.keyboard.press("r");
  await page.locator("[data-part='1'] .part-numbers").waitFor();
  await tabTo(page, /\|part-0$/);
  const before = await legend(page);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Space");
  await until("an image is selected by key", async () => sum((await legend(page)).map(([n]) => n)) === 1);
  await page.keyboard.press("2");
  await until("the key moves it", async () => (await legend(page))[1][1] === before[1][1] + 1);
  await page.keyboard.press("Control+z");
  await until("the key undoes it", async () => (await legend(page))[1][1] === before[1][1]);
  await page.keyboard.press("Control+y");
  await page.keyboard.press("Enter");
  await page.locator(".image-dialog").waitFor();
  await page.keyboard.press("ArrowRight");
  await stage.check(page, "an image");
  await stage.shot(page, "21-image");
  await page.keyboard.press("Escape");
  const runs = await page.locator(".run-item").count();
  await page.keyboard.press("Shift+R");
  await until("run again by key", async () => (await page.locator(".run-item").count()) === runs + 1);
  await page.locator("[data-part='1'] .part-numbers").waitFor();
  await boxByKeys(page);
  await page.keyboard.press("s");
  await page.getByRole("dialog", { name: "Export" }).waitFor();
  await page.keyboard.press("Escape");
  stage.noProblems("keyboard");
  await page.context().close();
}

// A box on the map without a mouse: the cross-hair goes to two corners.
async function boxByKeys(page) {
  await page.keyboard.press("b");
  await tabTo(page, /^Map of/);
  for (let i = 0; i < 24; ++i) { await page.keyboard.press("Shift+ArrowLeft"); }
  for (let i = 0; i < 24; ++i) { await page.keyboard.press("Shift+ArrowUp"); }
  await page.keyboard.press("Space");
  for (let i = 0; i < 48; ++i) { await page.keyboard.press("Shift+ArrowRight"); }
  for (let i = 0; i < 48; ++i) { await page.keyboard.press("Shift+ArrowDown"); }
  await page.keyboard.press("Space");
  await until("the box of keys selects", async () => sum((await legend(page)).map(([n]) => n)) > 0);
  await page.keyboard.press("Escape");
}

export const kWindows = [
  { name: "30-telephone", options: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true } },
  { name: "31-enlarged", options: { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 } }, // 200 % of 1280 x 800
  { name: "32-dark", options: { colorScheme: "dark" } },
];

// Visits a link on a telephone and in the dark.
export async function inOtherWindows(stage, server, link, visit) {
  for (const { name, options } of kWindows.filter((window) => /telephone|dark/.test(window.name))) {
    const page = await stage.page(server.origin, options);
    await page.goto(server.address);
    await page.locator("#method").waitFor();
    await page.goto("about:blank");
    await page.goto(link);
    await visit(page, name);
    await page.context().close();
  }
}

export async function windowsStory(stage, address, link) {
  for (const { name, options } of kWindows) {
    const page = await stage.page(new URL(address).origin, options);
    await page.goto(address);
    await page.getByRole("heading", { name: "Milieu" }).waitFor();
    await page.locator("fieldset").first().waitFor();
    await stage.shot(page, `${name}-choose`);
    await stage.check(page, `${name}, choosing`);
    await page.goto("about:blank");
    await page.goto(link);
    await page.locator("[data-part='0'] .part-numbers").waitFor();
    await until("images are in", () => page.locator("[data-part='0'] .tile").count());
    await stage.shot(page, `${name}-gallery`);
    await stage.check(page, `${name}, the gallery`);
    if (name !== "32-dark") {
      await page.getByRole("button", { name: "Map", exact: true }).click();
      await page.getByTestId("map").waitFor();
    }
    await page.getByTestId("map").scrollIntoViewIfNeeded();
    await stage.shot(page, `${name}-map`);
    await stage.check(page, `${name}, the map`);
    await page.context().close();
  }
}

export async function reportStory(stage, path) {
  const address = pathToFileURL(path).href;
  const page = await stage.page("file://");
  await page.goto(address);
  await page.locator("[data-part='1'] .part-numbers").waitFor();
  await until("images are in", () => page.locator("[data-part='0'] .tile .image").count());
  assert.equal(await page.getByTestId("run").count(), 0, "a report offers nothing to run");
  const sizes = await legend(page);
  assert.ok(sum(sizes.map(([, n]) => n)) > 0);
  await page.locator("[data-part='0'] .tile").first().click();
  await until("selecting works", async () => (await legend(page))[0][0] === 1);
  await stage.shot(page, "40-report");
  await stage.check(page, "the report");
  await page.context().close();
}

// Without WebGL the map is drawn on a plain canvas, and selects alike.
export async function plainCanvasStory(folder, address, link) {
  const stage = await Stage.open(folder, ["--disable-gpu", "--disable-3d-apis"]);
  try {
    const page = await stage.page(new URL(address).origin);
    await page.goto(address);
    await page.getByTestId("map").waitFor();
    await page.goto("about:blank");
    await page.goto(link);
    await page.locator("[data-testid=map][data-renderer=canvas]").waitFor();
    await page.keyboard.press("Control+a");
    await until("everything is selected", async () => (await legend(page)).every(([n, size]) => n === size));
    await stage.shot(page, "50-no-webgl");
    stage.problems = stage.problems.filter((text) => !/webgl/i.test(text));
    stage.noProblems("no WebGL");
  } finally {
    await stage.close();
  }
}
