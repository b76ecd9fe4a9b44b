// SPDX-License-Identifier: Apache-2.0
// Sets of rows: a RowSet as rows, lists of rows as short text for the URL.
import type { Collection, RowSet, RunRequest } from "./types";
import { counted, listed } from "./text";

export function isEmptySet(set: RowSet | undefined): boolean {
  return !set || (!set.rest && !set.classes?.length && !set.rows?.length);
}

// The rows of `set`, ascending. `rest` needs `other`, the set it is the rest of.
export function rowsOf(set: RowSet, classes: Int32Array, collection: Collection,
                       other?: RowSet): Int32Array {
  const n = collection.n;
  const inside = new Uint8Array(n);
  if (set.rest) {
    inside.fill(1);
    for (const row of rowsOf({ ...other, rest: false }, classes, collection)) inside[row] = 0;
  } else {
    for (const row of set.rows ?? []) if (row >= 0 && row < n) inside[row] = 1;
    const wanted = new Set(
      (set.classes ?? []).map((name) => collection.classes.findIndex((c) => c.name === name)));
    wanted.delete(-1);
    if (wanted.size)
      for (let row = 0; row < n; ++row) if (wanted.has(classes[row])) inside[row] = 1;
  }
  return compact(inside);
}

// Rows without a class, where others have one.
export function looseRows(classes: Int32Array, collection: Collection): number[] {
  return collection.classes.length ? Array.from(classes.keys()).filter((row) => classes[row] < 0) : [];
}

export const isSameRows = (a: number[] | undefined, b: number[]): boolean =>
  !!a && a.length === b.length && a.every((row, i) => row === b[i]);

function compact(inside: Uint8Array): Int32Array {
  let size = 0;
  for (const flag of inside) size += flag;
  const rows = new Int32Array(size);
  for (let row = 0, at = 0; row < inside.length; ++row) if (inside[row]) rows[at++] = row;
  return rows;
}

// A set that is the rest of nothing is everything.
export function describeSet(set: RowSet | undefined, isContext = false): string {
  if (!set || isEmptySet(set)) return "nothing";
  if (set.rest) return isContext ? "everything else" : "everything";
  if (set.classes?.length) return listed(set.classes);
  return counted(set.rows!.length, "selected row");
}

// The default name of a run.
export function requestName(request: RunRequest): string {
  const set = describeSet(request.set);
  if (request.rank_contexts) return `Contexts of ${set}`;
  return request.context ? `${set} against ${describeSet(request.context, true)}` : `${set}, ${request.method}`;
}

// What was asked for, without what came from an earlier result: its corrections, names and origin.
export function plainRequest(request: RunRequest): RunRequest {
  const { constraints: _c, initial: _i, part_names: _p, follows: _f, name: _n, ...plain } = request;
  return plain;
}

export const runTitle = (run: { name: string; request: RunRequest }): string =>
  run.name || requestName(run.request);

// Ascending rows as "0-3.7.10-12", numbers in base 36 and relative to the one before.
export function packRows(rows: Iterable<number>): string {
  const sorted = [...new Set(rows)].sort((a, b) => a - b);
  const parts: string[] = [];
  let last = 0;
  for (let i = 0; i < sorted.length;) {
    let j = i;
    while (j + 1 < sorted.length && sorted[j + 1] === sorted[j] + 1) ++j;
    const start = (sorted[i] - last).toString(36);
    parts.push(j > i ? `${start}-${(j - i).toString(36)}` : start);
    last = sorted[j];
    i = j + 1;
  }
  return parts.join(".");
}

// The inverse; invalid text gives the rows before it. At most `most` rows.
export function unpackRows(text: string, most = 100000): number[] {
  const rows: number[] = [];
  let last = 0;
  for (const part of text ? text.split(".") : []) {
    const [start, length] = part.split("-").map((word) => parseInt(word, 36));
    if (!Number.isFinite(start) || start < 0) break;
    const size = Number.isFinite(length) ? length : 0;
    for (let i = 0; i <= size && rows.length < most; ++i) rows.push(last + start + i);
    last += start + size;
  }
  return rows;
}
