// SPDX-License-Identifier: Apache-2.0
// Where the page gets its data from: the server of `milieu explore`, or the data inside a
// report.html. What a source cannot do is hidden by the page.
import type { Collection, Columns, Comparison, Features, JobProgress, Method, ImageWords, NearRows, Progress, RunBrief, RunDetail,
              RunEdits, RunRequest } from "../model/types";

export interface Abilities {
  run: boolean; // start, cancel and remove runs, correct
  rename: boolean;
  folders: boolean; // write images into folders
  report: boolean; // export report.html
  like: boolean; // originals, and images that are alike
  spaces: boolean; // other features, maps by neighbours
}

// An image, or a cell of a contact sheet.
export type Thumb =
  | { url: string }
  | { sheet: string; x: number; y: number; side: number; width: number; height: number };

export type Download = "labels.csv" | "labels.json" | "coco.json" | "report.html";

export interface RunChange { name?: string; part_names?: string[]; edits?: RunEdits }

export interface RunListener {
  progress(progress: Progress): void;
  end(run: RunBrief): void;
  lost(): void; // the connection was lost; reconnecting
}

export interface Source {
  readonly can: Abilities;
  readonly note: string; // shown once at the top of the page; "" for nothing
  collection(): Promise<Collection>;
  classes(): Promise<Int32Array>;
  // Of the rows by a feature of the collection; "" is the first.
  map(feature: string): Promise<Float32Array>; // principal axes, 2n
  neighborMap(feature: string): Promise<Float32Array | JobProgress>; // begins it; 2n once it is there
  cancelNeighborMap(feature: string): Promise<void>;
  features(): Promise<Features>;
  addFeature(feature: string): Promise<Features>;
  removeFeature(feature: string): Promise<Features>;
  files(): Promise<Float64Array>; // bytes and seconds since 1970 of each row's file, -1 where there is none
  names(from: number, count: number): Promise<string[]>;
  thumb(row: number, side: number): Thumb | null;
  original(row: number): string | null; // address of the image in full size
  like(row: number, count: number, feature: string): Promise<NearRows>;
  near(run: string, row: number, count: number): Promise<{ context: NearRows; exemplars: NearRows }>; // of a run's context and exemplars
  nearest(feature: string): Promise<Float32Array>; // distance of each row to the nearest other one
  methods(): Promise<Method[]>;
  runs(): Promise<RunBrief[]>;
  run(id: string): Promise<RunDetail>;
  columns(run: RunDetail): Promise<Columns>;
  imageWords(id: string, row: number): Promise<ImageWords>;
  start(request: RunRequest): Promise<RunBrief>;
  change(id: string, change: RunChange): Promise<RunBrief>;
  cancel(id: string): Promise<void>;
  remove(id: string): Promise<void>;
  listen(id: string, listener: RunListener): () => void;
  compare(a: string, b: string): Promise<Comparison>;
  fileUrl(id: string, name: string): string | null;
  // With the changes by hand, or as the method left it.
  download(id: string, what: Download, isOriginal?: boolean): Promise<{ url: string; name: string }>;
  // `to`: a folder that does not exist yet; "": beside the run.
  toFolders(id: string, how: "copy" | "link" | "zip", to: string, isOriginal?: boolean): Promise<{ path: string; count: number }>;
}

// A failure with a sentence for people. Status 0: no answer at all.
export class SourceError extends Error {
  constructor(message: string, readonly status: number) {
    super(message);
    this.name = "SourceError";
  }
}

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
