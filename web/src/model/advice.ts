// SPDX-License-Identifier: Apache-2.0
// Should a class be split? What a run of `icc advise` says about each class, and how one is asked for.
import { isEmptySet } from "./rows";
import type { Collection, Method, RunBrief, RunDetail, RunRequest } from "./types";

export const kAdvice = "icc advise";

export interface ClassAdvice {
  name: string;
  verdict: string; // "keep", "split", "split for context", "too few samples", "not settled"
  isSplit: boolean;
  isJudged: boolean;
  parts: number[]; // of the run; they are numbered class by class
  sizes: number[];
  size: number;
  gapP: number;
  stability: number;
  gain: number; // share of all samples; NaN: not known
  context: string; // the class with which most confusions end; "": none end
  ended: number; // confusions
}

// Whether the run was stopped before every class had all its evidence.
export const isUnfinished = (detail: Pick<RunDetail, "summary">): boolean =>
  (detail.summary.termination ?? "Converged") !== "Converged";

const listIn = (summary: Record<string, unknown>, key: string): unknown[] =>
  Array.isArray(summary[key]) ? (summary[key] as unknown[]) : [];

// One entry per class, those to split first; empty for runs of another method.
export function adviceOf(detail: Pick<RunDetail, "method" | "summary" | "parts">): ClassAdvice[] {
  if (detail.method !== kAdvice) return [];
  const { summary } = detail;
  const unfinished = isUnfinished(detail);
  const numberIn = (key: string, c: number) => Number(listIn(summary, key)[c] ?? NaN);
  const names = listIn(summary, "classes").map(String);
  let next = 0;
  const all = names.map((name, c): ClassAdvice => {
    const parts = Array.from({ length: numberIn("parts", c) || 1 }, () => next++);
    const sizes = parts.map((part) => detail.parts[part]?.size ?? 0);
    const given = String(listIn(summary, "verdicts")[c] ?? "");
    const verdict = unfinished && given === "keep" ? "not settled" : given;
    const gain = numberIn("gains", c);
    return {
      name, verdict, parts, sizes, isSplit: parts.length > 1, isJudged: verdict !== "too few samples" && verdict !== "not settled",
      size: sizes.reduce((total, n) => total + n, 0),
      gapP: numberIn("gap_p_values", c), stability: numberIn("stabilities", c), gain: unfinished && gain === 0 ? NaN : gain,
      context: names[numberIn("context_classes", c)] ?? "", ended: numberIn("ended_confusions", c) || 0,
    };
  });
  return [...all.filter((one) => one.isSplit), ...all.filter((one) => !one.isSplit)];
}

// "+0.42 %": gains are small, so they have two digits where other shares have none.
export function gainText(gain: number): string {
  return Number.isFinite(gain) ? `${gain > 0 ? "+" : ""}${(100 * gain).toFixed(2)} %` : "–";
}

// All rows with a class; null where there is nothing to judge.
export function adviceRequest(collection: Collection, methods: Method[]): RunRequest | null {
  const classes = collection.classes.filter((c) => c.count > 0).map((c) => c.name);
  if (classes.length < 2 || !methods.some((m) => m.name === kAdvice)) return null;
  return { method: kAdvice, set: { classes }, options: {}, name: "Should a class be split?" };
}

// A run that already answers the request, or is about to.
export function earlierAdvice(runs: RunBrief[], request: RunRequest): RunBrief | undefined {
  const asked = JSON.stringify(request.set);
  return runs.find((run) => run.method === kAdvice && ["queued", "running", "done"].includes(run.state) &&
    !isEmptySet(run.request.set) && JSON.stringify(run.request.set) === asked &&
    Object.keys(run.request.options ?? {}).length === 0);
}
