// SPDX-License-Identifier: Apache-2.0
// The explorer in a browser, for the README: sandals split against sneakers.
//   node docs/images/explorer.mjs PROGRAM FOLDER OUT.png     (docs/images/make calls it)
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { chooseAndRun } from "../../web/test/story/main_story.mjs";
import { paintedPixels, Stage, startServer, until } from "../../web/test/story/stage.mjs";

const [program, folder, out] = process.argv.slice(2);
process.env.MILIEU_CACHE = join(folder, "..", "cache");
const server = await startServer(program, ["explore", folder, "--feature", "gist", "--no-browser", "--port", "0", "--runs", join(folder, "..", "runs")]);
const stage = await Stage.open(dirname(out));
try {
  const page = await stage.page(server.origin);
  await page.goto(server.address);
  await page.getByTestId("map").waitFor();
  await chooseAndRun(page, /^sandal/, /^sneaker/);
  await until("the points are painted", async () => (await paintedPixels(page)) > 200);
  await page.locator("img.image").first().waitFor();
  await page.waitForLoadState("networkidle");
  await page.screenshot({ path: out });
} finally {
  await stage.close();
  await server.stop();
  rmSync(join(folder, "..", "runs"), { recursive: true, force: true });
}
