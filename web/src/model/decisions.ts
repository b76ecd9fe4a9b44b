// SPDX-License-Identifier: Apache-2.0
// Decision values of one part: how they are distributed in the part, in the other parts and in the
// context, and which context rows come nearest to the part.
import type { Columns } from "./types";

export interface DecisionBins {
  min: number;
  max: number;
  own: number[];     // share of the part's rows in each bin
  others: number[];  // of the rows in other parts
  context: number[]; // of the context's rows
}

const numPartsOf = (columns: Columns) => (columns.decisions ? columns.decisions.length / Math.max(1, columns.rows.length) : 0);

// Every n-th value, from `part` on.
function valuesOf(decisions: Float32Array, numParts: number, part: number): number[] {
  return Array.from({ length: decisions.length / numParts }, (_, i) => decisions[i * numParts + part]);
}

// Shares of each group in equal bins of a range that 0 is in.
export function decisionBins(columns: Columns, labels: Int32Array, part: number, numBins: number): DecisionBins | null {
  const numParts = numPartsOf(columns);
  if (part < 0 || part >= numParts) return null;
  const values = valuesOf(columns.decisions!, numParts, part);
  const context = columns.contextDecisions ? valuesOf(columns.contextDecisions, numParts, part) : [];
  const finite = [...values, ...context, 0].filter(Number.isFinite);
  const min = finite.reduce((a, b) => Math.min(a, b)), max = finite.reduce((a, b) => Math.max(a, b));
  if (!(min < max)) return null;
  const bins = (list: number[]) => {
    const shares = new Array<number>(numBins).fill(0);
    const known = list.filter(Number.isFinite);
    for (const v of known) shares[Math.min(numBins - 1, Math.floor(((v - min) / (max - min)) * numBins))] += 1 / known.length;
    return shares;
  };
  return { min, max, own: bins(values.filter((_, i) => labels[i] === part)), others: bins(values.filter((_, i) => labels[i] !== part)), context: bins(context) };
}

// The context rows with the highest decision values for a part: those most like it.
export function nearestContext(columns: Columns, part: number, most: number): number[] {
  const numParts = numPartsOf(columns);
  if (!columns.contextRows || !columns.contextDecisions || part < 0 || part >= numParts) return [];
  const values = valuesOf(columns.contextDecisions, numParts, part);
  const order = values.map((_, i) => i).filter((i) => Number.isFinite(values[i]));
  order.sort((a, b) => values[b] - values[a] || a - b);
  return order.slice(0, most).map((i) => columns.contextRows![i]);
}
