// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { firstRival, galleryRows, movedRows } from "../../src/model/compare";
import { constraintsOf, correctedLabels, correctionsOf, freeRows, kNoCorrections, linkRows, moveRows, record, redo,
         startHistory, undo } from "../../src/model/corrections";
import { namedConflict } from "../../src/model/conflicts";
import { automaticParts, changedOptions, parseValue, problemOf, rangeOf, requestProblem } from "../../src/model/form";
import { layGrid, scrollTo, stepItem, visibleItems } from "../../src/model/grid";
import { namesByHand, renamedPart, sureText } from "../../src/model/part_names";
import { isSameRows, looseRows, packRows, rowsOf, unpackRows } from "../../src/model/rows";
import { number, ticks, percent, seconds } from "../../src/model/text";
import type { Collection, Field, Method, Part, RunBrief } from "../../src/model/types";

const collection: Collection = {
  name: "c", kind: "images", n: 6, d: 2, feature: "tiny", has_images: true, version: "0",
  classes: [{ name: "a", count: 2 }, { name: "b", count: 3 }],
};
const classes = Int32Array.of(0, 1, 1, 0, 1, -1);

describe("comparing", () => {
  const run = (id: string, set: object) => ({ id, request: { set } }) as unknown as RunBrief;
  it("begins with the newest run of the same set, else with the newest", () => {
    const others = [run("3", { classes: ["b"] }), run("2", { classes: ["a"] }), run("1", { classes: ["a"] })];
    expect(firstRival(run("0", { classes: ["a"] }), others)?.id).toBe("2");
    expect(firstRival(run("0", { rows: [1] }), others)?.id).toBe("3");
    expect(firstRival(run("0", {}), [])).toBeUndefined();
  });
});

describe("rows", () => {
  it("takes classes, rows, or the rest", () => {
    expect([...rowsOf({ classes: ["a"] }, classes, collection)]).toEqual([0, 3]);
    expect([...rowsOf({ classes: ["nobody"] }, classes, collection)]).toEqual([]);
    expect([...rowsOf({ rows: [5, 1, 99] }, classes, collection)]).toEqual([1, 5]);
    expect([...rowsOf({ rest: true }, classes, collection, { classes: ["b"] })]).toEqual([0, 3, 5]);
  });
  it("finds those without a class, where others have one", () => {
    expect(looseRows(classes, collection)).toEqual([5]);
    expect(looseRows(Int32Array.of(-1, -1), { ...collection, classes: [] })).toEqual([]);
    expect([isSameRows([5], [5]), isSameRows([4], [5]), isSameRows([5, 6], [5]), isSameRows(undefined, [5])]).toEqual([true, false, false, false]);
  });
  it("packs and unpacks any set of rows", () => {
    const lists = [[], [0], [0, 1, 2, 3], [5, 6, 7, 100, 3000, 3001], [1, 3, 5, 7]];
    for (const rows of lists) expect(unpackRows(packRows(rows))).toEqual(rows);
    expect(packRows([3, 1, 2, 2])).toBe(packRows([1, 2, 3]));
  });
  it("stops at nonsense and at the limit", () => {
    expect(unpackRows("1.2.!!.4")).toEqual([1, 3]);
    expect(unpackRows("0-zzzzzz", 10)).toHaveLength(10);
  });
});

describe("corrections", () => {
  it("moves, frees and reads back", () => {
    const moved = moveRows(kNoCorrections, [4, 2], 1);
    expect(constraintsOf(moved).memberships).toEqual([[2, 1], [4, 1]]);
    expect(constraintsOf(correctionsOf(constraintsOf(moved)))).toEqual(constraintsOf(moved));
    expect(freeRows(linkRows(moved, [2, 9], "together"), [2]).together).toEqual([]);
  });
  it("chains what belongs together, pairs all that belong apart", () => {
    expect(linkRows(kNoCorrections, [1, 2, 3], "together").together).toEqual([[1, 2], [2, 3]]);
    expect(linkRows(kNoCorrections, [1, 2, 3], "apart").apart).toHaveLength(3);
  });
  it("lets a pair change sides, never both", () => {
    const both = linkRows(linkRows(kNoCorrections, [1, 2], "together"), [2, 1], "apart");
    expect(both.together).toEqual([]);
    expect(both.apart).toEqual([[2, 1]]);
  });
  it("shows moved rows in their new part and leaves the method's labels alone", () => {
    const labels = Int32Array.of(0, 0, 1);
    const shown = correctedLabels(Int32Array.of(7, 8, 9), labels, moveRows(kNoCorrections, [8], 1));
    expect([...shown]).toEqual([0, 1, 1]);
    expect([...labels]).toEqual([0, 0, 1]);
  });
  it("undoes and redoes", () => {
    let h = record(record(startHistory(0), 1, "one"), 2, "two");
    h = undo(undo(undo(h)));
    expect(h.now).toBe(0);
    h = redo(h);
    expect([h.now, h.what]).toEqual([1, "one"]);
    expect(record(h, 5, "five").future).toEqual([]);
  });
});

const field = (more: Partial<Field>): Field => ({ name: "cost", flag: "--cost", kind: "real", default: 1, choices: [], min: null,
  max: null, min_excluded: false, word: "", advanced: false, help: "", ...more });

describe("form", () => {
  it("says what is wrong with a value", () => {
    expect(problemOf(field({ min: 0, min_excluded: true }), 0)).toBe("must be above 0");
    expect(problemOf(field({ min: 0 }), 0)).toBe("");
    expect(problemOf(field({ max: 3 }), 4)).toBe("must be at most 3");
    expect(problemOf(field({ kind: "integer" }), 1.5)).toBe("must be a whole number");
    expect(problemOf(field({}), "abc")).toBe("must be a number");
    expect(problemOf(field({ kind: "choice", choices: ["x"] }), "y")).toContain("one of x");
  });
  it("takes the word that stands for a number", () => {
    const words = field({ name: "num_words", kind: "integer", default: "auto", min: 1, word: "auto" });
    expect(problemOf(words, parseValue(words, "auto"))).toBe("");
    expect(problemOf(words, "automatic")).toBe("must be a number or auto");
    expect(rangeOf(words)).toBe("at least 1, or auto");
    const clusters = { ...words, name: "num_clusters" };
    const method = { name: "dlgmm", takes_context: false, needs: [], fields: [clusters] } as unknown as Method;
    const request = { method: "dlgmm", set: { rest: true }, options: { num_clusters: "auto" } };
    expect(requestProblem(request, method, 5, 0)).toBe("");
    expect([automaticParts(clusters), automaticParts(field({ min: 0 })), automaticParts(field({ min: 1 }))]).toEqual(["auto", 0, undefined]);
  });
  it("reads numbers as typed, also with a comma, and keeps what is none", () => {
    expect(parseValue(field({}), " 1,5 ")).toBe(1.5);
    expect(parseValue(field({}), "")).toBe("");
    expect(parseValue(field({ kind: "text" }), "12")).toBe("12");
  });
  const method: Method = { name: "dcp", title: "", summary: "", takes_context: true, ranks_contexts: true, takes_constraints: true, needs: ["context"],
    fields: [field({ name: "num_clusters", kind: "integer", default: 2, min: 1 }), field({})] };
  it("sends only what differs from the defaults", () => {
    expect(changedOptions(method, { cost: 1, num_clusters: 3, unknown: 4 })).toEqual({ num_clusters: 3 });
  });
  it("names what keeps a request from running", () => {
    const request = { method: "dcp", set: { classes: ["a"] }, context: { rest: true }, options: {} };
    expect(requestProblem(request, method, 10, 5)).toBe("");
    expect(requestProblem({ ...request, context: undefined }, method, 10, 0)).toContain("context");
    expect(requestProblem({ ...request, context: undefined, rank_contexts: true }, method, 10, 0)).toBe("");
    const icc = { ...method, needs: [] };
    expect(requestProblem({ ...request, context: undefined }, icc, 10, 0)).toBe("");
    expect(requestProblem({ ...request, set: { rest: true } }, icc, 10, 0)).toContain("no context");
    expect(requestProblem({ ...request, set: {} }, method, 0, 5)).toContain("split");
    expect(requestProblem({ ...request, options: { num_clusters: 11 } }, method, 10, 5)).toContain("11 parts");
    expect(requestProblem({ ...request, options: { num_clusters: 0 } }, method, 10, 5)).toContain("at least 1");
  });
});

describe("grid", () => {
  it("fills the width and shows every item exactly once while scrolling", () => {
    const count = 103;
    const grid = layGrid(count, 300, 72, 4);
    expect(grid.columns * grid.tile + (grid.columns - 1) * grid.gap).toBeLessThanOrEqual(300);
    for (let scroll = 0; scroll < grid.height; scroll += 37) {
      const [first, last] = visibleItems(grid, scroll, 200, count);
      const pitch = grid.tile + grid.gap;
      const mustShow = Math.floor(scroll / pitch) * grid.columns;
      expect(first).toBeLessThanOrEqual(mustShow);
      expect(last).toBeGreaterThanOrEqual(Math.min(count, Math.ceil((scroll + 200) / pitch) * grid.columns));
      expect(last - first).toBeLessThan(60);
    }
  });
  it("moves with keys and stays inside", () => {
    expect(stepItem("ArrowDown", 0, 10, 4, 2)).toBe(4);
    expect(stepItem("ArrowDown", 8, 10, 4, 2)).toBe(8);
    expect(stepItem("PageDown", 5, 10, 4, 2)).toBe(9);
    expect(stepItem("End", 0, 10, 4, 2)).toBe(9);
    expect(stepItem("x", 3, 10, 4, 2)).toBe(3);
  });
  it("scrolls only when an item is out of view", () => {
    const grid = layGrid(100, 300, 72, 4);
    expect(scrollTo(grid, 0, 0, 200)).toBe(0);
    expect(scrollTo(grid, 0, 500, 200)).toBe(0);
    const to = scrollTo(grid, 99, 0, 200);
    const [first, last] = visibleItems(grid, to, 200, 100);
    expect(first).toBeLessThan(99);
    expect(last).toBe(100);
  });
});

describe("text", () => {
  it("prints numbers for people", () => {
    expect(ticks([0.31981, 0.319815, 0.31982])).toEqual(["0.31981", "0.319815", "0.31982"]);
    expect(ticks([1, 2, 3])).toEqual(["1", "2", "3"]);
    expect([number(0.123456), number(1234567), number(null), number(12345), number(0)]).toEqual(["0.1235", "1.23e+6", "–", "12,345", "0"]);
    expect([percent(0.5), percent(0.012)]).toEqual(["50 %", "1.2 %"]);
    expect([seconds(3.21), seconds(61), seconds(150), seconds(7300)]).toEqual(["3.2 s", "61 s", "2 min 30 s", "2 h 1 min"]);
  });
});

describe("names of parts", () => {
  const part = (index: number, name: string, named_by: Part["named_by"], labels: string[] = []): Part => ({
    index, name, named_by, labels: labels.map((label) => ({ name: label, sure: 0.9 })), exemplar_labels: [],
    size: 1, mean_margin: 0, typical: [], border: [], apart: "", classes: [] });
  it("keeps only names that were typed", () => {
    const parts = [part(0, "Part 1", "number"), part(1, "lynx, cat", "labels", ["lynx", "cat"]), part(2, "mine", "hand", ["dog"])];
    expect(namesByHand(parts)).toEqual(["", "", "mine"]);
    expect(namesByHand(parts.map((p) => renamedPart(p, p.index === 1 ? "tabby" : p.name))).slice(1)).toEqual(["tabby", "mine"]);
  });
  it("gives labels or the number back when a name is cleared", () => {
    expect(renamedPart(part(2, "mine", "hand", ["dog", "wolf"]), "")).toMatchObject({ name: "dog, wolf", named_by: "labels" });
    expect(renamedPart(part(2, "mine", "hand"), "")).toMatchObject({ name: "Part 3", named_by: "number" });
  });
  it("says how sure a label is", () => {
    expect(sureText(0.981)).toBe("98 % sure");
  });
});

describe("contradictions (issue 24)", () => {
  const names = ["a.png", "b.png", "c.png"];
  const nameOf = (sample: number) => names[sample];
  it("name images and parts as the page does", () => {
    expect(namedConflict("no split into 2 parts of 3 samples obeys all constraints; these contradict each other: sample 2 in part 1; samples 0 and 2 together; samples 0 and 1 apart: drop one of them", nameOf))
      .toBe("no split into 2 parts of 3 samples obeys all constraints; these contradict each other: c.png in Part 2; a.png and c.png together; a.png and b.png apart: drop one of them");
  });
  it("leaves other messages alone", () => {
    expect(namedConflict("sample 2 in part 1 is odd", nameOf)).toBe("sample 2 in part 1 is odd");
  });
});

describe("galleries side by side (issue 24)", () => {
  const a = { rows: [4, 7, 9, 11], labels: [0, 1, 1, 0], margins: [1, 2, 5, 3] };
  it("put the surest of a part first", () => {
    expect(galleryRows(a, 1)).toEqual([9, 7]);
    expect(galleryRows(a, 0)).toEqual([11, 4]);
    expect(galleryRows(a, 2)).toEqual([]);
  });
  it("frame rows that are elsewhere in the other split", () => {
    const b = { rows: [4, 7, 9], labels: [1, 0, 1], margins: [] };
    expect([...movedRows(a, b, [1, 0])]).toEqual([9]); // 11 is not in b
  });
});
