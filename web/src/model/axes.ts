// SPDX-License-Identifier: Apache-2.0
// Points of the map: from columns to x and y in [-1, 1].
import type { Columns } from "./types";

export interface AxisRange { min: number; max: number }

export interface MapPoints {
  x: Float32Array;
  y: Float32Array;
  rows: Int32Array;
  part: Int32Array; // -1: context or the rest of the collection
  isContext: Uint8Array;
  xRange: AxisRange | null; // what -1 and 1 stand for; null: axes without unit
  yRange: AxisRange | null;
}

// The principal axes: split rows and context rows by their place in the collection's map.
export function principalPoints(map: Float32Array, columns: Columns, labels: Int32Array,
                                context: Int32Array): MapPoints {
  const points = empty(context.length + columns.rows.length);
  const place = (i: number, row: number) => {
    points.x[i] = map[2 * row];
    points.y[i] = map[2 * row + 1];
    points.rows[i] = row;
  };
  context.forEach((row, i) => { place(i, row); points.part[i] = -1; points.isContext[i] = 1; });
  columns.rows.forEach((row, i) => {
    place(context.length + i, row);
    points.part[context.length + i] = labels[i];
  });
  fillPlane(points.x, points.y);
  return points;
}

// Moves and scales the points, both axes alike, so that they fill [-1, 1].
function fillPlane(x: Float32Array, y: Float32Array): void {
  const [xs, ys] = [x, y].map((list) => list.reduce(
    (r, v) => ({ min: Math.min(r.min, v), max: Math.max(r.max, v) }), { min: Infinity, max: -Infinity }));
  const half = Math.max(xs.max - xs.min, ys.max - ys.min) / 2;
  if (!(half > 0)) return;
  for (let i = 0; i < x.length; ++i) {
    x[i] = (x[i] - (xs.min + xs.max) / 2) / half;
    y[i] = (y[i] - (ys.min + ys.max) / 2) / half;
  }
}

// The rows at their positions: x to the right, y downwards, as in an image.
export function placedPoints(columns: Columns, labels: Int32Array): MapPoints {
  const points = empty(columns.rows.length);
  columns.rows.forEach((row, i) => {
    points.x[i] = columns.places![2 * i];
    points.y[i] = -columns.places![2 * i + 1];
    points.rows[i] = row;
    points.part[i] = labels[i];
  });
  fillPlane(points.x, points.y);
  return points;
}

// The method's own axes: decision values of two parts. The same range on both, so that equal
// values lie on the diagonal.
export function decisionPoints(columns: Columns, labels: Int32Array, numParts: number,
                               axes: [number, number], withContext: boolean): MapPoints {
  const shown = withContext && columns.contextRows && columns.contextDecisions;
  const context = shown ? columns.contextRows! : new Int32Array(0);
  const points = empty(context.length + columns.rows.length);
  const read = (values: Float32Array, from: Int32Array, start: number, isContext: boolean) => {
    from.forEach((row, i) => {
      points.x[start + i] = values[i * numParts + axes[0]];
      points.y[start + i] = values[i * numParts + axes[1]];
      points.rows[start + i] = row;
      points.part[start + i] = isContext ? -1 : labels[i];
      points.isContext[start + i] = isContext ? 1 : 0;
    });
  };
  if (shown) read(columns.contextDecisions!, context, 0, true);
  read(columns.decisions!, columns.rows, context.length, false);
  const range = commonRange(points.x, points.y);
  rescale(points.x, range);
  rescale(points.y, range);
  return { ...points, xRange: range, yRange: range };
}

function empty(size: number): MapPoints {
  return { x: new Float32Array(size), y: new Float32Array(size), rows: new Int32Array(size),
           part: new Int32Array(size), isContext: new Uint8Array(size), xRange: null, yRange: null };
}

function commonRange(x: Float32Array, y: Float32Array): AxisRange {
  let min = Infinity, max = -Infinity;
  for (const list of [x, y])
    for (const v of list)
      if (Number.isFinite(v)) {
        if (v < min) min = v;
        if (v > max) max = v;
      }
  if (!(min < max)) return { min: (Number.isFinite(min) ? min : 0) - 1, max: (Number.isFinite(max) ? max : 0) + 1 };
  return { min, max };
}

// Non-finite values go to the middle.
function rescale(values: Float32Array, range: AxisRange): void {
  const factor = 2 / (range.max - range.min);
  for (let i = 0; i < values.length; ++i)
    values[i] = Number.isFinite(values[i]) ? (values[i] - range.min) * factor - 1 : 0;
}

export function placeOf(value: number, range: AxisRange): number {
  return ((value - range.min) / (range.max - range.min)) * 2 - 1;
}

// Values as shares of their range in order of rank: an even spread of colours whatever the
// distribution. -1 where there is none.
export function rankShares(values: Float32Array): Float32Array {
  const order = Array.from(values.keys()).filter((i) => Number.isFinite(values[i]));
  order.sort((a, b) => values[a] - values[b] || a - b);
  const shares = new Float32Array(values.length).fill(-1);
  order.forEach((i, rank) => { shares[i] = order.length > 1 ? rank / (order.length - 1) : 0.5; });
  return shares;
}
