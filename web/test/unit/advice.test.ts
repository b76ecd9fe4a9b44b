// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { adviceOf, adviceRequest, earlierAdvice, gainText } from "../../src/model/advice";
import { packLink, unpackLink } from "../../src/model/link";
import type { Collection, Method, Part, RunBrief } from "../../src/model/types";

const collection: Collection = {
  name: "c", kind: "images", n: 9, d: 2, feature: "tiny", has_images: true, version: "0",
  classes: [{ name: "a", count: 4 }, { name: "b", count: 5 }, { name: "empty", count: 0 }],
};
const methods: Method[] = [{ name: "icc advise", title: "", summary: "", takes_context: false, ranks_contexts: false, takes_constraints: false, needs: ["classes"], fields: [] }];
const part = (index: number, size: number): Part => ({
  index, size, name: `Part ${index + 1}`, named_by: "number", labels: [], exemplar_labels: [], mean_margin: null, typical: [], border: [], apart: "", classes: [] });
const summary = {
  classes: ["a", "b", "c"], verdicts: ["keep", "split for context", "too few samples"], parts: [1, 2, 1],
  gap_p_values: [0.8, 0.2, 1], stabilities: [1, 0.97, 1], gains: [0, 0.0123, 0], context_classes: [-1, 0, -1], ended_confusions: [0, 7, 0],
};
const detail = { method: "icc advise", summary, parts: [part(0, 40), part(1, 30), part(2, 20), part(3, 5)] };

describe("advice", () => {
  it("puts the classes to split first, with their own parts", () => {
    const [first, second, third] = adviceOf(detail);
    expect(first).toMatchObject({ name: "b", verdict: "split for context", isSplit: true, parts: [1, 2], sizes: [30, 20], size: 50,
      gapP: 0.2, stability: 0.97, gain: 0.0123, context: "a", ended: 7 });
    expect(second).toMatchObject({ name: "a", isSplit: false, isJudged: true, parts: [0], size: 40, context: "" });
    expect(third).toMatchObject({ name: "c", isJudged: false, parts: [3], size: 5 });
  });
  it("is empty for other methods and survives a summary without its lists", () => {
    expect(adviceOf({ ...detail, method: "icc" })).toEqual([]);
    expect(adviceOf({ ...detail, summary: {} })).toEqual([]);
    expect(adviceOf({ ...detail, summary: { classes: ["a"] } })).toMatchObject([{ name: "a", isSplit: false, size: 40, context: "" }]);
  });
  it("settles nothing that a stopped run did not reach", () => {
    const stopped = adviceOf({ ...detail, summary: { ...summary, termination: "Cancelled", gains: [0, 0, 0] } });
    expect(stopped.map((one) => one.verdict)).toEqual(["split for context", "not settled", "too few samples"]);
    expect(stopped.map((one) => one.isJudged)).toEqual([true, false, false]);
    expect(stopped[0].gain).toBeNaN();
    expect(adviceOf({ ...detail, summary: { ...summary, termination: "Converged" } })[1].verdict).toBe("keep");
  });
  it("is offered for two classes that have rows", () => {
    expect(adviceRequest(collection, methods)?.set).toEqual({ classes: ["a", "b"] });
    expect(adviceRequest({ ...collection, classes: collection.classes.slice(1) }, methods)).toBeNull();
    expect(adviceRequest(collection, [])).toBeNull();
  });
  it("finds the run that answers already", () => {
    const request = adviceRequest(collection, methods)!;
    const run = (id: string, change: Partial<RunBrief>): RunBrief => ({
      id, name: "", method: "icc advise", state: "done", created: "", seconds: 1, n: 9, clusters: 2, objective: 0, rank_contexts: false, request, ...change });
    const runs = [run("failed", { state: "failed" }), run("cancelled", { state: "cancelled" }), run("other", { method: "icc" }),
                  run("options", { request: { ...request, options: { level: 0.1 } } }), run("one class", { request: { ...request, set: { classes: ["a"] } } })];
    expect(earlierAdvice(runs, request)).toBeUndefined();
    expect(earlierAdvice([...runs, run("found", {})], request)?.id).toBe("found");
    expect(earlierAdvice([run("waiting", { state: "queued" })], request)?.id).toBe("waiting");
  });
  it("writes gains with their sign", () => {
    expect([0.0123, -0.002, 0, NaN].map(gainText)).toEqual(["+1.23 %", "-0.20 %", "0.00 %", "–"]);
  });
  it("has a link", () => {
    expect(unpackLink(packLink({ ...unpackLink(""), run: "r", view: "advice" })).view).toBe("advice");
  });
});
