#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// A mock of the explorer's server: the whole contract (docs/explorer_api.md) on a made-up collection,
// for work on the page without building the program, and for tests of the page alone.
//   node test/mock/server.mjs --dist DIR [--port N] [--rows N] [--step MS]
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { kMethods, makeCollection, imageOf } from "./data.mjs";
import { MockRuns } from "./runs.mjs";

const { values } = parseArgs({ options: {
  dist: { type: "string", default: "dist" }, port: { type: "string", default: "0" },
  rows: { type: "string", default: "600" }, step: { type: "string", default: "40" } } });
const collection = makeCollection(Number(values.rows));
const runs = new MockRuns(collection, Number(values.step));
const kTypes = { html: "text/html", js: "text/javascript", css: "text/css" };

const answer = (response, status, body, type = "application/json") => {
  response.writeHead(status, { "Content-Type": type, "Cache-Control": type.startsWith("image") ? "max-age=3600" : "no-store" });
  response.end(typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body));
};
const binary = (response, array) => answer(response, 200, new Uint8Array(array.buffer, array.byteOffset, array.byteLength), "application/octet-stream");

async function readBody(request) {
  let text = "";
  for await (const piece of request) text += piece;
  return text ? JSON.parse(text) : {};
}

async function page(url, response) {
  const name = url.pathname === "/" ? "index.html" : url.pathname.slice(1);
  try {
    answer(response, 200, await readFile(join(values.dist, name)), kTypes[name.split(".").pop()] ?? "text/plain");
  } catch {
    answer(response, 404, { error: `no ${name}` });
  }
}

function collectionApi(parts, url, response) {
  const n = collection.rows.length;
  if (parts.length === 2) return answer(response, 200, { name: "shapes", kind: "images", n, d: 64, feature: "tiny", has_images: true, classes: collection.classes, version: "mock" });
  if (parts[2] === "classes") return binary(response, Int32Array.from(collection.rows, (r) => r.kind));
  if (parts[2] === "map" || parts[2] === "neighbor-map") return binary(response, collection.map);
  if (parts[2] === "files") return binary(response, Float64Array.from({ length: 2 * n }, (_, i) => (i % 2 ? 1.7e9 + 3600 * i : 1000 + i)));
  const from = Number(url.searchParams.get("from")), size = Number(url.searchParams.get("count"));
  const names = collection.rows.slice(from, from + size).map((r, i) => `${collection.classes[r.kind].name}/image_${String(from + i).padStart(5, "0")}.png`);
  return answer(response, 200, names);
}

async function route(request, response) {
  const url = new URL(request.url, "http://localhost");
  const parts = url.pathname.slice(1).split("/");
  if (parts[0] !== "api") return page(url, response);
  if (parts[1] === "collection") return collectionApi(parts, url, response);
  if (parts[1] === "features") return answer(response, 200, { known: [], kept: [] });
  if (parts[1] === "methods") return answer(response, 200, kMethods);
  if (parts[1] === "thumb") return answer(response, 200, imageOf(collection.rows[Number(parts[2])]), "image/svg+xml");
  if (parts[1] === "runs" || parts[1] === "compare") {
    const body = request.method === "POST" || request.method === "PATCH" ? await readBody(request) : {};
    const result = runs.handle(request.method, parts.slice(1), url, body, response);
    if (result === undefined) return undefined;
    return result.array ? binary(response, result.array) : answer(response, result.status ?? 200, result.body ?? "", result.type);
  }
  return answer(response, 404, { error: `no ${url.pathname}` });
}

const server = createServer((request, response) => {
  route(request, response).catch((error) => answer(response, 500, { error: String(error.stack) }));
});
server.listen(Number(values.port), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/?token=mock`));
