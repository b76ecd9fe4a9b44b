// SPDX-License-Identifier: Apache-2.0
// Should a class be split? From the panel to the verdicts, in all windows.
import assert from "node:assert/strict";
import { join } from "node:path";
import { writeImages } from "./images.mjs";
import { kWindows, tabTo } from "./other_stories.mjs";
import { startServer, until } from "./stage.mjs";

// Every class has bright and dark drawings, so every class falls into two.
async function ask(stage, server) {
  const page = await stage.page(server.origin);
  await page.goto(server.address);
  await page.getByTestId("advise").waitFor();
  await stage.check(page, "the entry of the advice");
  await tabTo(page, /Should a class be split/);
  await page.keyboard.press("Enter");
  await page.locator(".advice [data-class]").first().waitFor();
  assert.equal(await page.locator(".advice tbody tr").count(), 4);
  await page.getByRole("button", { name: /Images of the parts of discs/ }).press("Enter");
  await until("the gallery has the focus", () => page.evaluate(() => document.activeElement?.dataset.class === "discs"));
  await page.locator("[data-class=discs] .strip button").first().press("Enter");
  await page.locator(".image-dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.reload();
  await page.locator(".advice [data-class]").first().waitFor();
  const link = page.url();
  await page.getByTestId("advise").click(); // it is there already
  assert.equal(await page.locator(".run-item").count(), 1);
  await page.getByRole("button", { name: "Open in the gallery: the parts of discs" }).click();
  await until("two parts are shown", async () => (await page.locator(".part-column").count()) === 2);
  await page.context().close();
  return link;
}

export async function adviceStory(stage, program, folder) {
  writeImages(join(folder, "advised"), 60);
  const server = await startServer(program, ["explore", join(folder, "advised"), "--feature", "tiny", "--no-browser", "--port", "0", "--runs", join(folder, "advised-runs")]);
  try {
    const link = await ask(stage, server);
    for (const { name, options } of [{ name: "80-advice", options: {} }, ...kWindows]) {
      const page = await stage.page(server.origin, options);
      await page.goto(server.address);
      await page.goto("about:blank");
      await page.goto(link);
      await page.locator(".advice [data-class] .image").first().waitFor();
      await stage.shot(page, name === "80-advice" ? name : `${name}-advice`);
      await stage.check(page, `${name}, the advice`);
      await page.context().close();
    }
  } finally {
    await server.stop();
  }
}
