// SPDX-License-Identifier: Apache-2.0
// Which points lie inside a lasso or a box.

export interface Box { x1: number; y1: number; x2: number; y2: number }

export function boxOf(ax: number, ay: number, bx: number, by: number): Box {
  return { x1: Math.min(ax, bx), y1: Math.min(ay, by), x2: Math.max(ax, bx), y2: Math.max(ay, by) };
}

export function pointsInBox(x: Float32Array, y: Float32Array, box: Box): number[] {
  const inside: number[] = [];
  for (let i = 0; i < x.length; ++i)
    if (x[i] >= box.x1 && x[i] <= box.x2 && y[i] >= box.y1 && y[i] <= box.y2) inside.push(i);
  return inside;
}

// Even-odd rule; `polygon` is x0, y0, x1, y1, ... and closes by itself.
export function isInPolygon(px: number, py: number, polygon: ArrayLike<number>): boolean {
  let inside = false;
  const n = polygon.length >> 1;
  for (let i = 0, j = n - 1; i < n; j = i++) {
    const xi = polygon[2 * i], yi = polygon[2 * i + 1];
    const xj = polygon[2 * j], yj = polygon[2 * j + 1];
    if (yi > py !== yj > py && px < ((xj - xi) * (py - yi)) / (yj - yi) + xi) inside = !inside;
  }
  return inside;
}

export function boundsOf(polygon: ArrayLike<number>): Box {
  const box = { x1: Infinity, y1: Infinity, x2: -Infinity, y2: -Infinity };
  for (let i = 0; i + 1 < polygon.length; i += 2) {
    box.x1 = Math.min(box.x1, polygon[i]);
    box.x2 = Math.max(box.x2, polygon[i]);
    box.y1 = Math.min(box.y1, polygon[i + 1]);
    box.y2 = Math.max(box.y2, polygon[i + 1]);
  }
  return box;
}

export function pointsInPolygon(x: Float32Array, y: Float32Array,
                                polygon: ArrayLike<number>): number[] {
  if (polygon.length < 6) return [];
  return pointsInBox(x, y, boundsOf(polygon)).filter((i) => isInPolygon(x[i], y[i], polygon));
}
