// SPDX-License-Identifier: Apache-2.0
// What parts are called: by hand, else by the labels that set them apart, else by their number.
import type { Part, RunDetail } from "./types";

// The part under a name that was typed; an empty one gives back its labels or its number.
export function renamedPart(part: Part, name: string): Part {
  if (name) return { ...part, name, named_by: "hand" };
  if (part.labels.length > 0)
    return { ...part, name: part.labels.map((label) => label.name).join(", "), named_by: "labels" };
  return { ...part, name: `Part ${part.index + 1}`, named_by: "number" };
}

// Parts of the method, then those that were added by hand.
export function allParts(detail: RunDetail, added: number): Part[] {
  const first = detail.parts.length;
  const more = Array.from({ length: added }, (_, i): Part => {
    const index = first + i;
    const part: Part = { index, name: "", named_by: "number", labels: [], exemplar_labels: [], size: 0, mean_margin: null,
                         typical: [], border: [], apart: "", classes: [] };
    return renamedPart(part, detail.edits?.part_names?.[index] ?? "");
  });
  return [...detail.parts, ...more];
}

// What is kept: only names that were typed, so that labels and numbers stay what they are.
export function namesByHand(parts: readonly Part[]): string[] {
  return parts.map((part) => (part.named_by === "hand" ? part.name : ""));
}

// "98 % sure"
export function sureText(sure: number): string {
  return `${Math.round(100 * sure)} % sure`;
}
