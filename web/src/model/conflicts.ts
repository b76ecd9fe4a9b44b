// SPDX-License-Identifier: Apache-2.0
// Contradictions between constraints, which the program names by numbers from 0, as people see them.

// "sample 20 in part 1" becomes "a.png in Part 2"; messages about other things stay as they are.
export function namedConflict(message: string, nameOf: (sample: number) => string): string {
  if (!message.includes("contradict each other")) return message;
  return message
    .replace(/\bsample (\d+) in part (\d+)/g, (_, sample: string, part: string) => `${nameOf(Number(sample))} in Part ${Number(part) + 1}`)
    .replace(/\bsamples (\d+) and (\d+) (together|apart)/g,
      (_, a: string, b: string, kind: string) => `${nameOf(Number(a))} and ${nameOf(Number(b))} ${kind}`);
}
