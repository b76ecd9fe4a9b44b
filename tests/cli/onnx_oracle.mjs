// SPDX-License-Identifier: Apache-2.0
// Runs an ONNX model by onnxruntime-node, for tests and benches.
//
//   node onnx_oracle.mjs FOLDER MODEL INPUT OUTPUT float32|float16 SIZES...
//
// FOLDER holds node_modules; INPUT and OUTPUT are raw numbers, INPUT float32 (float16: two bytes each)
// of SIZES, OUTPUT the first output as float32 (float16: as it is).
import { createRequire } from "node:module";
import fs from "node:fs";

const [folder, model, input, output, type, ...sizes] = process.argv.slice(2);
const ort = createRequire(`${folder}/`)("onnxruntime-node");
const bytes = fs.readFileSync(input);
const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
const values = type === "float16" ? new Uint16Array(buffer) : new Float32Array(buffer);
const session = await ort.InferenceSession.create(model, { intraOpNumThreads: 1, logSeverityLevel: 4 });
const tensor = new ort.Tensor(type, values, sizes.map(Number));
const found = (await session.run({ [session.inputNames[0]]: tensor }))[session.outputNames[0]];
fs.writeFileSync(output, Buffer.from(found.data.buffer, found.data.byteOffset, found.data.byteLength));
