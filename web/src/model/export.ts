// SPDX-License-Identifier: Apache-2.0
// Labels as files, for a page without a server.
import type { Columns, Part } from "./types";

const quoted = (text: string) => (/[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);

export function labelsCsv(columns: Columns, names: string[], parts: Part[]): string {
  const lines = ["row,name,part,part_name,margin"];
  columns.rows.forEach((row, i) => {
    const label = columns.labels[i];
    lines.push([row, quoted(names[row] ?? ""), label, quoted(parts[label]?.name ?? ""),
                columns.margins ? columns.margins[i] : ""].join(","));
  });
  return lines.join("\n") + "\n";
}

export function labelsJson(columns: Columns, names: string[], parts: Part[]): string {
  const rows = Array.from(columns.rows, (row, i) => ({
    row, name: names[row] ?? "", part: columns.labels[i],
    ...(columns.margins ? { margin: columns.margins[i] } : {}),
  }));
  return JSON.stringify({ parts: parts.map((p) => p.name), rows }, null, 1) + "\n";
}
