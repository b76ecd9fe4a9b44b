// SPDX-License-Identifier: Apache-2.0
// Every method from its defaults, on a flat folder without classes, as a person would: choose it,
// press Run, see parts.
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { writeFlatFolder } from "./curator_stories.mjs";
import { inOtherWindows } from "./other_stories.mjs";
import { startServer, sum, until, legend } from "./stage.mjs";

const kContextMethods = ["cac", "dcp", "icc", "exemplar", "dlgmm"];
const json = (page, path) => page.evaluate(async (p) => (await fetch(p)).json(), path);

async function freshPage(page, server) {
  await page.goto("about:blank");
  await page.goto(server.origin);
  await page.locator("#method").waitFor();
}

// Waits for the end of the newest run; fails with its own message.
async function newestRun(page, count, method) {
  const runs = await until(`${method} ends`, async () => {
    const list = await json(page, "/api/runs");
    return list.length > count && !["queued", "running"].includes(list[0].state) ? list : null;
  });
  assert.equal(runs[0].method, method);
  assert.equal(runs[0].state, "done", `${method}: ${runs[0].error}`);
  await page.locator("[data-part='0'] .part-numbers").waitFor();
  const room = await page.locator(".run-facts > *").evaluateAll((facts) => facts.map((fact) => getComputedStyle(fact).paddingLeft));
  assert.deepEqual([...new Set(room)], ["15px"], `${method}: dots between the facts, warnings included, not on them`);
  return runs[0];
}

async function runDefaults(page, server, method) {
  await freshPage(page, server);
  const before = (await json(page, "/api/runs")).length;
  await page.locator("#method").selectOption(method);
  await page.getByTestId("run").click();
  const run = await newestRun(page, before, method);
  assert.equal(run.n, 60, method);
  assert.ok(run.clusters >= 1, method);
  assert.equal(sum((await legend(page)).map(([, size]) => size)), 60, `every image is shown: ${method}`);
}

// No classes and no selection: clusters first, then one of them against all others.
async function clustersThenContext(page, server) {
  await freshPage(page, server);
  assert.equal(await page.locator("fieldset").first().getByRole("button", { name: "Everything", exact: true }).count(), 0,
               "everything has nothing to be compared with");
  const before = (await json(page, "/api/runs")).length;
  await page.getByRole("button", { name: "find clusters first" }).click();
  await page.getByTestId("run").click();
  const clusters = await newestRun(page, before, "kmeans");
  const [, size] = (await legend(page))[0];
  await page.locator("[data-part='0'] .part-head select").selectOption("against");
  assert.equal(await page.locator("#method").inputValue(), "dcp");
  await page.getByTestId("run").click();
  const run = await newestRun(page, before + 1, "dcp");
  assert.deepEqual([run.n, clusters.n], [size, 60]);
  assert.ok(run.clusters >= 2);
}

// The number of parts can be left to a method that finds it.
async function automaticParts(page, server) {
  await freshPage(page, server);
  const before = (await json(page, "/api/runs")).length;
  await page.locator("#method").selectOption("exemplar");
  const automatic = page.getByTestId("auto-parts");
  assert.ok(await automatic.isChecked(), "exemplar's own default");
  await automatic.uncheck();
  await page.locator("#num-parts").fill("5");
  await page.locator("#num-parts").press("Tab");
  await page.getByTestId("run").click();
  assert.equal((await newestRun(page, before, "exemplar")).clusters, 5);
}

// In the enlarged image: what speaks for its part.
async function reasons(page, stage, name, shot) {
  await page.getByRole("button", { name: "Gallery", exact: true }).click();
  await page.locator("[data-part='0'] .tile").nth(1).dblclick();
  const strip = page.getByRole("region", { name });
  await strip.waitFor();
  assert.ok((await strip.locator("button").count()) > 0, name);
  await stage.shot(page, shot);
  await stage.check(page, name);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Map and gallery" }).click();
}

async function decisionsAndViewer(stage, page, name) {
  await page.locator("[data-part-decisions='1'] .axis-chart").waitFor();
  await page.locator("[data-part-decisions='0']").scrollIntoViewIfNeeded();
  await stage.shot(page, `92-${name}-inside-dcp`);
  await stage.check(page, `${name}, inside dcp`);
  await page.locator("[data-part-decisions='0'] .strip button").first().click();
  await page.getByRole("region", { name: "Nearest context images" }).waitFor();
  await stage.shot(page, `99-${name}-context`);
  await stage.check(page, `${name}, an image`);
}

// What dcp has beside parts: axes with the context on them, and context images.
async function insideDcp(page, stage, server) {
  await page.getByRole("button", { name: "Inside dcp" }).click();
  await page.locator("[data-part-decisions='1'] .axis-chart").waitFor();
  assert.ok((await page.locator("[data-part-decisions='0'] [data-testid=context-strip] button").count()) > 0);
  for (const chart of await page.locator(".axis-chart svg").all()) {
    const spans = await chart.locator("text").evaluateAll((texts) => texts.map((t) => t.getBoundingClientRect()).map((r) => [r.left, r.right]));
    spans.sort((a, b) => a[0] - b[0]);
    for (let i = 1; i < spans.length; ++i) assert.ok(spans[i - 1][1] < spans[i][0], "numbers under an axis stand apart");
  }
  await stage.shot(page, "92-inside-dcp");
  await stage.check(page, "inside dcp");
  await inOtherWindows(stage, server, page.url(), (other, name) => decisionsAndViewer(stage, other, name));
  await page.getByRole("button", { name: "Show two axes as a map" }).click();
  await page.locator(".axis-names", { hasText: "decision value" }).waitFor();
  await stage.shot(page, "93-decision-map");
}

export async function methodsStory(stage, program, folder) {
  const place = mkdtempSync(join(folder, "methods-"));
  const server = await startServer(program, ["explore", writeFlatFolder(place, 15), "--no-browser", "--port", "0", "--runs", join(place, "runs")]);
  try {
    const page = await stage.page(server.origin);
    await page.goto(server.address);
    await page.locator("#method").waitFor();
    const offered = await page.locator("#method option:not([disabled])").evaluateAll((options) => options.map((o) => o.value));
    for (const method of kContextMethods) assert.ok(offered.includes(method), `${method} is offered`);
    for (const method of offered) if (method !== "dcp") await runDefaults(page, server, method);
    await automaticParts(page, server);
    await reasons(page, stage, "Nearest exemplars", "98-exemplars");
    await clustersThenContext(page, server);
    await reasons(page, stage, "Nearest context images", "99-context");
    await insideDcp(page, stage, server);
    stage.noProblems("every method from its defaults");
    await page.context().close();
  } finally {
    await server.stop();
  }
}
