// SPDX-License-Identifier: Apache-2.0
// The state of the application, as signals. Nothing here touches the page or the source; actions do.
import { computed, signal } from "@preact/signals";
import { kNoCorrections, startHistory, type Corrections, type History } from "../model/corrections";
import { partsField, requestProblem } from "../model/form";
import { kDefaultLink, type Axes, type ColorBy, type Layout, type View } from "../model/link";
import { kNoCriteria, type Criteria } from "../model/criteria";
import type { Order } from "../model/order";
import { isEmptySet, rowsOf } from "../model/rows";
import type { Collection, Columns, Comparison, Features, JobProgress, Method, Pair, Progress, RowSet, RunBrief, RunDetail,
              RunRequest, Value } from "../model/types";
import { kHome, type Camera } from "../model/camera";
import type { Tool } from "../component/map/map_controller";
import type { Source } from "../source/source";

export interface LiveProgress { latest: Progress | null; trace: number[]; isLost: boolean }
export interface Toast { id: number; kind: "info" | "error"; text: string; action?: { title: string; run(): void } }
export interface OpenedRun { detail: RunDetail; columns: Columns }
export type Theme = "auto" | "light" | "dark";
export type Dialog = "" | "help" | "export" | "corrections" | "features";

export function createStore(source: Source) {
  const collection = signal<Collection | null>(null);
  const classes = signal<Int32Array>(new Int32Array(0));
  const map = signal<Float32Array>(new Float32Array(0));
  const methods = signal<Method[]>([]);
  const feature = signal(""); // by which rows are near each other; "": the first of the collection
  const phase = signal<"loading" | "ready" | "failed">("loading");
  const failure = signal("");

  // Choosing
  const methodName = signal("");
  const set = signal<RowSet>({});
  const context = signal<RowSet>({});
  const options = signal<Record<string, Value>>({});
  const method = computed(() => methods.value.find((m) => m.name === methodName.value));
  const setRows = computed(() => collection.value && !isEmptySet(set.value)
    ? rowsOf(set.value, classes.value, collection.value) : new Int32Array(0));
  const contextRows = computed(() => collection.value && !isEmptySet(context.value)
    ? rowsOf(context.value, classes.value, collection.value, set.value) : new Int32Array(0));
  const request = computed<RunRequest>(() => ({
    method: methodName.value, set: set.value, options: options.value, ...(feature.value ? { feature: feature.value } : {}),
    ...(method.value?.takes_context && !isEmptySet(context.value) ? { context: context.value } : {}),
  }));
  const problem = computed(() =>
    requestProblem(request.value, method.value, setRows.value.length, contextRows.value.length));
  const numPartsWanted = computed(() => options.value.num_clusters ?? (method.value && partsField(method.value)?.default) ?? 2);

  return {
    source, collection, classes, map, methods, phase, failure, feature,
    features: signal<Features>({ known: [], kept: [] }),
    neighborMap: signal<Float32Array | null>(null), // places by neighbours, once asked for
    mapProgress: signal<JobProgress | null>(null),  // while it is made
    methodName, set, context, options, method, setRows, contextRows, request, problem, numPartsWanted,
    // Runs
    runs: signal<RunBrief[]>([]),
    progress: signal<ReadonlyMap<string, LiveProgress>>(new Map()),
    runId: signal(""),
    opened: signal<OpenedRun | null>(null),
    openFailure: signal(""),
    isStarting: signal(false),
    againstId: signal(""),
    against: signal<OpenedRun | null>(null),
    comparison: signal<Comparison | null>(null),
    // Looking
    view: signal<View>("look"),
    layout: signal<Layout>("both"),
    emphasised: signal<readonly number[]>([]),
    order: signal<Order>("sure"),
    nearest: signal<Float32Array | null>(null), // distances to the nearest other row, once asked for
    files: signal<Float64Array | null>(null), // bytes and time of change of each row's file, once asked for
    criteria: signal<Criteria>(kNoCriteria), // which images are shown
    tile: signal(kDefaultLink.tile),
    colorBy: signal<ColorBy>("part"),
    axes: signal<Axes>("pca"),
    axisParts: signal<Pair>([0, 1]),
    camera: signal<Camera>(kHome),
    showContext: signal(true),
    showThumbs: signal(true),
    tool: signal<Tool>("pan"),
    selection: signal<ReadonlySet<number>>(new Set<number>()),
    image: signal(-1), // the row shown enlarged
    // Correcting
    corrections: signal<History<Corrections>>(startHistory(kNoCorrections)),
    // The page itself
    theme: signal<Theme>("auto"),
    isDark: signal(false),
    isNarrow: signal(false),
    isPanelOpen: signal(true),
    dialog: signal<Dialog>(""),
    toasts: signal<Toast[]>([]),
    announcement: signal(""),
    isLost: signal(false), // the server does not answer
    namesVersion: signal(0),
  };
}

export type Store = ReturnType<typeof createStore>;
