// SPDX-License-Identifier: Apache-2.0
// The words of cac, and a bad world: two tabs at once, a reload in the middle of a run, the cancel
// button, a folder that disappears.
import assert from "node:assert/strict";
import { renameSync } from "node:fs";
import { until } from "./stage.mjs";

const post = (page, body) => page.evaluate(async (b) => (await fetch("/api/runs", {
  method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(b) })).json(), body);

async function openRun(page, address, id, more = "") {
  await page.goto("about:blank");
  await page.goto(`${new URL(address).origin}/#run=${id}${more}`);
}

// Keypoints of the images: phrases over one of them, in its view and in the large image.
export async function wordsStory(stage, address) {
  const page = await stage.page(new URL(address).origin);
  await page.goto(address);
  await page.getByTestId("map").waitFor();
  const run = await post(page, { method: "cac", set: { classes: ["rings", "discs"] }, options: { num_words: 6, num_phrases: 2, num_restarts: 1 } });
  await openRun(page, address, run.id, "&view=method");
  const over = page.locator(".words-over");
  await over.waitFor();
  const all = Number(await over.getAttribute("data-words"));
  assert.ok(all > 0, "the image has keypoints");
  const detail = await page.evaluate(async (id) => (await fetch(`/api/runs/${id}`)).json(), run.id);
  assert.equal(all, detail.extras.images[0].words);
  await stage.shot(page, "60-words");
  await stage.check(page, "the words");
  let lit = 0;
  for (const phrase of await page.locator(".phrases button").all()) {
    await phrase.click();
    await until("the phrase is chosen", async () => (await phrase.getAttribute("aria-pressed")) === "true");
    lit += Number(await over.getAttribute("data-words"));
  }
  assert.equal(lit, all, "each keypoint has one phrase");
  await page.getByRole("button", { name: "Look", exact: true }).click();
  await page.locator(".tile").first().dblclick();
  await page.locator(".image-dialog .words-over").waitFor();
  await stage.check(page, "an image under its words");
  await page.context().close();
}

const kLong = { method: "kmeans", set: { rest: true }, options: { num_clusters: 2, num_restarts: 100000000 } };

// What one tab starts the other sees; a reload finds the run going on; cancel keeps what is valid.
export async function tabsStory(stage, address) {
  const first = await stage.page(new URL(address).origin);
  await first.goto(address);
  await first.getByTestId("map").waitFor();
  const second = await first.context().newPage();
  await second.goto(address);
  await second.getByTestId("map").waitFor();
  const known = await second.locator(".run-item").count();
  await first.locator("#method").selectOption("kmeans");
  await first.locator("fieldset").nth(0).getByRole("button", { name: "Everything", exact: true }).click();
  await first.locator("summary", { hasText: "Options" }).click();
  await first.getByLabel("Restarts").fill(String(kLong.options.num_restarts));
  await first.getByTestId("run").click();
  await first.getByTestId("progress").waitFor();
  await until("the other tab lists the run", async () => (await second.locator(".run-item").count()) === known + 1);
  await until("the curve grows", async () => (await first.locator(".progress-curve .curve").count()) === 1);
  await stage.shot(first, "61-progress");
  await stage.check(first, "progress");
  await first.reload();
  await first.getByTestId("progress").waitFor();
  assert.equal(await first.locator(".run-item").count(), known + 1, "a reload starts nothing");
  await until("progress comes again", async () => (await first.locator(".progress-curve .curve").count()) === 1);
  await second.locator(".run-item").first().locator(".run-open").click();
  await second.getByTestId("progress").waitFor();
  await second.getByTestId("cancel").click();
  for (const page of [first, second]) {
    await page.locator("[data-part='1'] .part-numbers").waitFor();
    await page.getByText("cancelled: the best so far").waitFor();
  }
  stage.noProblems("two tabs");
  await first.context().close();
}

// The images are gone: the run fails with the reason, names replace images, and all comes
// back with the folder.
export async function vanishStory(stage, address, folder) {
  const page = await stage.page(new URL(address).origin);
  renameSync(folder, `${folder}.gone`);
  try {
    await page.goto(address);
    await page.locator(".tile .image-text").first().waitFor();
    const run = await post(page, { ...kLong, options: { num_clusters: 2 } });
    await openRun(page, address, run.id);
    await page.getByRole("heading", { name: "The run failed" }).waitFor();
    assert.match(await page.locator(".error-text").innerText(), /drawings/);
    await stage.shot(page, "62-failed");
  } finally {
    renameSync(`${folder}.gone`, folder);
  }
  await page.context().close(); // with the requests that were under way: the browser tells of each 404
  stage.problems = stage.problems.filter((text) => !/404.*thumb/.test(text));
  const again = await stage.page(new URL(address).origin);
  await again.goto(address);
  const run = await post(again, { ...kLong, options: { num_clusters: 2 } });
  await openRun(again, address, run.id);
  await again.locator("[data-part='1'] .tile img.image").first().waitFor();
  stage.noProblems("the folder is back");
  await again.context().close();
}
