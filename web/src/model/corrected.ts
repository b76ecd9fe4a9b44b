// SPDX-License-Identifier: Apache-2.0
// A result after moves by hand: margins, and what is said of the parts that lost or got a row.
import type { Columns, Part } from "./types";

export interface ClassesOfRows { of: ArrayLike<number>; names: readonly string[] } // of every row of the collection, -1: none

// `shown` are the labels with corrections; where they are the method's own, nothing changes.
export function correctedResult(columns: Columns, parts: Part[], shown: Int32Array, classes: ClassesOfRows): { columns: Columns; parts: Part[] } {
  const { labels } = columns;
  if (shown === labels) return { columns, parts };
  const changed = new Set<number>();
  shown.forEach((part, i) => { if (part !== labels[i]) changed.add(part).add(labels[i]); });
  const corrected = { ...columns, margins: correctedMargins(columns, shown) };
  return { columns: corrected, parts: parts.map((part) => (changed.has(part.index) ? correctedPart(part, corrected, shown, classes) : part)) };
}

// Margins of moved rows: by decision values where there are some, else unknown.
function correctedMargins({ margins, decisions, labels }: Columns, shown: Int32Array): Float32Array | null {
  if (!margins) return null;
  const numParts = decisions ? decisions.length / labels.length : 0;
  const renewed = margins.slice();
  for (let i = 0; i < shown.length; ++i) {
    if (shown[i] === labels[i]) continue;
    const own = decisions && shown[i] >= 0 && shown[i] < numParts ? decisions[i * numParts + shown[i]] : NaN;
    let other = -Infinity;
    for (let k = 0; k < numParts; ++k) if (k !== shown[i]) other = Math.max(other, decisions![i * numParts + k]);
    renewed[i] = own - other;
  }
  return renewed;
}

// What was said of the part as it was no longer holds: it is counted again, or left unsaid.
function correctedPart(part: Part, { rows, margins }: Columns, shown: Int32Array, classes: ClassesOfRows): Part {
  const members = Array.from(shown.keys()).filter((i) => shown[i] === part.index);
  const known = margins ? members.map((i) => margins[i]).filter(Number.isFinite) : [];
  const counts = new Map<string, number>();
  for (const i of members) {
    const name = classes.names[classes.of[rows[i]]];
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const inside = new Set(members.map((i) => rows[i]));
  return {
    ...part, size: members.length, apart: "",
    mean_margin: known.length ? known.reduce((sum, margin) => sum + margin, 0) / known.length : null,
    typical: part.typical.filter((row) => inside.has(row)), border: part.border.filter((row) => inside.has(row)),
    classes: [...counts].sort((a, b) => b[1] - a[1]),
  };
}
