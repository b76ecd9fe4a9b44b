// SPDX-License-Identifier: Apache-2.0
// What the page and its data source agree on (docs/explorer_api.md). Names are those of the JSON.

export interface Collection {
  name: string;
  kind: "images" | "vectors";
  n: number;
  d: number;
  feature: string;
  has_images: boolean;
  binary?: boolean; // all values are 0 or 1
  warnings?: string[]; // of reading it
  classes: { name: string; count: number }[];
  version: string;
  total?: number; // of a thinned report: how many rows there were
}

// Work of the server in the background.
export interface JobProgress { state: "none" | "running" | "done" | "failed" | "cancelled"; stage: string; done: number; total: number; error?: string }

// What may describe the images, and what does beside the first feature.
export interface Features {
  known: { feature: string; summary: string }[];
  kept: (JobProgress & { feature: string; d?: number })[];
}

export type Value = boolean | number | string;

export interface Field {
  name: string;
  flag: string;
  kind: "flag" | "integer" | "real" | "text" | "choice";
  default: Value;
  choices: string[];
  min: number | null;
  max: number | null;
  min_excluded: boolean;
  word: string;
  advanced: boolean;
  help: string;
}

export interface Method {
  name: string;
  title: string;
  summary: string;
  takes_context: boolean;
  ranks_contexts: boolean;
  takes_constraints: boolean;
  needs: string[];
  fields: Field[];
}

// Classes or rows of the collection; `rest`: everything that is not in the set.
export interface RowSet {
  classes?: string[];
  rows?: number[];
  rest?: boolean;
}

export type Pair = [number, number];

export interface Constraints {
  memberships: Pair[]; // row, part
  must_link: Pair[];
  cannot_link: Pair[];
}

export interface RunRequest {
  method: string;
  name?: string;
  set: RowSet;
  context?: RowSet;
  options: Record<string, Value>;
  feature?: string; // that the images are described by; none: the first of the collection
  rank_contexts?: boolean;
  constraints?: Constraints;
  initial?: Pair[]; // row, part: the split to start from
  part_names?: string[];
  follows?: Follows;
}

// What a run was made from: a corrected result, or one of its parts.
export interface Follows {
  run: string;
  how: "corrected" | "split";
  part?: number;
}

// Changes by hand, kept in the run's folder.
export interface RunEdits {
  moves: Pair[]; // row, part; -1: set aside
  tags: [number, string][];
  num_parts: number;
  part_names?: string[];
  history?: { at: number; steps: import("./edit_log").Step[] } | null;
}

export type RunState = "queued" | "running" | "done" | "failed" | "cancelled";

export interface RunBrief {
  id: string;
  name: string;
  method: string;
  state: RunState;
  created: string;
  seconds: number;
  error?: string;
  n: number;
  clusters: number;
  objective: number | null;
  confidence?: number;
  rank_contexts: boolean;
  request: RunRequest;
}

export interface Progress {
  state: string;
  stage: string;
  restart: number;
  iteration: number;
  objective: number | null;
  change: number | null;
  done: number;
  total: number;
  seconds: number;
}

// `sure`: share of resamples of the samples in which the part gets the label again.
export interface PartLabel { name: string; sure: number }

export interface Part {
  index: number;
  name: string;
  named_by: "hand" | "labels" | "number";
  labels: PartLabel[];           // that set it apart; empty without --describe
  exemplar_labels: PartLabel[];  // that set its exemplar apart
  size: number;
  mean_margin: number | null;
  typical: number[];
  border: number[];
  apart: string;
  classes: [string, number][];
}

export interface ContextRow {
  name: string;
  rank: number;
  score: number;
  confidence: number;
  stability: number;
  consensus: number;
  outliers?: boolean;  // the split only finds a handful of outliers
  sizes: number[];
  labels?: number[];
}

export interface Extras {
  contexts?: ContextRow[];
  exemplars?: number[];
  penalty_curve?: Pair[];
  weights?: { name: string; weight: number }[];
  phrases?: string[]; // of cac: what each is made of
  groups?: { name: string; phrase: number; rows: number[] }[];
  images?: { row: number; words: number }[]; // those with words over them
}

// The keypoints of one image: positions in pixels of an image of this size.
export interface NearRows { rows: number[]; distances: number[] } // nearest first

export interface ImageWords {
  width: number;
  height: number;
  places: number[]; // x, y, x, y, ...
  words: number[];
  phrases: number[];
  image?: string; // in a report: the image itself
}

export interface RunFile {
  name: string;
  title: string;
}

export interface RunDetail extends RunBrief {
  command: string;
  summary: Record<string, unknown>;
  trace: number[];
  parts: Part[];
  columns: string[];
  files: RunFile[];
  extras?: Extras;
  edits?: RunEdits;
  edits_problem?: string; // why they cannot be read
}

export interface Comparison {
  rows_in_both: number;
  table: number[][];
  ari: number;
  nmi: number;
  only_a: number;
  only_b: number;
}

// The columns of one run, decoded. Rows are rows of the collection.
export interface Columns {
  rows: Int32Array;
  labels: Int32Array;
  margins: Float32Array | null;
  decisions: Float32Array | null; // rows.length x number of parts
  contextRows: Int32Array | null;
  contextDecisions: Float32Array | null;
  words: Int32Array | null; // of cac, where rows are its samples
  places: Float32Array | null; // rows.length x 2
}

export const isOver = (state: RunState): boolean => state !== "queued" && state !== "running";
export const hasResult = (run: { state: RunState; clusters: number }): boolean =>
  run.state === "done" || (run.state === "cancelled" && run.clusters > 0);
