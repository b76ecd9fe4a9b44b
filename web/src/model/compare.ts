// SPDX-License-Identifier: Apache-2.0
// Two splits of the same rows: cross-table, adjusted Rand index, normalised mutual information.
// The server answers this too; a report has no server.
import type { Comparison, RunBrief } from "./types";

// What a run is compared with before anybody chooses: the newest one of the same set, else the newest.
export function firstRival(run: RunBrief, others: readonly RunBrief[]): RunBrief | undefined {
  const set = JSON.stringify(run.request.set);
  return others.find((other) => JSON.stringify(other.request.set) === set) ?? others[0];
}

export interface Split { rows: Int32Array; labels: Int32Array; numParts: number }

export function compareSplits(a: Split, b: Split): Comparison {
  const labelOfB = new Map<number, number>();
  b.rows.forEach((row, i) => labelOfB.set(row, b.labels[i]));
  const table = Array.from({ length: a.numParts }, () => new Array<number>(b.numParts).fill(0));
  let both = 0;
  a.rows.forEach((row, i) => {
    const other = labelOfB.get(row);
    if (other === undefined) return;
    ++both;
    if (a.labels[i] >= 0 && other >= 0) ++table[a.labels[i]][other];
  });
  return { rows_in_both: both, table, ari: adjustedRand(table), nmi: mutualInformation(table),
           only_a: a.rows.length - both, only_b: b.rows.length - both };
}

const pairs = (n: number) => (n * (n - 1)) / 2;
const sum = (list: number[]) => list.reduce((total, v) => total + v, 0);

function marginals(table: number[][]): { rows: number[]; columns: number[]; total: number } {
  const rows = table.map(sum);
  const columns = (table[0] ?? []).map((_, j) => sum(table.map((row) => row[j])));
  return { rows, columns, total: sum(rows) };
}

// 1 for equal splits, 0 expected by chance; two trivial splits are equal.
export function adjustedRand(table: number[][]): number {
  const { rows, columns, total } = marginals(table);
  if (total < 2) return 1;
  const together = sum(table.flat().map(pairs));
  const a = sum(rows.map(pairs));
  const b = sum(columns.map(pairs));
  const expected = (a * b) / pairs(total);
  const most = (a + b) / 2;
  return most === expected ? 1 : (together - expected) / (most - expected);
}

// Arithmetic mean of the entropies below the line, as in milieu score.
export function mutualInformation(table: number[][]): number {
  const { rows, columns, total } = marginals(table);
  if (total === 0) return 1;
  const entropy = (list: number[]) =>
    -sum(list.filter((n) => n > 0).map((n) => (n / total) * Math.log(n / total)));
  let shared = 0;
  table.forEach((row, i) => row.forEach((n, j) => {
    if (n > 0) shared += (n / total) * Math.log((n * total) / (rows[i] * columns[j]));
  }));
  const mean = (entropy(rows) + entropy(columns)) / 2;
  return mean <= 1e-15 ? 1 : Math.min(1, Math.max(0, shared / mean));
}

// For a gallery: the rows of one part, the surest first. `movedFrom` tells which of them are not in the
// part of the other split that `order` (of matchColumns) puts beside this one; rows that the other
// does not have are not among them.
export interface SplitRows { rows: ArrayLike<number>; labels: ArrayLike<number>; margins: ArrayLike<number> | null }

export function galleryRows(split: SplitRows, part: number): number[] {
  const places = Array.from(split.rows, (_, at) => at).filter((at) => split.labels[at] === part);
  places.sort((p, q) => (split.margins?.[q] ?? 0) - (split.margins?.[p] ?? 0) || p - q);
  return places.map((at) => split.rows[at]);
}

export function movedRows(a: SplitRows, b: SplitRows, order: number[]): Set<number> {
  const partInB = new Map<number, number>();
  Array.from(b.rows).forEach((row, at) => partInB.set(row, b.labels[at]));
  return new Set(Array.from(a.rows).filter((row, at) => partInB.has(row) && partInB.get(row) !== (order[a.labels[at]] ?? -1)));
}

// Which part of b each part of a overlaps most, each used once while there are enough: the order in
// which b's columns are shown so that agreement is on the diagonal.
export function matchColumns(table: number[][]): number[] {
  const columns = table[0]?.length ?? 0;
  const cells = table.flatMap((row, i) => row.map((n, j) => ({ n, i, j })));
  cells.sort((p, q) => q.n - p.n || p.i - q.i || p.j - q.j);
  const place = new Array<number>(table.length).fill(-1);
  const used = new Set<number>();
  for (const { i, j } of cells) {
    if (place[i] >= 0 || used.has(j)) continue;
    place[i] = j;
    used.add(j);
  }
  const order = place.filter((j) => j >= 0);
  for (let j = 0; j < columns; ++j) if (!used.has(j)) order.push(j);
  return order;
}
