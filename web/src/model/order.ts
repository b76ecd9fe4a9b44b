// SPDX-License-Identifier: Apache-2.0
// The order of images: within a part of the gallery, and in the table.

// What a row can be ordered by. A column falls where it is put the other way round.
export type Column = "row" | "name" | "part" | "class" | "margin" | "nearest" | "size" | "date" | "tags";
export type Order = "sure" | "border" | "row" | "odd" | "twin" | "name" | "name-down" | "part" | "part-down" | "class" | "class-down"
  | "small" | "large" | "old" | "new" | "tags" | "tags-down";

interface OrderInfo { value: Order; title: string; column: Column; isDown?: boolean; isTableOnly?: boolean }

export const kOrders: OrderInfo[] = [
  { value: "sure", title: "Most certain first", column: "margin", isDown: true },
  { value: "border", title: "Least certain first", column: "margin" },
  { value: "row", title: "As in the collection", column: "row" },
  { value: "odd", title: "Most unusual first", column: "nearest", isDown: true },
  { value: "twin", title: "Near-duplicates first", column: "nearest" },
  { value: "name", title: "By name", column: "name" },
  { value: "name-down", title: "By name, last first", column: "name", isDown: true, isTableOnly: true },
  { value: "part", title: "By part", column: "part", isTableOnly: true },
  { value: "part-down", title: "By part, last first", column: "part", isDown: true, isTableOnly: true },
  { value: "class", title: "By class", column: "class" },
  { value: "class-down", title: "By class, last first", column: "class", isDown: true, isTableOnly: true },
  { value: "new", title: "Newest file first", column: "date", isDown: true },
  { value: "old", title: "Oldest file first", column: "date" },
  { value: "large", title: "Largest file first", column: "size", isDown: true },
  { value: "small", title: "Smallest file first", column: "size" },
  { value: "tags", title: "Tagged first", column: "tags" },
  { value: "tags-down", title: "Tagged last", column: "tags", isDown: true, isTableOnly: true },
];

export const orderOf = (value: Order): OrderInfo => kOrders.find((order) => order.value === value)!;

// The order of a column's head: down and up by turns.
export function nextOrder(now: Order, column: Column): Order {
  const ways = kOrders.filter((order) => order.column === column);
  const at = ways.findIndex((order) => order.value === now);
  return ways[(at + 1) % ways.length].value;
}

// Numbers by which rows can be ordered, one per position; null: not known (yet).
export type Facts = Record<Column, ArrayLike<number> | null>;

// What an order sorts by, ascending; null: as they are. Unknown values come last, both ways.
export function orderKeys(order: Order, facts: Facts): Float64Array | null {
  const { column, isDown } = orderOf(order);
  const values = facts[column];
  if (!values) return null;
  return Float64Array.from(values, (v) => (Number.isNaN(v) ? Infinity : isDown ? -v : v));
}

// Positions by ascending key; ties by position.
export function sortedPositions(positions: Int32Array, keys: Float64Array | null): Int32Array {
  return keys ? positions.slice().sort((a, b) => compare(keys[a], keys[b]) || a - b) : positions;
}

// Infinite keys are equal, not NaN apart.
const compare = (a: number, b: number) => (a < b ? -1 : a > b ? 1 : 0);

// For each part the positions (indices into rows) it holds, by ascending key; ties by position.
export function positionsByPart(labels: Int32Array, keys: Float64Array | null, numParts: number): Int32Array[] {
  const sizes = new Int32Array(numParts);
  for (const label of labels) if (label >= 0 && label < numParts) ++sizes[label];
  const parts = Array.from(sizes, (size) => new Int32Array(size));
  const filled = new Int32Array(numParts);
  labels.forEach((label, i) => {
    if (label >= 0 && label < numParts) parts[label][filled[label]++] = i;
  });
  return parts.map((part) => sortedPositions(part, keys));
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

// The rank of each name, as people order them: 2 before 10, upper and lower case alike.
export function nameRanks(names: readonly string[]): Int32Array {
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  const order = names.map((_, i) => i).sort((a, b) => collator.compare(names[a], names[b]) || a - b);
  const ranks = new Int32Array(names.length);
  order.forEach((row, rank) => { ranks[row] = rank; });
  return ranks;
}
