// SPDX-License-Identifier: Apache-2.0
// A curator's day: from a flat folder of 200 images to named, corrected, exported parts.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeImages } from "./images.mjs";
import { legend, startServer, until } from "./stage.mjs";

const json = (page, path) => page.evaluate(async (p) => (await fetch(p)).json(), path);
const runId = (page) => new URLSearchParams(new URL(page.url()).hash.slice(1)).get("run");

// Every image of the classes in one folder, under its class's name: the truth is in the names only.
export function writeFlatFolder(folder, each = 50) {
  writeImages(join(folder, "sorted"), each);
  const flat = join(folder, "flat");
  mkdirSync(flat);
  for (const name of readdirSync(join(folder, "sorted")))
    for (const file of readdirSync(join(folder, "sorted", name))) copyFileSync(join(folder, "sorted", name, file), join(flat, file));
  return flat;
}

// The lines of the exported table, as objects.
async function exportedTable(page, stage) {
  await page.getByTestId("export").click();
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByTestId("labels.csv").click()]);
  const path = join(stage.folder, "curator.csv");
  await file.saveAs(path);
  await page.keyboard.press("Escape");
  const [head, ...lines] = readFileSync(path, "utf8").trim().split("\n").map((line) => line.split(","));
  return lines.map((cells) => Object.fromEntries(cells.map((cell, i) => [head[i], cell])));
}

async function runClusters(page, stage) {
  await page.getByTestId("map").waitFor();
  await page.getByTestId("flat-hint").waitFor(); // a set has to come from somewhere
  await stage.shot(page, "70-flat");
  await page.getByRole("button", { name: "find clusters first" }).click();
  await page.locator("#num-parts").fill("4");
  await page.locator("#num-parts").press("Tab");
  await page.getByTestId("run").click();
  await page.locator("[data-part='3'] .part-numbers").waitFor();
}

async function findByName(page) {
  await page.getByTestId("find").fill("rings_00");
  await page.getByRole("button", { name: "Gallery", exact: true }).click();
  await until("ten images are found", async () => (await page.locator(".tile").count()) === 10);
  assert.match(await page.getByTestId("shown").innerText(), /^10 of 200/);
  await page.getByTestId("find").fill("");
  await page.getByRole("button", { name: "Map and gallery" }).click();
}

async function correct(page, stage) {
  const before = await legend(page);
  const rows = [];
  for (const i of [0, 1, 2]) rows.push(Number(await page.locator("[data-part='0'] .tile").nth(i).getAttribute("data-row")));
  await page.locator(`[data-row='${rows[0]}']`).first().click();
  await page.locator(`[data-row='${rows[1]}']`).first().click({ modifiers: ["Control"] });
  await page.locator("select[title='Move to']").selectOption("new");
  await page.getByTestId("legend-4").waitFor();
  await page.getByTestId("tag").fill("odd");
  await page.getByTestId("tag").press("Enter");
  await page.keyboard.press("Escape");
  await page.locator(`[data-row='${rows[2]}']`).first().click();
  await page.keyboard.press("a"); // set aside
  await page.getByTestId("legend-none").waitFor();
  const after = await legend(page);
  assert.equal(after[0][1], before[0][1] - 3);
  await page.locator("[data-part='4'] .editable").click();
  await page.locator(".part-head input").fill("strange");
  await page.keyboard.press("Enter");
  await stage.shot(page, "71-corrected-clusters");
  await stage.check(page, "corrected clusters");
  return rows;
}

async function checkExport(page, stage, rows) {
  const table = await exportedTable(page, stage);
  assert.equal(table.length, 200);
  const line = (row) => table.find((one) => Number(one.row) === row);
  assert.deepEqual([line(rows[0]).part, line(rows[1]).part, line(rows[2]).part], ["strange", "strange", ""]);
  assert.deepEqual([line(rows[0]).tags, line(rows[2]).by_hand], ["odd", "1"]);
  const original = (await json(page, `/api/runs/${runId(page)}`)).n;
  assert.equal(original, 200);
}

// Margins by distances to means are the page's own: a run folder has no vectors.
const withoutMargins = (table) => table.split("\n").map((line) => line.split(",").filter((_, i) => i !== 3).join(",")).join("\n");

// The images themselves, by part: bytes of the originals; and the command line exports the same table.
async function checkImages(page, stage, { program, flat, place }, rows) {
  const to = join(place, "sorted-by-hand");
  await page.getByTestId("export").click();
  await page.getByTestId("folders-to").fill(to);
  await page.getByTestId("folders-copy").click();
  await page.getByText("copied into").waitFor();
  await page.keyboard.press("Escape");
  const table = await exportedTable(page, stage);
  const named = rows.slice(0, 2).map((row) => table.find((line) => Number(line.row) === row).sample).sort();
  assert.deepEqual(readdirSync(join(to, "strange")).sort(), named);
  const folders = readdirSync(to);
  assert.equal(folders.flatMap((name) => readdirSync(join(to, name))).length, 199, "one was set aside");
  for (const folder of folders)
    for (const name of readdirSync(join(to, folder)))
      assert.ok(readFileSync(join(to, folder, name)).equals(readFileSync(join(flat, name))), `${folder}/${name}`);
  const fromShell = execFileSync(program, ["export", join(place, "runs", runId(page), "run")]).toString();
  const fromPage = readFileSync(join(stage.folder, "curator.csv"), "utf8");
  assert.equal(withoutMargins(fromShell), withoutMargins(fromPage), "milieu export gives what the page gives");
}

// A part split by a run of its own, whose parts come back into the result.
async function splitAndMerge(page, stage) {
  const parent = runId(page);
  const before = await legend(page);
  await page.locator("[data-part='1'] select").selectOption("split");
  await page.getByTestId("adopt").waitFor();
  await page.getByTestId("adopt").click();
  await until("the result has one part more", async () => runId(page) === parent && (await page.getByTestId("legend-5").count()) > 0);
  const after = await legend(page);
  assert.equal(after[1][1] + after[5][1], before[1][1], "nothing was lost");
  await page.locator("[data-part='5'] select").selectOption("1"); // merge it back
  await until("merged", async () => (await legend(page))[1][1] === before[1][1]);
  await stage.check(page, "after split and merge");
}

async function history(page, stage) {
  await page.getByRole("button", { name: /corrections?$/ }).click();
  const steps = page.locator(".edit-history li button");
  assert.ok((await steps.count()) >= 5, "every step is listed");
  await stage.shot(page, "72-history");
  await stage.check(page, "the history");
  await steps.first().click();
  await page.keyboard.press("Escape");
  await until("as the method left it", async () => (await page.locator("[data-testid=legend-none]").count()) === 0);
  await page.keyboard.press("Control+Shift+z");
  await page.keyboard.press("Control+Shift+z");
}

async function lookClosely(page, stage) {
  await page.locator("[data-part='0'] .tile").nth(3).dblclick();
  const image = page.locator(".zoom-image");
  await image.waitFor();
  await page.locator(".alike button").first().waitFor();
  await image.press("+");
  await until("zoomed in", async () => Number(await image.getAttribute("data-zoom")) > 1);
  await stage.shot(page, "73-viewer");
  await stage.check(page, "the viewer");
  await page.keyboard.press("Escape");
}

// A copied link in another browser asks for the token and then shows what it was copied for.
async function otherBrowser(stage, server, link) {
  const page = await stage.page(server.origin);
  await page.goto(link);
  await page.getByLabel("Address or token").fill(server.address);
  await stage.shot(page, "74-door");
  await page.getByRole("button", { name: "Open" }).click();
  await page.locator("[data-part='0'] .tile").first().waitFor();
  assert.equal(runId(page), new URLSearchParams(new URL(link).hash.slice(1)).get("run"));
  stage.problems = stage.problems.filter((text) => !/401/.test(text)); // the browser tells of the refusal
  await page.context().close();
}

export async function curatorStory(stage, program, folder) {
  const place = mkdtempSync(join(folder, "curator-"));
  const flat = writeFlatFolder(place);
  const server = await startServer(program, ["explore", flat, "--feature", "tiny", "--no-browser", "--port", "0", "--runs", join(place, "runs")]);
  try {
    const page = await stage.page(server.origin);
    await page.goto(server.address);
    await runClusters(page, stage);
    await findByName(page);
    const rows = await correct(page, stage);
    await checkExport(page, stage, rows);
    await checkImages(page, stage, { program, flat, place }, rows);
    await page.reload(); // what was corrected is kept in the run's folder
    await page.getByTestId("legend-4").waitFor();
    await checkExport(page, stage, rows);
    await splitAndMerge(page, stage);
    await history(page, stage);
    await lookClosely(page, stage);
    await page.locator("select[title=Order]").selectOption("odd");
    await until("the distances are here", async () => (await page.locator("[data-part='0'] .tile").count()) > 0);
    stage.noProblems("a curator's day");
    const link = page.url();
    await page.context().close();
    await otherBrowser(stage, server, link);
  } finally {
    await server.stop();
  }
}
