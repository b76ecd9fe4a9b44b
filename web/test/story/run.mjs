#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// The explorer in a real browser, on generated images.
//   node test/story/run.mjs PROGRAM SCREENSHOTS [--part main|curator|advice|methods|spaces]
// Exit code 77: there is no browser, the test is skipped.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { adviceStory } from "./advice_story.mjs";
import * as story from "./main_story.mjs";
import { methodsStory } from "./methods_story.mjs";
import { keyboardStory, plainCanvasStory, reportStory, windowsStory } from "./other_stories.mjs";
import { curatorStory } from "./curator_stories.mjs";
import { writeImages } from "./images.mjs";
import { spacesStory } from "./spaces_story.mjs";
import { findBrowser, Stage, startServer } from "./stage.mjs";
import { tabsStory, vanishStory, wordsStory } from "./world_stories.mjs";

const [program, screenshots, , part = "all"] = process.argv.slice(2);
if (!findBrowser()) {
  console.log("no chromium is installed: scripts/setup test installs it, MILIEU_CHROMIUM names another");
  process.exit(77);
}

async function tell(title, work) {
  const start = Date.now();
  const result = await work();
  console.log(`${title}: ${((Date.now() - start) / 1000).toFixed(1)} s`);
  return result;
}

async function mainStory(stage, server) {
  const page = await stage.page(server.origin);
  await page.goto(server.address);
  await tell("choose and run", () => story.chooseStory(stage, page));
  await tell("map", () => story.mapStory(stage, page));
  const other = await tell("correct", () => story.correctStory(stage, page));
  await tell("names", () => story.nameStory(stage, page));
  await tell("compare", () => story.compareStory(stage, page, other));
  await tell("contexts", () => story.contextsStory(stage, page));
  const exported = await tell("export", () => story.exportStory(stage, page));
  assert.ok(exported.isThere && readdirSync(exported.folder).length === 2, `two folders of images in ${exported.folder}`);
  checkCommand(exported);
  await tell("link and reload", () => story.linkStory(stage, page, exported.link));
  await page.context().close();
  await tell("report from a file", () => reportStory(stage, exported.report));
  return exported.link;
}

// The command line that was shown gives the labels that were shown.
function checkCommand({ command, labels, folder }) {
  const again = join(folder, "..", "again");
  execFileSync("/bin/sh", ["-c", command.replace(/^milieu /, `'${program}' `)], { stdio: "pipe", cwd: join(folder, "..") });
  const lines = readFileSync(join(again, "labels.csv"), "utf8").trim().split("\n").slice(1);
  assert.deepEqual(lines.map((line) => Number(line.slice(line.lastIndexOf(",") + 1))), labels, command);
}

// The story with the mouse, and the others on its server and with its link.
async function mainPart(stage, folder) {
  const server = await tell("start", () => startServer(program, ["explore", join(folder, "drawings"), "--feature", "tiny", "--no-browser", "--port", "0", "--runs", join(folder, "runs")]));
  try {
    const link = await mainStory(stage, server);
    await tell("words of cac", () => wordsStory(stage, server.address));
    await tell("two tabs, reload, cancel", () => tabsStory(stage, server.address));
    await tell("the folder disappears", () => vanishStory(stage, server.address, join(folder, "drawings")));
    await tell("keyboard only", () => keyboardStory(stage, server.address));
    await tell("windows", () => windowsStory(stage, server.address, link));
    await tell("no WebGL", () => plainCanvasStory(screenshots, server.address, link));
  } finally {
    await server.stop();
  }
}

const kParts = {
  main: mainPart,
  curator: (stage, folder) => tell("a curator's day", () => curatorStory(stage, program, folder)),
  methods: (stage, folder) => tell("every method from its defaults", () => methodsStory(stage, program, folder)),
  spaces: (stage, folder) => tell("features, maps, filters, table", () => spacesStory(stage, program, folder)),
  advice: (stage, folder) => tell("advice on classes", () => adviceStory(stage, program, folder)),
};

async function main() {
  const folder = mkdtempSync(join(tmpdir(), "milieu-story-"));
  writeImages(join(folder, "drawings"), 30);
  process.env.MILIEU_CACHE = join(folder, "cache");
  const stage = await Stage.open(screenshots);
  try {
    for (const name of part === "all" ? Object.keys(kParts) : [part]) await kParts[name](stage, folder);
  } catch (error) {
    await stage.shootAll(`failed-${part}`);
    throw error;
  } finally {
    await stage.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
