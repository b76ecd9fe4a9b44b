// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { correctedResult } from "../../src/model/corrected";
import type { Columns, Part } from "../../src/model/types";

// Two parts of rows 4 to 7 by decision values; row 6 is moved from part 0 to part 1.
const labels = Int32Array.of(0, 0, 0, 1);
const columns: Columns = {
  rows: Int32Array.of(4, 5, 6, 7), labels, margins: Float32Array.of(4, 2, 1, 3),
  decisions: Float32Array.of(3, -1, 2, 0, 1, 0, -1, 2), contextRows: null, contextDecisions: null, words: null, places: null,
};
const part = (index: number, rows: number[]): Part => ({
  index, name: `Part ${index + 1}`, named_by: "number", labels: [], exemplar_labels: [], size: rows.length, mean_margin: 9,
  typical: rows, border: rows, apart: "Its mean lies far away.", classes: [["a", rows.length]] });
const parts = [part(0, [4, 5, 6]), part(1, [7])];
const classes = { of: [0, 0, 0, 0, 0, 0, 1, 1], names: ["a", "b"] };

describe("a corrected result", () => {
  it("is the method's own without corrections", () => {
    const same = correctedResult(columns, parts, labels, classes);
    expect([same.columns, same.parts]).toEqual([columns, parts]);
  });
  it("has new margins, and nothing said of parts that no longer holds", () => {
    const now = correctedResult(columns, parts, Int32Array.of(0, 0, 1, 1), classes);
    expect([...now.columns.margins!]).toEqual([4, 2, -1, 3]);
    expect(now.parts.map((p) => [p.size, p.mean_margin, p.apart])).toEqual([[2, 3, ""], [2, 1, ""]]);
    expect(now.parts.map((p) => p.typical)).toEqual([[4, 5], [7]]);
    expect(now.parts.map((p) => p.classes)).toEqual([[["a", 2]], [["b", 2]]]);
  });
  it("leaves parts alone that lost and got nothing, and knows no margin where there is no decision", () => {
    const own = { ...columns, decisions: null };
    const now = correctedResult(own, [...parts, part(2, [])], Int32Array.of(0, 0, -1, 1), classes);
    expect([...now.columns.margins!]).toEqual([4, 2, NaN, 3]);
    expect(now.parts[0].mean_margin).toBe(3);
    expect(now.parts[1]).toBe(parts[1]);
  });
});
