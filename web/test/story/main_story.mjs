// SPDX-License-Identifier: Apache-2.0
// The story with the mouse: choose, run, look, lasso, correct, run again, compare, export.
import assert from "node:assert/strict";
import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { drawLasso, legend, paintedPixels, settle, sum, until } from "./stage.mjs";

const json = (page, path) => page.evaluate(async (p) => (await fetch(p)).json(), path);
const ints = (page, path) => page.evaluate(async (p) => Array.from(new Int32Array(await (await fetch(p)).arrayBuffer())), path);
const runId = (page) => new URLSearchParams(new URL(page.url()).hash.slice(1)).get("run");

export async function chooseAndRun(page, set, context) {
  await page.locator("fieldset").nth(0).getByRole("button", { name: set }).click();
  await page.locator("fieldset").nth(1).getByRole("button", { name: context }).click();
  await page.getByTestId("run").click();
  await page.locator("[data-part='1'] .part-numbers").waitFor();
}

export async function chooseStory(stage, page) {
  await page.getByTestId("map").waitFor();
  assert.equal(await page.getByTestId("run").isDisabled(), true, "nothing is chosen yet");
  await stage.shot(page, "01-collection");
  await stage.check(page, "the collection");
  await page.locator("summary", { hasText: "Options" }).click();
  await stage.check(page, "the options");
  await page.getByLabel("Restarts").fill("-3");
  await page.getByText("must be at least 1").waitFor();
  assert.equal(await page.getByTestId("run").isDisabled(), true, "a wrong option is not sent");
  await page.getByLabel("Restarts").fill("3");
  await chooseAndRun(page, /^bars/, /^discs/);
  const sizes = await legend(page);
  assert.equal(sizes.length, 2);
  assert.ok(sizes.every(([, size]) => size > 0), `both parts have members: ${sizes}`);
  await stage.shot(page, "02-split");
  await stage.check(page, "the split");
}

// Which renderer draws is known; the pixels say that it did.
export async function mapStory(stage, page) {
  const map = page.getByTestId("map");
  assert.equal(await map.getAttribute("data-renderer"), "webgl");
  await until("the points are painted", async () => (await paintedPixels(page)) > 200);
  const before = await legend(page);
  await page.getByRole("button", { name: /^Lasso/ }).click();
  await drawLasso(page, [[0.02, 0.02], [0.98, 0.02], [0.98, 0.98], [0.02, 0.98]]);
  await until("the lasso selects", async () => sum((await legend(page)).map(([n]) => n)) > 0);
  assert.deepEqual((await legend(page)).map(([, size]) => size), before.map(([, size]) => size));
  assert.equal(sum((await legend(page)).map(([n]) => n)), sum(before.map(([, size]) => size)), "everything is inside");
  await page.getByRole("button", { name: /^Box/ }).click();
  await drawLasso(page, [[0.5, 0.02], [0.98, 0.98]]);
  await until("the box selects fewer", async () => sum((await legend(page)).map(([n]) => n)) < sum(before.map(([, n]) => n)));
  const [marked] = await legend(page);
  assert.equal(await page.locator("[data-part='0'] [aria-selected=true]").count() > 0, marked[0] > 0, "gallery and legend agree");
  await stage.shot(page, "03-selected");
  await stage.check(page, "a selection");
  await page.keyboard.press("Escape");
  await page.locator("select[title=Axes]").selectOption("own");
  await page.locator("select[title='Colour by']").selectOption("margin");
  await settle(page);
  await until("the decision values are painted", async () => (await paintedPixels(page)) > 200);
  await stage.shot(page, "04-decisions");
  await page.locator("select[title=Axes]").selectOption("pca");
  await page.locator("select[title='Colour by']").selectOption("part");
  await page.getByRole("button", { name: /^Hand/ }).click();
  await page.locator("[data-part='0'] .tile").first().click();
  await page.getByRole("button", { name: /^Fit everything, or/ }).click(); // the selection
  await map.hover();
  await page.mouse.wheel(0, 400);
  await until("images appear when zoomed in", async () => Number(await map.getAttribute("data-thumbs")) > 0);
  await stage.shot(page, "05-zoomed");
  await page.keyboard.press("Escape");
  await page.keyboard.press("0"); // was dead after the wheel
  await until("the key fits everything", async () => (await map.getAttribute("data-zoom")) === "1.00");
}

export async function correctStory(stage, page) {
  const first = runId(page);
  await page.locator("select[title=Order]").selectOption("border");
  await settle(page);
  const row = Number(await page.locator("[data-part='0'] .tile").first().getAttribute("data-row"));
  const before = await legend(page);
  await page.locator(`[data-part='0'] [data-row='${row}']`).dragTo(page.locator("[data-part='1'] .grid-box"));
  await until("the image has moved", async () => (await legend(page))[0][1] === before[0][1] - 1);
  await page.keyboard.press("Control+z");
  await until("undone", async () => (await legend(page))[0][1] === before[0][1]);
  await page.keyboard.press("Control+Shift+z");
  await until("done again", async () => (await legend(page))[0][1] === before[0][1] - 1);
  await page.locator("[data-part='0'] .tile").nth(1).click();
  await page.locator("[data-part='0'] .tile").nth(2).click({ modifiers: ["Control"] });
  await page.getByRole("button", { name: "Must stay together" }).click();
  await page.locator("[data-part='0'] .tile").nth(3).click();
  await page.keyboard.press("p");
  await page.getByRole("button", { name: "3 corrections" }).click();
  await stage.check(page, "the list of corrections");
  await page.keyboard.press("Escape");
  await stage.shot(page, "06-corrected");
  await page.getByTestId("rerun").click();
  await until("another run is open", async () => runId(page) && runId(page) !== first && (await page.locator("[data-part='1'] .part-numbers").count()) > 0);
  const id = runId(page);
  const rows = await ints(page, `/api/runs/${id}/column/rows`);
  const labels = await ints(page, `/api/runs/${id}/column/labels`);
  assert.equal(labels[rows.indexOf(row)], 1, "the method keeps the correction");
  assert.equal((await json(page, `/api/runs/${id}`)).request.constraints.must_link.length, 1);
  await stage.shot(page, "07-run-again");
  return first;
}

export async function nameStory(stage, page) {
  const name = page.locator("[data-part='0'] .editable");
  await name.click();
  await page.locator(".part-head input").fill("dark ones");
  await page.keyboard.press("Enter");
  await until("the legend has the name", async () => (await page.locator(".legend").innerText()).includes("dark ones"));
  await page.locator("[data-part='1'] .editable").click();
  await page.locator(".part-head input").fill("for a moment");
  await page.keyboard.press("Enter");
  await until("the other part has a name", async () => (await page.locator(".legend").innerText()).includes("for a moment"));
  await page.locator("[data-part='1'] .editable").click();
  await page.locator(".part-head input").fill("");
  await page.keyboard.press("Enter");
  await until("a cleared name gives the number back", async () => (await page.locator(".legend").innerText()).includes("Part 2"));
  await page.locator(".run-title .editable").click();
  await page.locator(".run-title input").fill("My split");
  await page.keyboard.press("Enter");
  await until("the history has the name", async () => (await page.locator(".history").innerText()).includes("My split"));
  await until("the server has them", async () => {
    const detail = await json(page, `/api/runs/${runId(page)}`);
    return detail.name === "My split" && detail.parts[0].name === "dark ones"
      && detail.parts[0].named_by === "hand" && detail.parts[1].named_by === "number";
  });
}

export async function compareStory(stage, page, other) {
  await page.getByRole("button", { name: "Compare", exact: true }).click();
  await page.locator(".cross, .compare-galleries").first().waitFor(); // not an empty page with a list
  await page.locator(".compare select").selectOption(other);
  await page.locator(".cross").waitFor();
  assert.equal(await page.locator(".gallery-side").count(), 2, "two galleries side by side");
  assert.ok(await page.locator(".gallery-part .strip button").count() > 4, "with images");
  await stage.check(page, "two galleries");
  await stage.shot(page, "07-galleries");
  await page.getByRole("button", { name: "Maps", exact: true }).click();
  const cells = (await page.locator(".cross-cell").allInnerTexts()).map((text) => Number(text.replace(/,/g, "")));
  assert.equal(sum(cells), sum((await json(page, `/api/runs/${runId(page)}`)).parts.map((p) => p.size)));
  const most = cells.indexOf(Math.max(...cells));
  await page.locator(".cross-cell button").nth(most).click();
  await page.locator(".strip").waitFor();
  await stage.shot(page, "08-compare");
  await stage.check(page, "the comparison");
  await page.keyboard.press("Escape");
}

export async function contextsStory(stage, page) {
  await page.getByRole("button", { name: "Contexts", exact: true }).click();
  await stage.check(page, "before a ranking");
  await page.getByRole("button", { name: "Rank all contexts" }).click();
  await page.locator(".contexts tbody tr").first().waitFor();
  assert.equal(await page.locator(".contexts tbody tr").count(), 4, "every other class is a context, and all together");
  await stage.shot(page, "09-contexts");
  await stage.check(page, "the ranking");
  await page.getByRole("button", { name: "Maps" }).click();
  await stage.shot(page, "10-multiples");
  await page.locator(".multiples .button").first().click();
  await page.locator("[data-part='1'] .part-numbers").waitFor();
  await page.getByRole("button", { name: "Details", exact: true }).click();
  await stage.shot(page, "11-details");
  await stage.check(page, "the details");
  await page.getByRole("button", { name: "Look", exact: true }).click();
}

async function download(page, stage, testId) {
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByTestId(testId).click()]);
  const path = join(stage.folder, testId);
  await file.saveAs(path);
  return path;
}

export async function exportStory(stage, page) {
  await page.locator("[data-part='0'] .tile").first().click();
  await page.getByTestId("export").click();
  await stage.check(page, "export");
  await stage.shot(page, "12-export");
  const detail = await json(page, `/api/runs/${runId(page)}`);
  const csv = readFileSync(await download(page, stage, "labels.csv"), "utf8").trim().split("\n");
  assert.equal(csv.length, detail.n + 1, "one line per row and the header");
  JSON.parse(readFileSync(await download(page, stage, "labels.json"), "utf8"));
  const report = await download(page, stage, "report.html");
  await page.getByTestId("folders-copy").click();
  const folder = await until("the folder is named", async () =>
    (await page.getByRole("textbox", { name: "Folder" }).count()) && page.getByRole("textbox", { name: "Folder" }).innerText());
  await page.getByTestId("folders-link").click();
  await page.getByText("linked into").waitFor();
  const [part] = readdirSync(folder);
  const [image] = readdirSync(join(folder, part));
  assert.ok(lstatSync(join(folder, part, image)).isSymbolicLink(), "a link, not a copy");
  assert.ok(statSync(join(folder, part, image)).size > 54, "that leads to the image");
  await page.getByTestId("folders-zip").click();
  await page.getByText("zipped into").waitFor();
  const archive = await page.getByRole("textbox", { name: "Folder" }).innerText();
  assert.equal(readFileSync(archive).subarray(0, 2).toString(), "PK", archive);
  const command = await page.getByRole("textbox", { name: "Command line" }).innerText();
  assert.match(command, /milieu dcp /);
  const link = await page.getByRole("textbox", { name: "Link to this view" }).innerText();
  await page.keyboard.press("Escape");
  const rows = await ints(page, `/api/runs/${detail.id}/column/labels`);
  return { report, folder, command, link, labels: rows, isThere: existsSync(folder) };
}

// The link opened again shows the same run and selection; a reload in the middle of a run loses nothing.
export async function linkStory(stage, page, link) {
  await page.goto("about:blank");
  await page.goto(link);
  await page.getByTestId("selected").waitFor();
  assert.match(await page.getByTestId("selected").innerText(), /^1 /);
  await page.keyboard.press("Escape");
  const before = await page.locator(".run-item").count();
  await page.getByTestId("run").click();
  await until("the run is listed", async () => (await page.locator(".run-item").count()) > before);
  await page.reload();
  await page.locator("[data-part='1'] .part-numbers").waitFor();
  assert.equal(await page.locator(".run-item").count(), before + 1);
  stage.noProblems("after a reload");
}
