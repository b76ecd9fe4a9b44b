// SPDX-License-Identifier: Apache-2.0
// Features, the map by neighbours, filters and the table, on a flat folder.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { writeFlatFolder } from "./curator_stories.mjs";
import { inOtherWindows } from "./other_stories.mjs";
import { settle, startServer, until } from "./stage.mjs";

const kNames = ".image-table tbody tr[data-row] td:nth-child(3)";
const tableNames = (page) => page.locator(kNames).allInnerTexts();

async function neighborMap(page, stage) {
  await page.locator("select[title=Axes]").selectOption("neighbors");
  await page.getByText("neighbours are alike").waitFor();
  await settle(page);
  await stage.shot(page, "90-neighbor-map");
  await stage.check(page, "the map by neighbours");
  const map = page.getByTestId("map");
  await until("a small set has its images on the map", async () => Number(await map.getAttribute("data-thumbs")) > 20);
  await page.locator(".map-bar").getByLabel("Images").uncheck();
  await until("without images", async () => Number(await map.getAttribute("data-thumbs")) === 0);
  await page.reload();
  await page.getByText("neighbours are alike").waitFor(); // the link has it, the server keeps it
}

async function secondFeature(page, stage) {
  await page.locator("select[title=Feature]").selectOption("+");
  await page.getByRole("dialog", { name: /another feature/ }).waitFor();
  await stage.shot(page, "91-features");
  await stage.check(page, "the features");
  await page.getByRole("button", { name: "Describe by color", exact: true }).click();
  await until("color is chosen", async () => (await page.locator("select[title=Feature]").inputValue()) === "color");
  await page.getByText("neighbours are alike").waitFor(); // its own map
  assert.match(page.url(), /feature=color/);
  await page.locator("#method").selectOption("kmeans");
  await page.getByTestId("run").click();
  await page.locator("[data-part='1'] .part-numbers").waitFor();
  await page.getByRole("button", { name: "Details", exact: true }).click();
  await page.getByText("--feature color").first().waitFor();
  await page.getByRole("button", { name: "Look", exact: true }).click();
}

async function filters(page, stage, folder) {
  const file = join(folder, "rings_003.bmp");
  utimesSync(file, 1.5e9, 1.5e9); // July 2017
  await page.reload();
  await page.locator(".tile").first().waitFor();
  await page.getByTestId("criteria").click();
  await page.getByLabel("Date, to").fill("2017-12-31");
  await until("one image is that old", async () => /^1 of 60/.test(await page.getByTestId("shown").innerText()));
  await stage.shot(page, "94-filter");
  await stage.check(page, "the filter");
  await page.getByRole("button", { name: "Select them" }).click();
  assert.match(await page.getByTestId("selected").innerText(), /^1 selected/);
  const link = page.url();
  await page.goto("about:blank");
  await page.goto(link);
  await until("the link has the filter", async () => /^1 of 60/.test(await page.getByTestId("shown").innerText()));
  await page.getByRole("button", { name: "Show all" }).click();
  const kilobytes = statSync(file).size / 1000;
  await page.getByTestId("criteria").click();
  await page.getByLabel("Size, from").fill(String(kilobytes + 1));
  await page.getByLabel("Size, from").press("Tab");
  await until("none is larger", async () => /^0 of 60/.test(await page.getByTestId("shown").innerText()));
  await page.getByRole("button", { name: "Show all" }).click();
  await page.getByTestId("criteria").click();
}

async function table(page, stage, names) {
  await page.getByRole("button", { name: "Table", exact: true }).click();
  await page.getByTestId("table").waitFor();
  const head = (name) => page.getByTestId("table").getByRole("button", { name, exact: true });
  await head("Name").click();
  await until("by name", async () => (await tableNames(page))[0] === names[0]);
  await head("Name").click();
  await until("by name, last first", async () => (await tableNames(page))[0] === names.at(-1));
  await head("Date").click();
  await head("Date").click();
  await until("the oldest first", async () => (await tableNames(page))[0] === "rings_003.bmp");
  await page.locator(".image-table tbody input").first().check();
  assert.match(await page.getByTestId("selected").innerText(), /^1 selected/);
  await stage.shot(page, "95-table");
  await stage.check(page, "the table");
  const heights = await page.locator(".image-table tbody tr[data-row]").evaluateAll((lines) => [...new Set(lines.map((line) => line.offsetHeight))]);
  assert.deepEqual(heights, [46], "all lines are as high as the scroll bar counts");
  await page.getByTestId("table").evaluate((element) => { element.scrollTop = element.scrollHeight; });
  await until("the last line comes into view", async () => (await page.locator(".image-table tr[aria-rowindex='61']").count()) === 1);
}

async function tableAndMap(stage, page, name) {
  await page.getByTestId("table").waitFor();
  await page.getByTestId("table").scrollIntoViewIfNeeded();
  await stage.shot(page, `96-${name}-table`);
  await stage.check(page, `${name}, the table`);
  await page.getByRole("button", { name: "Map", exact: true }).click();
  await page.getByText("neighbours are alike").waitFor();
  await page.getByTestId("map").scrollIntoViewIfNeeded();
  await settle(page);
  await stage.shot(page, `97-${name}-neighbor-map`);
  await stage.check(page, `${name}, the map by neighbours`);
}

export async function spacesStory(stage, program, folder) {
  const place = mkdtempSync(join(folder, "spaces-"));
  const flat = writeFlatFolder(place, 15);
  const server = await startServer(program, ["explore", flat, "--feature", "tiny", "--no-browser", "--port", "0", "--runs", join(place, "runs")]);
  try {
    const page = await stage.page(server.origin);
    await page.goto(server.address);
    await page.getByTestId("map").waitFor();
    await neighborMap(page, stage);
    await secondFeature(page, stage);
    await filters(page, stage, flat);
    await table(page, stage, readdirSync(flat).sort());
    stage.noProblems("features, maps, filters, table");
    await inOtherWindows(stage, server, page.url(), (other, name) => tableAndMap(stage, other, name));
    await page.context().close();
  } finally {
    await server.stop();
  }
}
