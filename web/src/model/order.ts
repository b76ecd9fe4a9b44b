// SPDX-License-Identifier: Apache-2.0
// The order of images within a part.

export type Order = "sure" | "border" | "row";
export const kOrders: { value: Order; title: string }[] = [
  { value: "sure", title: "Most certain first" },
  { value: "border", title: "Least certain first" },
  { value: "row", title: "As in the collection" },
];

// For each part the positions (indices into rows) it holds, ordered; ties by position.
export function positionsByPart(labels: Int32Array, margins: Float32Array | null,
                                numParts: number, order: Order): Int32Array[] {
  const sizes = new Int32Array(numParts);
  for (const label of labels) if (label >= 0 && label < numParts) ++sizes[label];
  const parts = Array.from(sizes, (size) => new Int32Array(size));
  const filled = new Int32Array(numParts);
  labels.forEach((label, i) => {
    if (label >= 0 && label < numParts) parts[label][filled[label]++] = i;
  });
  if (order === "row" || !margins) return parts;
  const sign = order === "sure" ? -1 : 1;
  for (const part of parts) part.sort((a, b) => sign * (margins[a] - margins[b]) || a - b);
  return parts;
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
