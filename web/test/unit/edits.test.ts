// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { addPart, constraintsOf, correctedLabels, goTo, kNoCorrections, kSetAside, knownTags, linkRows, moveRows, record, startHistory,
         toggleTag, undo } from "../../src/model/corrections";
import { correctedSplit, followedRows, packEdits, unpackEdits } from "../../src/model/edit_log";
import { unplacedPositions } from "../../src/model/order";
import { allParts } from "../../src/model/part_names";
import type { RunDetail } from "../../src/model/types";

const detail = (more: Partial<RunDetail>) => ({
  parts: [{ index: 0, name: "Part 1" }, { index: 1, name: "Part 2" }], request: { method: "dcp", set: {}, options: {} }, ...more,
}) as unknown as RunDetail;

describe("tags", () => {
  it("are given to all, and taken back where all have them", () => {
    const some = toggleTag(kNoCorrections, [1], "blurred");
    const all = toggleTag(some, [1, 2], "blurred");
    expect([...all.tags.keys()]).toEqual([1, 2]);
    expect(toggleTag(all, [1, 2], "blurred").tags.size).toBe(0);
    expect(knownTags(toggleTag(all, [2], "a"))).toEqual(["a", "blurred"]);
  });
});

describe("the kept history", () => {
  const steps = () => {
    let h = startHistory(kNoCorrections);
    h = record(h, moveRows(h.now, [4, 2], 1), "2 images to Part 2");
    h = record(h, moveRows(addPart(h.now), [7], 2), "1 image to a new part");
    h = record(h, toggleTag(h.now, [2], "odd"), "tag odd");
    h = record(h, linkRows(h.now, [4, 9], "apart"), "2 images apart");
    return record(h, moveRows(h.now, [2], kSetAside), "1 image set aside");
  };
  it("comes back whole, undone steps included", () => {
    const left = undo(undo(steps()));
    const kept = JSON.parse(JSON.stringify(packEdits(left, 2)));
    const back = unpackEdits(detail({ edits: kept }));
    expect(back).toEqual(left);
    expect(packEdits(back, 2)).toEqual(packEdits(left, 2));
  });
  it("sends what holds now", () => {
    const { moves, tags, num_parts } = packEdits(steps(), 2);
    expect(moves).toEqual([[2, kSetAside], [4, 1], [7, 2]]);
    expect(tags).toEqual([[2, "odd"]]);
    expect(num_parts).toBe(3);
  });
  it("believes the moves where a history does not lead to them", () => {
    const kept = packEdits(steps(), 2);
    const back = unpackEdits(detail({ edits: { ...kept, moves: [[1, 0]] } }));
    expect([...back.now.memberships]).toEqual([[1, 0]]);
    expect(back.past).toHaveLength(1);
  });
  it("starts from the constraints of a corrected run", () => {
    const request = { method: "dcp", set: {}, options: {}, constraints: { memberships: [[3, 1]], must_link: [], cannot_link: [] } };
    const back = unpackEdits(detail({ request } as unknown as Partial<RunDetail>));
    expect([...back.now.memberships]).toEqual([[3, 1]]);
  });
  it("goes to any step and back", () => {
    const h = steps();
    expect(goTo(h, 0).now).toBe(kNoCorrections);
    expect(goTo(goTo(h, 1), 5)).toEqual(h);
    expect(goTo(h, 2).what).toBe("1 image to a new part");
  });
});

describe("a corrected split", () => {
  const rows = Int32Array.of(10, 11, 12, 13, 14);
  const labels = Int32Array.of(0, 1, 2, 2, 0);
  it("numbers parts without gaps and leaves out what was set aside", () => {
    let c = moveRows(kNoCorrections, [11], 0); // part 1 is empty now
    c = moveRows(c, [14], kSetAside);
    const split = correctedSplit(rows, correctedLabels(rows, labels, c), c);
    expect(split).toEqual({ initial: [[10, 0], [11, 0], [12, 1], [13, 1]], memberships: [[11, 0]], oldParts: [0, 2], asideCount: 1 });
    expect(constraintsOf(c).memberships).toEqual([[11, 0]]);
  });
  it("counts what followed", () => {
    expect(followedRows([[10, 0], [11, 0], [12, 1]], rows, labels)).toEqual([11, 12]);
  });
  it("keeps rows of no part in sight", () => {
    expect([...unplacedPositions(Int32Array.of(0, -1, 1, -1))]).toEqual([1, 3]);
  });
});

describe("added parts", () => {
  it("come after the method's own, under their kept names", () => {
    const parts = allParts(detail({ edits: { moves: [], tags: [], num_parts: 4, part_names: ["", "", "stripes"] } }), 2);
    expect(parts.map((p) => [p.index, p.name])).toEqual([[0, "Part 1"], [1, "Part 2"], [2, "stripes"], [3, "Part 4"]]);
  });
});
