// SPDX-License-Identifier: Apache-2.0
// Points sorted into the cells of a grid over [-1, 1] x [-1, 1] (outer ones into the border cells):
// what lies in a box, what is nearest, in the time of the few cells concerned.
import type { Box } from "./polygon";

const kSide = 128;

export class PointIndex {
  private readonly start = new Int32Array(kSide * kSide + 1);
  private readonly items: Int32Array;

  constructor(readonly x: Float32Array, readonly y: Float32Array) {
    const n = x.length;
    const cells = new Int32Array(n);
    for (let i = 0; i < n; ++i) {
      cells[i] = cellOf(y[i]) * kSide + cellOf(x[i]);
      ++this.start[cells[i] + 1];
    }
    for (let c = 0; c < kSide * kSide; ++c) this.start[c + 1] += this.start[c];
    const next = this.start.slice();
    this.items = new Int32Array(n);
    for (let i = 0; i < n; ++i) this.items[next[cells[i]]++] = i;
  }

  // Calls `visit` for each point of the box until it returns false.
  inBox(box: Box, visit: (i: number) => boolean | void): void {
    const x1 = cellOf(box.x1), x2 = cellOf(box.x2);
    for (let row = cellOf(box.y1); row <= cellOf(box.y2); ++row)
      for (let c = row * kSide + x1; c <= row * kSide + x2; ++c)
        for (let k = this.start[c]; k < this.start[c + 1]; ++k) {
          const i = this.items[k];
          if (this.x[i] < box.x1 || this.x[i] > box.x2 || this.y[i] < box.y1 || this.y[i] > box.y2)
            continue;
          if (visit(i) === false) return;
        }
  }

  // How many points the box holds, counted up to `most`.
  countInBox(box: Box, most: number): number {
    let count = 0;
    this.inBox(box, () => ++count < most);
    return count;
  }

  // The nearest point within `radius`, -1 for none; of equals the last, which is drawn on top.
  nearest(px: number, py: number, radius: number, accept: (i: number) => boolean = () => true): number {
    let best = -1;
    let bestSquare = radius * radius;
    this.inBox({ x1: px - radius, y1: py - radius, x2: px + radius, y2: py + radius }, (i) => {
      const square = (this.x[i] - px) ** 2 + (this.y[i] - py) ** 2;
      const isBetter = square < bestSquare || (square === bestSquare && i > best);
      if (isBetter && accept(i)) {
        best = i;
        bestSquare = square;
      }
    });
    return best;
  }
}

function cellOf(v: number): number {
  const cell = Math.floor(((v + 1) / 2) * kSide);
  return cell > 0 ? (cell < kSide ? cell : kSide - 1) : 0;
}
