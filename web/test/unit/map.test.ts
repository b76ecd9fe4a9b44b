// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { clampedView, kFit, kMaxZoom, zoomedView, type ImageView } from "../../src/model/image_view";
import { decisionPoints, placedPoints, placeOf, principalPoints, rankShares } from "../../src/model/axes";
import { clampCamera, fit, kHome, pan, toPlane, toScreen, viewMatrix, zoomAt } from "../../src/model/camera";
import { adjustedRand, compareSplits, matchColumns, mutualInformation } from "../../src/model/compare";
import { packLink, unpackLink, kDefaultLink, type LinkState } from "../../src/model/link";
import { kContextOpacity, pointStyle, Weight } from "../../src/component/map/renderer";
import { contrast, inkOn, partColor, rgbOf, scaleColor } from "../../src/model/palette";
import { PointIndex } from "../../src/model/point_index";
import { isInPolygon, pointsInBox, pointsInPolygon } from "../../src/model/polygon";

// A small generator of our own: the same numbers on every machine.
function numbers(count: number, seed: number): Float32Array {
  let state = seed;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state / 4294967296) * 2.4 - 1.2;
  });
}
const x = numbers(3000, 1), y = numbers(3000, 2);

describe("polygon", () => {
  it("equals the box test for a square", () => {
    const square = [-0.5, -0.5, 0.4, -0.5, 0.4, 0.3, -0.5, 0.3];
    expect(pointsInPolygon(x, y, square)).toEqual(pointsInBox(x, y, { x1: -0.5, y1: -0.5, x2: 0.4, y2: 0.3 }));
  });
  it("leaves out the hole of a self-crossing path and needs three corners", () => {
    const bow = [0, 0, 1, 1, 1, 0, 0, 1];
    expect(isInPolygon(0.5, 0.1, bow)).toBe(false);
    expect(isInPolygon(0.1, 0.5, bow)).toBe(true);
    expect(pointsInPolygon(x, y, [0, 0, 1, 1])).toEqual([]);
  });
});

describe("point index", () => {
  const index = new PointIndex(x, y);
  it("finds what a scan finds in boxes, also outside the grid", () => {
    for (const box of [{ x1: -0.2, y1: -0.9, x2: 0.1, y2: 1.2 }, { x1: -2, y1: -2, x2: 2, y2: 2 }, { x1: 1.05, y1: -1, x2: 1.2, y2: 1 }]) {
      const found: number[] = [];
      index.inBox(box, (i) => { found.push(i); });
      expect(found.sort((a, b) => a - b)).toEqual(pointsInBox(x, y, box));
    }
  });
  it("finds the nearest point", () => {
    for (let k = 0; k < 50; ++k) {
      const px = x[k] + 0.01, py = y[k] - 0.013;
      let best = -1, least = 0.05 ** 2;
      for (let i = 0; i < x.length; ++i) {
        const d = (x[i] - px) ** 2 + (y[i] - py) ** 2;
        if (d < least) { least = d; best = i; }
      }
      expect(index.nearest(px, py, 0.05)).toBe(best);
    }
    expect(index.nearest(5, 5, 0.1)).toBe(-1);
  });
});

describe("camera", () => {
  const size = { width: 800, height: 500 };
  it("goes to the screen and back", () => {
    const camera = { x: 0.2, y: -0.1, zoom: 3 };
    const [px, py] = toScreen(camera, size, 0.3, 0.4);
    const [bx, by] = toPlane(camera, size, px, py);
    expect([bx, by].map((v) => Number(v.toFixed(9)))).toEqual([0.3, 0.4]);
  });
  it("keeps the point under the pointer while zooming, and follows the hand while panning", () => {
    const before = toPlane(kHome, size, 500, 200);
    const after = toPlane(zoomAt(kHome, size, 2.5, 500, 200), size, 500, 200);
    after.forEach((v, i) => expect(v).toBeCloseTo(before[i], 9));
    const moved = pan(kHome, size, 30, -20);
    const [px, py] = toScreen(moved, size, ...toPlane(kHome, size, 400, 250));
    expect([Math.round(px), Math.round(py)]).toEqual([430, 230]);
  });
  it("fits points into view and never leaves the limits", () => {
    const camera = fit(Float32Array.of(0.1, 0.3), Float32Array.of(0.5, 0.6), [0, 1], size);
    for (const [ax, ay] of [[0.1, 0.5], [0.3, 0.6]]) {
      const [px, py] = toScreen(camera, size, ax, ay);
      expect(px > 0 && px < 800 && py > 0 && py < 500).toBe(true);
    }
    expect(clampCamera({ x: 99, y: 0, zoom: 1e9 })).toEqual({ x: 1.5, y: 0, zoom: 400 });
  });
  it("gives the library the same projection", () => {
    const camera = { x: 0.2, y: -0.1, zoom: 3 };
    const m = viewMatrix(camera, size);
    const [px, py] = toScreen(camera, size, 0.3, 0.4);
    const gx = (m[0] * 0.3 + m[12]) / (size.width / size.height), gy = m[5] * 0.4 + m[13];
    expect((size.width * (gx + 1)) / 2).toBeCloseTo(px, 3);
    expect(size.height * (0.5 - gy / 2)).toBeCloseTo(py, 3);
  });
});

describe("axes", () => {
  const columns = { rows: Int32Array.of(0, 2), labels: Int32Array.of(0, 1), margins: null,
    decisions: Float32Array.of(1, -1, -3, 5), contextRows: Int32Array.of(1), contextDecisions: Float32Array.of(-2, NaN),
    words: null, places: Float32Array.of(10, 20, 30, 60) };
  it("puts rows at their places, y downwards, both axes alike", () => {
    const p = placedPoints(columns, columns.labels);
    expect([...p.x]).toEqual([-0.5, 0.5]);
    expect([...p.y]).toEqual([1, -1]);
    expect([...p.part]).toEqual([0, 1]);
  });
  it("puts decision values on one scale for both axes; the context first", () => {
    const p = decisionPoints(columns, columns.labels, 2, [0, 1], true);
    expect([...p.rows]).toEqual([1, 0, 2]);
    expect(p.xRange).toEqual({ min: -3, max: 5 });
    expect(p.x[1]).toBeCloseTo(placeOf(1, p.xRange!), 6);
    expect(p.y[2]).toBe(1);
    expect(p.y[0]).toBe(0); // not a number: the middle
    expect([...p.isContext]).toEqual([1, 0, 0]);
  });
  it("fills the plane with principal axes and keeps their proportion", () => {
    const p = principalPoints(Float32Array.of(0, 0, 9, 9, 0.4, 0.1), columns, columns.labels, new Int32Array(0));
    [-1, 1].forEach((v, i) => expect(p.x[i]).toBeCloseTo(v, 5));
    [-0.25, 0.25].forEach((v, i) => expect(p.y[i]).toBeCloseTo(v, 5));
  });
  it("spreads values by rank", () => {
    expect([...rankShares(Float32Array.of(5, 1, NaN, 100))]).toEqual([0.5, 0, -1, 1]);
  });
});

describe("compare", () => {
  it("knows equal, exchanged and independent splits", () => {
    expect(adjustedRand([[3, 0], [0, 4]])).toBe(1);
    expect(adjustedRand([[0, 3], [4, 0]])).toBe(1);
    expect(mutualInformation([[0, 3], [4, 0]])).toBeCloseTo(1, 12);
    expect(mutualInformation([[2, 2], [2, 2]])).toBeCloseTo(0, 12);
    expect(adjustedRand([[2, 2], [2, 2]])).toBeLessThan(0);
  });
  it("equals the value worked out by hand", () => {
    // Rows 4 and 2, columns 3 and 3, cells 3 1 / 0 2... pairs: 3+0+0+1 = 4, rows 6+1, columns 3+3, all 15.
    expect(adjustedRand([[3, 1], [0, 2]])).toBeCloseTo((4 - 42 / 15) / (6.5 - 42 / 15), 12);
  });
  it("counts rows that only one split has", () => {
    const a = { rows: Int32Array.of(1, 2, 3), labels: Int32Array.of(0, 1, 1), numParts: 2 };
    const b = { rows: Int32Array.of(2, 3, 4, 5), labels: Int32Array.of(0, 1, 1, 0), numParts: 2 };
    const c = compareSplits(a, b);
    expect([c.rows_in_both, c.only_a, c.only_b]).toEqual([2, 1, 2]);
    expect(c.table).toEqual([[0, 0], [1, 1]]);
  });
  it("puts agreement on the diagonal", () => {
    expect(matchColumns([[1, 9, 0], [8, 2, 1]])).toEqual([1, 0, 2]);
  });
});

describe("link", () => {
  it("brings everything back", () => {
    const state: LinkState = {
      run: "r 1/ü", against: "r2", view: "compare", layout: "map", method: "dcp", set: { classes: ["a,b", "c&d=.#"] },
      context: { rows: [3, 4, 5, 90] }, options: { num_clusters: 3, loss: "hinge", center: false, sizes: "20%-80%,3" },
      feature: "onnx:a,b.onnx:size=224", parts: [0, 2], order: "border", colorBy: "margin", axes: "own", axisParts: [2, 1], camera: { x: 0.25, y: -0.5, zoom: 12.5 },
      showContext: false, tile: 120, selection: [1, 2, 3, 700],
      criteria: { text: "a&b=c", tag: "odd one", classes: ["c&d=.#"], margin: { from: -0.5, to: null }, kilobytes: { from: null, to: 20 }, dates: { from: "2026-01-01", to: "" } },
    };
    expect(unpackLink("#" + packLink(state))).toEqual(state);
    for (const axes of ["neighbors", "place", "pca"] as const) expect(unpackLink("#" + packLink({ ...state, axes })).axes).toBe(axes);
    expect(packLink(state)).not.toMatch(/[\s"<>]/);
  });
  it("is empty for the defaults and survives nonsense", () => {
    expect(packLink(kDefaultLink)).toBe("");
    expect(unpackLink("#view=zzz&zoom=a,b&tile=-4&axes=x&order=%E0%A4%A&set=%zz&only={[&options=:::")).toEqual({ ...kDefaultLink, axes: "own", set: { rows: [] } });
  });
});

describe("palette", () => {
  it("counts contrast as the rules do", () => {
    expect(contrast("#000000", "#ffffff")).toBeCloseTo(21, 9);
    expect(contrast("#767676", "#ffffff")).toBeCloseTo(4.54, 2);
  });
  it("stands out from the ground, light and dark", () => {
    for (let part = 0; part < 16; ++part) {
      expect(contrast(partColor(part, false), "#ffffff")).toBeGreaterThanOrEqual(3);
      expect(contrast(partColor(part, true), "#16181c")).toBeGreaterThanOrEqual(3);
      for (const dark of [false, true]) expect(contrast(inkOn(partColor(part, dark)), partColor(part, dark))).toBeGreaterThanOrEqual(4.5);
    }
  });
  it("shows the context as it is blended with the ground", () => {
    for (const [dark, ground] of [[false, "#ffffff"], [true, "#16181c"]] as const) {
      const blend = rgbOf(partColor(-1, dark)).map((v, i) => Math.round(kContextOpacity * v + (1 - kContextOpacity) * rgbOf(ground)[i]));
      const shown = "#" + blend.map((v) => v.toString(16).padStart(2, "0")).join("");
      expect(contrast(shown, ground)).toBeGreaterThanOrEqual(3);
    }
    expect(pointStyle(2000).opacity[Weight.Context]).toBe(kContextOpacity);
  });
  it("grows lighter along the scale", () => {
    for (let i = 1; i <= 10; ++i) expect(contrast(scaleColor(i / 10), "#000000")).toBeGreaterThan(contrast(scaleColor((i - 1) / 10), "#000000"));
  });
});

describe("an image in full size", () => {
  it("keeps what is under the pointer while zooming", () => {
    const at = (v: ImageView, x: number) => (x - v.x) / v.zoom; // place in the image
    const once = zoomedView(kFit, 2, 0.25, 0.75);
    expect(at(once, 0.25)).toBeCloseTo(0.25);
    const twice = zoomedView(once, 3, 0.6, 0.6);
    expect(at(twice, 0.6)).toBeCloseTo(at(once, 0.6));
  });
  it("always covers the frame and is never smaller than it", () => {
    expect(zoomedView(kFit, 0.1, 0.5, 0.5)).toEqual(kFit);
    const moved = clampedView({ zoom: 2, x: 5, y: -5 });
    expect([moved.x, moved.y]).toEqual([0, -1]);
    expect(zoomedView(kFit, 1000, 0.5, 0.5).zoom).toBe(kMaxZoom);
  });
});
