// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { decisionBins, nearestContext } from "../../src/model/decisions";
import type { Columns } from "../../src/model/types";

// Two parts; decision values of part 0 are -1, 1, 3 and 0.5, of the context -1 and 2.
const columns: Columns = {
  rows: Int32Array.of(4, 5, 6, 7), labels: Int32Array.of(1, 0, 0, 1), margins: null,
  decisions: Float32Array.of(-1, 9, 1, 9, 3, 9, 0.5, 9), contextRows: Int32Array.of(1, 2, 3), contextDecisions: Float32Array.of(-1, 5, 2, 7, NaN, 6),
  words: null, places: null,
};

describe("decision values", () => {
  it("are counted by bins as shares of each group", () => {
    const bins = decisionBins(columns, columns.labels, 0, 4)!;
    expect([bins.min, bins.max]).toEqual([-1, 3]);
    expect(bins.own).toEqual([0, 0, 0.5, 0.5]); // 1 and 3: the last bin has its end
    expect(bins.others).toEqual([0.5, 0.5, 0, 0]);
    expect(bins.context).toEqual([0.5, 0, 0, 0.5]);
  });
  it("are none for parts that the method does not know, and without a spread", () => {
    expect(decisionBins(columns, columns.labels, 2, 4)).toBeNull();
    expect(decisionBins({ ...columns, decisions: new Float32Array(8), contextDecisions: null }, columns.labels, 0, 4)).toBeNull();
  });
  it("put the context rows most like a part first", () => {
    expect(nearestContext(columns, 0, 5)).toEqual([2, 1]);
    expect(nearestContext(columns, 1, 2)).toEqual([2, 3]);
    expect(nearestContext({ ...columns, contextDecisions: null }, 0, 5)).toEqual([]);
  });
});
