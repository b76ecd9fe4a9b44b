// SPDX-License-Identifier: Apache-2.0
// Numbers and counts as people read them.

export function count(n: number): string {
  return Math.round(n).toLocaleString("en-US");
}

export function counted(n: number, one: string, many = one + "s"): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

// At most four significant digits, no trailing zeros; "–" if there is no number.
export function number(value: number | null | undefined, digits = 4): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(Math.max(0, digits - 2));
  if (size >= 1000) return count(value);
  return String(Number(value.toPrecision(digits)));
}

// Marks of one axis, with as many digits as needed to distinguish them (at most nine).
export function ticks(values: number[], digits = 4): string[] {
  for (let more = digits; ; ++more) {
    const texts = values.map((v) => number(v, more));
    if (more >= 9 || new Set(texts).size === new Set(values).size) return texts;
  }
}

export function percent(share: number): string {
  if (!Number.isFinite(share)) return "–";
  const value = share * 100;
  return `${value < 10 && value > 0 ? value.toFixed(1) : Math.round(value)} %`;
}

export function seconds(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (value < 10) return `${value.toFixed(1)} s`;
  if (value < 90) return `${Math.round(value)} s`;
  const minutes = Math.floor(value / 60);
  if (minutes < 90) return `${minutes} min ${Math.round(value % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

// "just now", "5 min ago", else the day.
export function age(iso: string, now = Date.now()): string {
  const then = Date.parse(iso);
  if (!Number.isFinite(then)) return "";
  const minutes = Math.floor((now - then) / 60000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ago`;
  return new Date(then).toISOString().slice(0, 10);
}

// "num_restarts" as a label: "Num restarts" reads badly, so counts lose their prefix.
export function label(name: string): string {
  const words = name.replace(/^num_/, "").replace(/_/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

// The last segment of a path.
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

export function listed(names: string[], most = 3): string {
  if (names.length <= most) return names.join(", ");
  return `${names.slice(0, most).join(", ")} and ${names.length - most} more`;
}
