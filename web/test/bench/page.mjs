#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Measures the explorer's page in a real browser; prints one JSON object. Called by
// bench/speed/explorer_page.py.
//   node test/bench/page.mjs first-view ADDRESS    milliseconds from opening to the first view
//   node test/bench/page.mjs frames ADDRESS        frame times and work of panning and zooming, memory
import { Stage } from "../story/stage.mjs";

const [what, address] = process.argv.slice(2);
const stage = await Stage.open("/tmp/milieu-page-bench");
const page = await stage.page(new URL(address).origin);
const session = await page.context().newCDPSession(page);
await session.send("Performance.enable");

async function metrics() {
  const { metrics: list } = await session.send("Performance.getMetrics");
  return Object.fromEntries(list.map(({ name, value }) => [name, value]));
}

// The first view: the map has its points, the gallery the images that are seen, all loaded.
async function firstView() {
  const start = performance.now();
  await page.goto(address);
  await page.waitForFunction(() => {
    const tiles = [...document.querySelectorAll(".tile img")];
    return tiles.length > 0 &&
      tiles.filter((t) => t.getBoundingClientRect().left < innerWidth).every((t) => t.complete && t.naturalWidth > 0);
  });
  const images = performance.now() - start;
  await page.waitForFunction(() => document.querySelector("[data-testid=map]")?.dataset.thumbs !== undefined);
  return { milliseconds: performance.now() - start, images_milliseconds: images, images: await page.locator(".tile img").count() };
}

// Moves the map a little in every frame, by events like those of a hand.
const kMove = async ({ frames, kind }) => {
  const map = document.querySelector("[data-testid=map]");
  const box = map.getBoundingClientRect();
  const x = box.left + box.width / 2, y = box.top + box.height / 2;
  const next = () => new Promise((resolve) => { requestAnimationFrame(resolve); });
  const times = [];
  let last = await next();
  for (let i = 0; i < frames; ++i) {
    if (kind === "zoom") map.dispatchEvent(new WheelEvent("wheel", { deltaY: i < frames / 2 ? -40 : 40, clientX: x, clientY: y, bubbles: true, cancelable: true }));
    else map.dispatchEvent(new KeyboardEvent("keydown", { key: i % 40 < 20 ? "ArrowLeft" : "ArrowRight", bubbles: true }));
    const now = await next();
    times.push(now - last);
    last = now;
  }
  return times;
};

async function frames() {
  await page.goto(`${address}#layout=map`);
  await page.waitForFunction(() => document.querySelector("[data-testid=map]")?.dataset.thumbs !== undefined);
  const result = {};
  await page.evaluate(kMove, { frames: 10, kind: "pan" }); // warm
  for (const kind of ["pan", "zoom"]) {
    const before = await metrics();
    const times = (await page.evaluate(kMove, { frames: 120, kind })).sort((a, b) => a - b);
    const after = await metrics();
    result[kind] = { frame_ms_median: times[60], frame_ms_95: times[114],
                     work_ms_per_frame: ((after.TaskDuration - before.TaskDuration) * 1000) / times.length,
                     script_ms_per_frame: ((after.ScriptDuration - before.ScriptDuration) * 1000) / times.length };
  }
  await session.send("HeapProfiler.collectGarbage");
  const end = await metrics();
  return { ...result, heap_bytes: end.JSHeapUsedSize, nodes: end.Nodes, renderer: await page.getByTestId("map").getAttribute("data-renderer") };
}

try {
  console.log(JSON.stringify(what === "first-view" ? await firstView() : await frames()));
} finally {
  await stage.close();
}
