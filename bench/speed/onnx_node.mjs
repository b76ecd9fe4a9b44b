// SPDX-License-Identifier: Apache-2.0
// Runs a network by onnxruntime-node on images that are prepared already; prints the seconds.
//
//   node onnx_node.mjs FOLDER MODEL INPUTS float32|float16 THREADS N 3 HEIGHT WIDTH
//
// FOLDER holds node_modules; INPUTS are raw numbers of N images.
import { createRequire } from "node:module";
import fs from "node:fs";

const [folder, model, inputs, type, threads, ...sizes] = process.argv.slice(2);
const ort = createRequire(`${folder}/`)("onnxruntime-node");
const [count, ...shape] = sizes.map(Number);
const size = shape.reduce((a, b) => a * b) * (type === "float16" ? 2 : 4);
const file = fs.openSync(inputs);
const session = await ort.InferenceSession.create(model, {
  intraOpNumThreads: Number(threads),
  logSeverityLevel: 4,
});

function read(i) {
  const buffer = new ArrayBuffer(size);
  fs.readSync(file, new Uint8Array(buffer), 0, size, i * size);
  return new ort.Tensor(type, type === "float16" ? new Uint16Array(buffer) : new Float32Array(buffer), [1, ...shape]);
}

await session.run({ [session.inputNames[0]]: read(0) });
const began = performance.now();
for (let i = 0; i < count; i++) await session.run({ [session.inputNames[0]]: read(i) });
console.log(JSON.stringify({ seconds: (performance.now() - began) / 1000 }));
