// SPDX-License-Identifier: Apache-2.0
// The user's corrections of a result: rows that belong to a part or to none, parts that were added,
// tags, pairs that belong together or apart. Every value is immutable; History keeps the earlier
// ones for undo (edit_log.ts keeps it in the run's folder).
import type { Constraints, Pair } from "./types";

export const kSetAside = -1; // the part of a row that belongs to none

export interface Corrections {
  memberships: ReadonlyMap<number, number>; // row -> part, or kSetAside
  together: readonly Pair[];
  apart: readonly Pair[];
  tags: ReadonlyMap<number, readonly string[]>; // row -> its tags
  added: number; // parts beyond those of the method
}

export const kNoCorrections: Corrections =
  { memberships: new Map(), together: [], apart: [], tags: new Map(), added: 0 };

// Tags are notes: they correct nothing.
export function correctionCount(c: Corrections): number {
  return c.memberships.size + c.together.length + c.apart.length;
}

export function moveRows(c: Corrections, rows: Iterable<number>, part: number): Corrections {
  const memberships = new Map(c.memberships);
  for (const row of rows) memberships.set(row, part);
  return { ...c, memberships };
}

export function freeRows(c: Corrections, rows: Iterable<number>): Corrections {
  const gone = new Set(rows);
  const memberships = new Map([...c.memberships].filter(([row]) => !gone.has(row)));
  const keep = ([a, b]: Pair) => !gone.has(a) && !gone.has(b);
  return { ...c, memberships, together: c.together.filter(keep), apart: c.apart.filter(keep) };
}

export function addPart(c: Corrections): Corrections { return { ...c, added: c.added + 1 }; }

// Gives the rows a tag, or takes it from them when all have it.
export function toggleTag(c: Corrections, rows: Iterable<number>, tag: string): Corrections {
  const list = [...rows];
  const has = (row: number) => !!c.tags.get(row)?.includes(tag);
  const isRemoval = list.every(has);
  const tags = new Map(c.tags);
  for (const row of list) {
    const others = (tags.get(row) ?? []).filter((t) => t !== tag);
    const next = isRemoval ? others : [...others, tag];
    if (next.length) tags.set(row, next);
    else tags.delete(row);
  }
  return { ...c, tags };
}

// All tags in use, in alphabetical order.
export function knownTags(c: Corrections): string[] {
  return [...new Set([...c.tags.values()].flat())].sort();
}

const isSame = (a: Pair, b: Pair) =>
  (a[0] === b[0] && a[1] === b[1]) || (a[0] === b[1] && a[1] === b[0]);

// Marks a chain of rows as belonging together (kind "together") or every pair of them as apart.
// A pair that was marked the other way changes sides.
export function linkRows(c: Corrections, rows: number[], kind: "together" | "apart"): Corrections {
  const pairs: Pair[] = [];
  for (let i = 0; i < rows.length; ++i)
    for (let j = i + 1; j < rows.length; ++j)
      if (kind === "apart" || j === i + 1) pairs.push([rows[i], rows[j]]);
  const other = kind === "together" ? "apart" : "together";
  const without = (list: readonly Pair[]) =>
    list.filter((pair) => !pairs.some((p) => isSame(p, pair)));
  return { ...c, [kind]: [...without(c[kind]), ...pairs], [other]: without(c[other]) };
}

export function dropPair(c: Corrections, kind: "together" | "apart", at: number): Corrections {
  return { ...c, [kind]: c[kind].filter((_, i) => i !== at) };
}

export function dropMembership(c: Corrections, row: number): Corrections {
  return { ...c, memberships: new Map([...c.memberships].filter(([r]) => r !== row)) };
}

// What a method can take of them.
export function constraintsOf(c: Corrections): Constraints {
  const sorted = [...c.memberships].filter(([, part]) => part >= 0).sort((a, b) => a[0] - b[0]);
  return {
    memberships: sorted.map(([row, part]): Pair => [row, part]),
    must_link: c.together.map(([a, b]): Pair => [a, b]),
    cannot_link: c.apart.map(([a, b]): Pair => [a, b]),
  };
}

export function correctionsOf(constraints: Constraints | undefined): Corrections {
  if (!constraints) return kNoCorrections;
  return {
    ...kNoCorrections,
    memberships: new Map(constraints.memberships ?? []),
    together: constraints.must_link ?? [],
    apart: constraints.cannot_link ?? [],
  };
}

// Labels as they are shown: the method's, with moved rows in their new part.
export function correctedLabels(rows: Int32Array, labels: Int32Array, c: Corrections): Int32Array {
  if (c.memberships.size === 0) return labels;
  const shown = labels.slice();
  for (let i = 0; i < rows.length; ++i) {
    const part = c.memberships.get(rows[i]);
    if (part !== undefined) shown[i] = part;
  }
  return shown;
}

// A value with its past and, after undo, its future.
export interface History<T> {
  past: { value: T; what: string }[];
  now: T;
  what: string; // what led to `now`
  future: { value: T; what: string }[];
}

export function startHistory<T>(now: T): History<T> {
  return { past: [], now, what: "", future: [] };
}

export function record<T>(h: History<T>, value: T, what: string): History<T> {
  return { past: [...h.past, { value: h.now, what: h.what }], now: value, what, future: [] };
}

export function undo<T>(h: History<T>): History<T> {
  const last = h.past.at(-1);
  if (!last) return h;
  return { past: h.past.slice(0, -1), now: last.value, what: last.what,
           future: [{ value: h.now, what: h.what }, ...h.future] };
}

// The value after the first `steps` of all steps, those undone included.
export function goTo<T>(h: History<T>, steps: number): History<T> {
  let at = h;
  while (at.past.length > steps && at.past.length > 0) at = undo(at);
  while (at.past.length < steps && at.future.length > 0) at = redo(at);
  return at;
}

export function redo<T>(h: History<T>): History<T> {
  const next = h.future[0];
  if (!next) return h;
  return { past: [...h.past, { value: h.now, what: h.what }], now: next.value, what: next.what,
           future: h.future.slice(1) };
}
