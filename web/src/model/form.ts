// SPDX-License-Identifier: Apache-2.0
// The options form: what is wrong with a value, what differs from the defaults. The rules are those
// of the declared fields; the server checks again.
import type { Collection, Field, Method, RunRequest, Value } from "./types";
import { isEmptySet } from "./rows";
import { counted } from "./text";

// Options that the page sets elsewhere, or that have no meaning here.
const kElsewhere = new Set(["num_clusters", "rank_contexts"]);

export function shownFields(method: Method, advanced: boolean): Field[] {
  return method.fields.filter((f) => !kElsewhere.has(f.name) && f.advanced === advanced);
}

// The field that says how many parts there are, if the method has one.
export function partsField(method: Method): Field | undefined {
  return method.fields.find((f) => f.name === "num_clusters");
}

// A method that cannot run without a context; others take one in place of classes.
export const needsContext = (method: Method | undefined): boolean => !!method?.needs.includes("context");

// The value with which a method finds the number of parts itself; undefined where it cannot.
export function automaticParts(field: Field): Value | undefined {
  return field.word || (field.min === 0 ? 0 : undefined);
}

// The plainest method that makes a given number of clusters of any images: where a set can come from.
export function simplestClusters(methods: Method[], collection: Collection): Method | undefined {
  const able = methods.filter((m) => !m.takes_context && !unmetNeed(m, collection) && partsField(m));
  return able.find((m) => m.name === "kmeans") ?? able[0];
}

// What is typed, as the field's own kind; text that is not a number stays text.
export function parseValue(field: Field, text: string): Value {
  if (field.kind !== "integer" && field.kind !== "real") return text;
  const value = Number(text.trim().replace(",", "."));
  return text.trim() === "" || !Number.isFinite(value) ? text : value;
}

// A sentence, or "" if the value is valid.
export function problemOf(field: Field, value: Value): string {
  if (field.kind === "choice")
    return field.choices.includes(String(value)) ? "" : `must be one of ${field.choices.join(", ")}`;
  if (field.kind !== "integer" && field.kind !== "real") return "";
  if (field.word && value === field.word) return "";
  if (typeof value !== "number") return field.word ? `must be a number or ${field.word}` : "must be a number";
  if (field.kind === "integer" && !Number.isInteger(value)) return "must be a whole number";
  if (field.min !== null && (field.min_excluded ? value <= field.min : value < field.min))
    return `must be ${field.min_excluded ? "above" : "at least"} ${field.min}`;
  if (field.max !== null && value > field.max) return `must be at most ${field.max}`;
  return "";
}

export function rangeOf(field: Field): string {
  if (field.kind === "choice" || field.kind === "flag" || field.kind === "text") return "";
  const low = field.min === null ? "" : `${field.min_excluded ? "above" : "at least"} ${field.min}`;
  const range = field.max === null ? low : `${low ? low + ", " : ""}at most ${field.max}`;
  return field.word ? [range, field.word].filter(Boolean).join(", or ") : range;
}

// The values that differ from the defaults: what a request carries.
export function changedOptions(method: Method, values: Record<string, Value>): Record<string, Value> {
  const changed: Record<string, Value> = {};
  for (const field of method.fields) {
    const value = values[field.name];
    if (value !== undefined && value !== field.default) changed[field.name] = value;
  }
  return changed;
}

// Why the method cannot be used on this collection, or "".
export function unmetNeed(method: Method, collection: Collection): string {
  if (method.needs.includes("images") && collection.kind !== "images") return "needs an image folder";
  if (method.needs.includes("binary") && !collection.binary) return "needs zeros and ones";
  if (method.needs.includes("classes") && collection.classes.length === 0) return "needs classes";
  return "";
}

// Why the request cannot be sent, or "".
export function requestProblem(request: RunRequest, method: Method | undefined,
                               numRows: number, numContext: number): string {
  if (!method) return "Choose a method.";
  if (isEmptySet(request.set) || numRows === 0) return "Choose the images to split: a class, or a selection.";
  if (needsContext(method) && !request.rank_contexts && (isEmptySet(request.context) || numContext === 0))
    return "Choose the images to compare with: the context.";
  if (request.set.rest && !isEmptySet(request.context)) return "Everything has nothing to be compared with: choose a smaller set, or no context.";
  for (const field of method.fields) {
    const value = request.options[field.name];
    const problem = value === undefined ? "" : problemOf(field, value);
    if (problem) return `${field.flag || field.name} ${problem}.`;
  }
  const parts = Number(request.options.num_clusters ?? partsField(method)?.default ?? 1); // a word is no number
  if (numRows < parts) return `${counted(numRows, "row")} cannot fill ${counted(parts, "part")}.`;
  return "";
}
