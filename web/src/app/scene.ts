// SPDX-License-Identifier: Apache-2.0
// What is displayed: the parts of the opened run, or, before any run, the classes of the collection.
import { computed } from "@preact/signals";
import { decisionPoints, placedPoints, principalPoints, rankShares, type MapPoints } from "../model/axes";
import { correctedResult } from "../model/corrected";
import { correctedLabels } from "../model/corrections";
import { orderKeys, positionsByPart, selectedByPart, unplacedPositions } from "../model/order";
import { partColor, partColors, scaleColors } from "../model/palette";
import { allParts } from "../model/part_names";
import { rowsOf } from "../model/rows";
import type { Columns, Part } from "../model/types";
import { Weight } from "../component/map/renderer";
import type { MapData } from "../component/map/map_controller";
import type { Names } from "./names";
import { createNameRanks, orderFacts, shownPositions } from "./shown";
import type { Store } from "./store";

export interface Scene {
  isRun: boolean;
  columns: Columns;
  labels: Int32Array; // as shown: with corrections
  parts: Part[];
  context: Int32Array;
}

const kScaleSteps = 24;
const kNobody = new Int32Array(0);

export function createScene(store: Store, names: Names) {
  const scene = computed<Scene | null>(() => {
    const opened = store.opened.value;
    if (opened) return runScene(store);
    return store.phase.value === "ready" && !store.runId.value ? collectionScene(store) : null;
  });
  const ranks = createNameRanks(names);
  const keys = computed(() => scene.value
    ? orderKeys(store.order.value, orderFacts(store, ranks.value, scene.value.columns, scene.value.labels)) : null);
  const byPart = computed(() => (scene.value ? positionsByPart(scene.value.labels, keys.value, scene.value.parts.length) : []));
  const shown = computed(() => scene.value && shownPositions(store, names, scene.value.columns));
  const selectedCounts = computed(() => scene.value
    ? selectedByPart(scene.value.columns.rows, scene.value.labels, store.selection.value, scene.value.parts.length)
    : []);
  const unplaced = computed(() => (scene.value ? unplacedPositions(scene.value.labels) : kNobody));
  const hasOwnAxes = computed(() => !!scene.value?.columns.decisions && scene.value.columns.decisions.length > scene.value.columns.rows.length);
  const points = computed<MapPoints | null>(() => scene.value && scenePoints(store, scene.value, hasOwnAxes.value));
  const mapData = computed<MapData | null>(() =>
    scene.value && points.value && colorPoints(store, scene.value, points.value, shown.value));
  return { scene, byPart, keys, shown, unplaced, selectedCounts, hasOwnAxes, points, mapData };
}

export type SceneSignals = ReturnType<typeof createScene>;

// Rows in no part as one more column: set aside, or without a class. Empty where there are none.
export function unplacedPart({ scene, unplaced }: SceneSignals): Part[] {
  const size = unplaced.value.length;
  if (size === 0) return [];
  return [{ index: -1, name: scene.value!.isRun ? "In no part" : "Without a class", named_by: "number", labels: [], exemplar_labels: [],
            size, mean_margin: null, typical: [], border: [], apart: "", classes: [] }];
}

function runScene(store: Store): Scene {
  const { detail, columns } = store.opened.value!;
  const labels = correctedLabels(columns.rows, columns.labels, store.corrections.value.now);
  let context = columns.contextRows;
  if (!context && detail.request.context && store.collection.value)
    context = rowsOf(detail.request.context, store.classes.value, store.collection.value, detail.request.set);
  const parts = allParts(detail, store.corrections.value.now.added);
  const classes = { of: store.classes.value, names: store.collection.value?.classes.map((c) => c.name) ?? [] };
  return { isRun: true, ...correctedResult(columns, parts, labels, classes), labels, context: context ?? kNobody };
}

function collectionScene(store: Store): Scene {
  const collection = store.collection.value!;
  const rows = Int32Array.from({ length: collection.n }, (_, i) => i);
  const named = collection.classes.length > 0;
  const labels = named ? store.classes.value : new Int32Array(collection.n);
  const groups = named ? collection.classes : [{ name: "All rows", count: collection.n }];
  const parts = groups.map((c, index): Part => ({
    index, name: c.name, named_by: "number", labels: [], exemplar_labels: [], size: c.count, mean_margin: null, typical: [], border: [], apart: "", classes: [] }));
  const columns = { rows, labels, margins: null, decisions: null, contextRows: null, contextDecisions: null, words: null, places: null };
  return { isRun: false, columns, labels, parts, context: kNobody };
}

function scenePoints(store: Store, scene: Scene, hasOwnAxes: boolean): MapPoints {
  const { columns, labels } = scene;
  if (hasOwnAxes && store.axes.value === "own") {
    const numParts = columns.decisions!.length / columns.rows.length; // without those that were added
    const axes = store.axisParts.value.map((p) => Math.min(p, numParts - 1)) as [number, number];
    return decisionPoints(columns, labels, numParts, axes, store.showContext.value);
  }
  if (columns.places && store.axes.value === "place") return placedPoints(columns, labels);
  const map = store.axes.value === "neighbors" ? store.neighborMap.value : null;
  return principalPoints(map ?? store.map.value, columns, labels, store.showContext.value ? scene.context : kNobody);
}

// Colour and weight of every point; index 0 is the context's colour.
function colorPoints(store: Store, scene: Scene, points: MapPoints, shown: Uint8Array | null): MapData {
  const dark = store.isDark.value;
  const { colors, color } = colorIndices(store, scene, points, dark);
  const selection = store.selection.value;
  const emphasised = new Set(store.emphasised.value);
  const weight = new Uint8Array(points.rows.length);
  const numContext = points.rows.length - scene.columns.rows.length; // they come first
  for (let i = 0; i < weight.length; ++i) {
    if (points.isContext[i]) { color[i] = 0; continue; }
    const isDim = selection.size > 0 || (emphasised.size > 0 && !emphasised.has(points.part[i])) || (shown !== null && !shown[i - numContext]);
    weight[i] = selection.has(points.rows[i]) ? Weight.Selected : isDim ? Weight.Dim : Weight.Normal;
  }
  return { points, color, weight, colors: [partColor(-1, dark), ...colors], dark };
}

function colorIndices(store: Store, scene: Scene, points: MapPoints, dark: boolean) {
  const color = new Uint8Array(points.rows.length);
  const mode = store.colorBy.value;
  if (mode === "margin" && scene.columns.margins) {
    const shares = rankShares(scene.columns.margins.map((m) => (Number.isNaN(m) ? 0 : m)));
    const offset = points.rows.length - scene.columns.rows.length;
    shares.forEach((share, i) => { color[offset + i] = 1 + Math.round(Math.max(0, share) * (kScaleSteps - 1)); });
    return { color, colors: scaleColors(kScaleSteps) };
  }
  if (mode === "word" && scene.columns.words) {
    const offset = points.rows.length - scene.columns.rows.length;
    const words = Math.min(254, scene.columns.words.reduce((most, word) => Math.max(most, word + 1), 0));
    scene.columns.words.forEach((word, i) => { color[offset + i] = word < 0 ? 0 : 1 + (word % words); });
    return { color, colors: partColors(words, dark) };
  }
  const groups = mode === "class" ? store.classes.value : null;
  const count = Math.min(254, mode === "class" ? store.collection.value!.classes.length : scene.parts.length);
  for (let i = 0; i < color.length; ++i) {
    const group = groups ? groups[points.rows[i]] : points.part[i];
    color[i] = group < 0 || group >= count ? 0 : group + 1;
  }
  return { color, colors: partColors(count, dark) };
}
