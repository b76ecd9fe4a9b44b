// SPDX-License-Identifier: Apache-2.0
// Corrections as they are kept in the run's folder: what holds now, and the steps that led there, so
// that undo and the history work after a reload.
import { correctionsOf, kNoCorrections, kSetAside, record, startHistory, undo, type Corrections, type History } from "./corrections";
import type { Pair, RunDetail, RunEdits } from "./types";

// What one step changed. A part of null: the row was freed.
export interface Step {
  what: string;
  memberships?: [number, number | null][];
  tags?: [number, string[]][];
  together?: Pair[];
  apart?: Pair[];
  added?: number;
}

function changedEntries<T>(before: ReadonlyMap<number, T>, after: ReadonlyMap<number, T>): [number, T | null][] {
  const changed: [number, T | null][] = [];
  for (const [row, value] of after) if (before.get(row) !== value) changed.push([row, value]);
  for (const row of before.keys()) if (!after.has(row)) changed.push([row, null]);
  return changed;
}

function stepBetween(before: Corrections, after: Corrections, what: string): Step {
  const step: Step = { what };
  const moves = changedEntries(before.memberships, after.memberships);
  const tags = changedEntries(before.tags, after.tags);
  if (moves.length) step.memberships = moves;
  if (tags.length) step.tags = tags.map(([row, list]) => [row, [...(list ?? [])]]);
  if (before.together !== after.together) step.together = [...after.together];
  if (before.apart !== after.apart) step.apart = [...after.apart];
  if (before.added !== after.added) step.added = after.added;
  return step;
}

function applyStep(c: Corrections, step: Step): Corrections {
  const memberships = new Map(c.memberships);
  for (const [row, part] of step.memberships ?? []) {
    if (part === null) memberships.delete(row);
    else memberships.set(row, part);
  }
  const tags = new Map(c.tags);
  for (const [row, list] of step.tags ?? []) {
    if (list.length) tags.set(row, list);
    else tags.delete(row);
  }
  return { memberships, tags, together: step.together ?? c.together, apart: step.apart ?? c.apart, added: step.added ?? c.added };
}

// What is sent to be kept.
export function packEdits(h: History<Corrections>, numParts: number): RunEdits {
  const values = [...h.past, { value: h.now, what: h.what }, ...h.future];
  const steps = values.slice(1).map(({ value, what }, i) => stepBetween(values[i].value, value, what));
  const tags = [...h.now.tags].flatMap(([row, list]) => list.map((tag): [number, string] => [row, tag]));
  return { moves: [...h.now.memberships].sort((a, b) => a[0] - b[0]), tags, num_parts: numParts + h.now.added,
           history: { at: h.past.length, steps } };
}

const isList = (value: unknown): value is unknown[] => Array.isArray(value);

// The history that a run was left with; a history that does not fit its moves becomes one step.
export function unpackEdits(detail: RunDetail): History<Corrections> {
  const base = correctionsOf(detail.request.constraints);
  const { edits } = detail;
  if (!edits) return startHistory(base);
  const kept = edits.history;
  if (kept && isList(kept.steps) && Number.isInteger(kept.at)) {
    let h = startHistory(base);
    for (const step of kept.steps) h = record(h, applyStep(h.now, step), step.what);
    while (h.past.length > kept.at) h = undo(h);
    if (isSame(h.now, edits)) return h;
  }
  const now = correctionsFrom(edits, detail.parts.length);
  return now.memberships.size + now.tags.size + now.added > 0 ? record(startHistory(base), now, "earlier changes") : startHistory(base);
}

function correctionsFrom(edits: RunEdits, numParts: number): Corrections {
  const tags = new Map<number, string[]>();
  for (const [row, tag] of edits.tags) tags.set(row, [...(tags.get(row) ?? []), tag]);
  return { ...kNoCorrections, memberships: new Map(edits.moves), tags, added: Math.max(0, edits.num_parts - numParts) };
}

function isSame(now: Corrections, edits: RunEdits): boolean {
  return now.memberships.size === edits.moves.length && edits.moves.every(([row, part]) => now.memberships.get(row) === part);
}

// What a corrected run is asked for: the split to start from, with parts numbered without gaps.
export interface CorrectedSplit {
  initial: Pair[]; // every row that was not set aside, with its part
  memberships: Pair[];
  oldParts: number[]; // the old number of each new part
  asideCount: number;
}

export function correctedSplit(rows: Int32Array, shown: Int32Array, c: Corrections): CorrectedSplit {
  const oldParts = [...new Set(shown)].filter((part) => part >= 0).sort((a, b) => a - b);
  const renumbered = new Map(oldParts.map((part, i) => [part, i]));
  const initial: Pair[] = [];
  rows.forEach((row, i) => { if (shown[i] >= 0) initial.push([row, renumbered.get(shown[i])!]); });
  const memberships = [...c.memberships].filter(([, part]) => part > kSetAside)
    .map(([row, part]): Pair => [row, renumbered.get(part)!]).sort((a, b) => a[0] - b[0]);
  return { initial, memberships, oldParts, asideCount: rows.length - initial.length };
}

// Rows that the method put elsewhere than they were when it started from a corrected split.
export function followedRows(initial: readonly Pair[], rows: Int32Array, labels: Int32Array): number[] {
  const before = new Map(initial);
  return [...rows].filter((row, i) => before.has(row) && before.get(row) !== labels[i]);
}
