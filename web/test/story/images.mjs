// SPDX-License-Identifier: Apache-2.0
// Writes a folder of generated images (24-bit BMP, nothing to install): classes of drawings that
// are bright on dark or dark on bright, so that a class has two kinds of members.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { random } from "../mock/data.mjs";

const kSide = 24;

function bmp(pixel) {
  const line = kSide * 3, size = 54 + line * kSide;
  const bytes = Buffer.alloc(size);
  bytes.write("BM");
  bytes.writeUInt32LE(size, 2);
  bytes.writeUInt32LE(54, 10);
  bytes.writeUInt32LE(40, 14);
  bytes.writeInt32LE(kSide, 18);
  bytes.writeInt32LE(kSide, 22); // the bottom line first
  bytes.writeUInt16LE(1, 26);
  bytes.writeUInt16LE(24, 28);
  for (let y = 0; y < kSide; ++y)
    for (let x = 0; x < kSide; ++x) {
      const value = Math.max(0, Math.min(255, Math.round(pixel(x, y))));
      bytes.fill(value, 54 + (kSide - 1 - y) * line + 3 * x, 54 + (kSide - 1 - y) * line + 3 * x + 3);
    }
  return bytes;
}

const kInside = {
  bars: (x, y) => Math.abs(y) < 4,
  posts: (x) => Math.abs(x) < 4,
  discs: (x, y) => x * x + y * y < 64,
  rings: (x, y) => { const r = Math.hypot(x, y); return r > 5 && r < 9; },
};

// `each` images per class below `folder`; a third of them are inverted.
export function writeImages(folder, each, seed = 3) {
  const next = random(seed);
  for (const [name, isInside] of Object.entries(kInside)) {
    mkdirSync(join(folder, name), { recursive: true });
    for (let i = 0; i < each; ++i) {
      const dx = (next() - 0.5) * 6, dy = (next() - 0.5) * 6, isInverted = i % 3 === 0;
      const file = bmp((x, y) => {
        const lit = isInside(x - 11.5 - dx, y - 11.5 - dy) !== isInverted;
        return (lit ? 210 : 40) + (next() - 0.5) * 50;
      });
      writeFileSync(join(folder, name, `${name}_${String(i).padStart(3, "0")}.bmp`), file);
    }
  }
  return Object.keys(kInside);
}
