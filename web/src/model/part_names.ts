// SPDX-License-Identifier: Apache-2.0
// What parts are called: by hand, else by the labels that set them apart, else by their number.
import type { Part } from "./types";

// The part under a name that was typed; an empty one gives back its labels or its number.
export function renamedPart(part: Part, name: string): Part {
  if (name) return { ...part, name, named_by: "hand" };
  if (part.labels.length > 0)
    return { ...part, name: part.labels.map((label) => label.name).join(", "), named_by: "labels" };
  return { ...part, name: `Part ${part.index + 1}`, named_by: "number" };
}

// What is kept: only names that were typed, so that labels and numbers stay what they are.
export function namesByHand(parts: readonly Part[]): string[] {
  return parts.map((part) => (part.named_by === "hand" ? part.name : ""));
}

// "98 % sure"
export function sureText(sure: number): string {
  return `${Math.round(100 * sure)} % sure`;
}
