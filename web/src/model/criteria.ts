// SPDX-License-Identifier: Apache-2.0
// Which images are shown: by name, class, part, margin, tag, size and date of the file. A row must
// meet all that is given; what is not known (a margin, a date) meets no limit.

export interface Range { from: number | null; to: number | null }

export interface Criteria {
  text: string; // part of the name, or of a tag
  tag: string;
  classes: string[];
  margin: Range;
  kilobytes: Range; // 1,000 bytes
  dates: { from: string; to: string }; // 2026-11-19, both included; "": no limit
}

const kAnything: Range = { from: null, to: null };
export const kNoCriteria: Criteria = { text: "", tag: "", classes: [], margin: kAnything, kilobytes: kAnything, dates: { from: "", to: "" } };

export interface RowFacts {
  name: string;
  tags: readonly string[];
  className: string;
  margin: number; // NaN: not known
  bytes: number;
  seconds: number; // since 1970
}

const kDay = 24 * 3600;
const inside = (value: number, { from, to }: Range) => (from === null || value >= from) && (to === null || value <= to);
const isGiven = ({ from, to }: Range) => from !== null || to !== null;

// A day of the reader's own calendar as seconds since 1970; NaN when it is none.
const dayStart = (day: string) => new Date(`${day}T00:00:00`).getTime() / 1000;

export function meets(facts: RowFacts, c: Criteria): boolean {
  const text = c.text.trim().toLowerCase();
  if (text && !facts.name.toLowerCase().includes(text) && !facts.tags.some((tag) => tag.toLowerCase().includes(text))) return false;
  if (c.tag && !facts.tags.includes(c.tag)) return false;
  if (c.classes.length && !c.classes.includes(facts.className)) return false;
  if (isGiven(c.margin) && !inside(facts.margin, c.margin)) return false;
  if (isGiven(c.kilobytes) && !inside(facts.bytes / 1000, c.kilobytes)) return false;
  if (c.dates.from && !(facts.seconds >= dayStart(c.dates.from))) return false;
  return !c.dates.to || facts.seconds < dayStart(c.dates.to) + kDay;
}

// How many kinds of criteria are given, without the text that has a field of its own.
export function criteriaCount(c: Criteria): number {
  return [c.tag !== "", c.classes.length > 0, isGiven(c.margin), isGiven(c.kilobytes), c.dates.from !== "" || c.dates.to !== ""].filter(Boolean).length;
}

export const needsFiles = (c: Criteria): boolean => isGiven(c.kilobytes) || c.dates.from !== "" || c.dates.to !== "";

// As one text for the permalink; "" for none.
export function packCriteria(c: Criteria): string {
  const given = Object.entries(c).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(kNoCriteria[key as keyof Criteria]));
  return given.length ? JSON.stringify(Object.fromEntries(given)) : "";
}

// Whatever cannot be read is left out.
export function unpackCriteria(text: string): Criteria {
  let given: Partial<Record<keyof Criteria, unknown>> = {};
  try { given = JSON.parse(text || "{}") as typeof given; } catch { /* an edited link */ }
  const word = (value: unknown) => (typeof value === "string" ? value : "");
  const range = (value: unknown): Range => {
    const { from, to } = (value ?? {}) as Partial<Range>;
    return { from: typeof from === "number" ? from : null, to: typeof to === "number" ? to : null };
  };
  const dates = (given?.dates ?? {}) as Partial<Criteria["dates"]>;
  return {
    text: word(given?.text), tag: word(given?.tag), margin: range(given?.margin), kilobytes: range(given?.kilobytes),
    classes: Array.isArray(given?.classes) ? given.classes.filter((name): name is string => typeof name === "string") : [],
    dates: { from: word(dates.from), to: word(dates.to) },
  };
}
