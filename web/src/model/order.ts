// SPDX-License-Identifier: Apache-2.0
// The order of images within a part.

export type Order = "sure" | "border" | "row" | "odd" | "twin";
export const kOrders: { value: Order; title: string; needs: "margins" | "nearest" | "" }[] = [
  { value: "sure", title: "Most certain first", needs: "margins" },
  { value: "border", title: "Least certain first", needs: "margins" },
  { value: "row", title: "As in the collection", needs: "" },
  { value: "odd", title: "Most unusual first", needs: "nearest" },
  { value: "twin", title: "Near-duplicates first", needs: "nearest" },
];

// What an order sorts by, ascending; null: as they are. `nearest`: distance to the nearest other row.
export function orderKeys(order: Order, rows: Int32Array, margins: Float32Array | null, nearest: Float32Array | null): Float32Array | null {
  if (order === "odd" || order === "twin") {
    if (!nearest) return null;
    return Float32Array.from(rows, (row) => (order === "odd" ? -1 : 1) * nearest[row]);
  }
  if (order === "row" || !margins) return null;
  const known = margins.map((m) => (Number.isNaN(m) ? 0 : m)); // unknown for rows that were moved
  return order === "sure" ? known.map((m) => -m) : known;
}

// For each part the positions (indices into rows) it holds, by ascending key; ties by position.
export function positionsByPart(labels: Int32Array, keys: Float32Array | null, numParts: number): Int32Array[] {
  const sizes = new Int32Array(numParts);
  for (const label of labels) if (label >= 0 && label < numParts) ++sizes[label];
  const parts = Array.from(sizes, (size) => new Int32Array(size));
  const filled = new Int32Array(numParts);
  labels.forEach((label, i) => {
    if (label >= 0 && label < numParts) parts[label][filled[label]++] = i;
  });
  if (keys) for (const part of parts) part.sort((a, b) => keys[a] - keys[b] || a - b);
  return parts;
}

// Positions of rows that are in no part.
export function unplacedPositions(labels: Int32Array): Int32Array {
  return Int32Array.from(labels.keys()).filter((i) => labels[i] < 0);
}

// How many of `selected` rows are in each part: the "47" of "47 / 412".
export function selectedByPart(rows: Int32Array, labels: Int32Array, selected: ReadonlySet<number>,
                               numParts: number): number[] {
  const counts = new Array<number>(numParts).fill(0);
  if (selected.size === 0) return counts;
  for (let i = 0; i < rows.length; ++i)
    if (labels[i] >= 0 && labels[i] < numParts && selected.has(rows[i])) ++counts[labels[i]];
  return counts;
}
