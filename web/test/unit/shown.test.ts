// SPDX-License-Identifier: Apache-2.0
// Which images are shown, in which order.
import { describe, expect, it } from "vitest";
import { criteriaCount, kNoCriteria, meets, packCriteria, unpackCriteria, type RowFacts } from "../../src/model/criteria";
import { kOrders, nameRanks, nextOrder, orderKeys, positionsByPart, selectedByPart, sortedPositions, type Facts, type Order } from "../../src/model/order";

describe("order", () => {
  const labels = Int32Array.of(0, 1, 0, 0, -1, 1);
  const facts: Facts = {
    row: null, margin: Float32Array.of(1, 5, 3, 3, 9, 2), nearest: null, name: Int32Array.of(5, 4, 3, 2, 1, 0), part: [0, 1, 0, 0, NaN, 1],
    class: [1, 0, NaN, 0, 1, 0], size: null, date: [3e9, 3e9 + 1, 3e9 + 2, 3e9 + 3, 3e9 + 4, NaN], tags: [0, 0, -2, 0, -1, 0] };
  const first = (order: Order, more: Partial<Facts> = {}) => [...positionsByPart(labels, orderKeys(order, { ...facts, ...more }), 2)[0]];
  const all = (order: Order) => [...sortedPositions(Int32Array.from(labels.keys()), orderKeys(order, facts))];

  it("puts the most certain first, ties by position, and omits rows without a part", () => {
    const parts = positionsByPart(labels, orderKeys("sure", facts), 2);
    expect(parts.map((p) => [...p])).toEqual([[2, 3, 0], [1, 5]]);
    expect(first("border")).toEqual([0, 2, 3]);
  });
  it("leaves rows as they are where the column is not known", () => {
    expect(first("border", { margin: null })).toEqual([0, 2, 3]);
    expect(first("odd")).toEqual([0, 2, 3]);
    expect(orderKeys("large", facts)).toBeNull();
  });
  it("puts unusual rows or near-duplicates first by the distance to the nearest other row", () => {
    const nearest = Float32Array.of(5, 1, 9, 2, 0, 3);
    expect(first("odd", { nearest })).toEqual([2, 0, 3]);
    expect(first("twin", { nearest })).toEqual([3, 0, 2]);
  });
  it("puts what is not known last, both ways", () => {
    expect(all("new")).toEqual([4, 3, 2, 1, 0, 5]);
    expect(all("old")).toEqual([0, 1, 2, 3, 4, 5]);
    expect(all("class")).toEqual([1, 3, 5, 0, 4, 2]);
    expect(all("class-down")).toEqual([0, 4, 1, 3, 5, 2]);
    expect(all("part")).toEqual([0, 2, 3, 1, 5, 4]);
    expect(all("tags")).toEqual([2, 4, 0, 1, 3, 5]);
  });
  it("orders names as people do", () => {
    expect([...nameRanks(["img10", "Img2", "a", "img1"])]).toEqual([3, 2, 0, 1]);
    expect(all("name")).toEqual([5, 4, 3, 2, 1, 0]);
  });
  it("goes through the ways of a column by turns", () => {
    expect(nextOrder("row", "margin")).toBe("sure");
    expect(nextOrder("sure", "margin")).toBe("border");
    expect(nextOrder("border", "margin")).toBe("sure");
    expect(new Set(kOrders.map((order) => order.value)).size).toBe(kOrders.length);
  });
  it("counts selected rows by part", () => {
    const rows = Int32Array.of(10, 11, 12, 13, 14, 15);
    expect(selectedByPart(rows, labels, new Set([10, 13, 15, 14, 99]), 2)).toEqual([2, 1]);
  });
});

describe("criteria", () => {
  const noon = new Date("2026-03-05T12:00:00").getTime() / 1000;
  const row: RowFacts = { name: "Birds/Wren_01.jpg", tags: ["Blurred"], className: "Birds", margin: 0.5, bytes: 2500, seconds: noon };
  const met = (change: Partial<typeof kNoCriteria>, facts: Partial<RowFacts> = {}) => meets({ ...row, ...facts }, { ...kNoCriteria, ...change });
  it("finds names and tags in upper or lower case", () => {
    expect([met({ text: "wren" }), met({ text: "blur" }), met({ text: "owl" }), met({ tag: "Blurred" }), met({ tag: "blurred" })])
      .toEqual([true, true, false, true, false]);
  });
  it("keeps to both ends of a range, and what is not known is outside", () => {
    expect(met({ margin: { from: 0.5, to: 0.5 } })).toBe(true);
    expect(met({ margin: { from: 0.6, to: null } })).toBe(false);
    expect(met({ margin: { from: null, to: 1 } }, { margin: NaN })).toBe(false);
    expect([met({ kilobytes: { from: 2.5, to: null } }), met({ kilobytes: { from: null, to: 2.4 } })]).toEqual([true, false]);
  });
  it("counts whole days", () => {
    const day = (from: string, to: string) => met({ dates: { from, to } });
    expect([day("2026-03-05", "2026-03-05"), day("2026-03-06", ""), day("", "2026-03-04"), day("", "2026-03-05")]).toEqual([true, false, false, true]);
    expect(met({ dates: { from: "2026-01-01", to: "" } }, { seconds: NaN })).toBe(false);
  });
  it("must all be met", () => {
    expect(met({ classes: ["Birds", "Bats"], text: "wren" })).toBe(true);
    expect(met({ classes: ["Bats"], text: "wren" })).toBe(false);
    expect(criteriaCount({ ...kNoCriteria, classes: ["Bats"], text: "x", dates: { from: "", to: "2026-01-01" } })).toBe(2);
  });
  it("are nothing as an empty text, and survive nonsense", () => {
    expect(packCriteria(kNoCriteria)).toBe("");
    for (const text of ["", "{", "null", "[]", '{"classes":3,"margin":"x","dates":{"from":4}}']) expect(unpackCriteria(text)).toEqual(kNoCriteria);
  });
});
