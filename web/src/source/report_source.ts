// SPDX-License-Identifier: Apache-2.0
// The data inside a report.html: everything is there, nothing can be run.
import { compareSplits } from "../model/compare";
import { labelsCsv, labelsJson } from "../model/export";
import type { Collection, Columns, Comparison, Features, Method, ImageWords, RunBrief, RunDetail } from "../model/types";
import { SourceError, type Abilities, type Download, type RunListener, type Source,
         type Thumb } from "./source";

type Packed = string; // base64 of little-endian values

export interface ReportData {
  collection: Collection;
  classes: Packed;
  map: Packed;
  names: string[];
  methods?: Method[];
  runs: RunDetail[];
  columns: Record<string, Record<string, Packed>>;
  files?: Record<string, Record<string, string>>; // run, name -> data URL
  words?: Record<string, ImageWords>; // by row
  thumbs?: { side: number; columns: number; rows_shown: number[]; sheet: string };
}

export function unpack(text: Packed): ArrayBuffer {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes.buffer;
}

const kNoServer = "A report cannot do this: open the collection with `milieu explore`.";

export class ReportSource implements Source {
  readonly can: Abilities = { run: false, rename: false, folders: false, report: false, like: false, spaces: false };
  readonly note: string;
  private readonly cellOfRow = new Map<number, number>();

  constructor(private readonly data: ReportData) {
    data.thumbs?.rows_shown.forEach((row, cell) => this.cellOfRow.set(row, cell));
    const shown = this.cellOfRow.size;
    const { n, total } = data.collection;
    const rows = new Set<number>();
    for (const run of data.runs) this.rowsOf(run.id).forEach((row) => rows.add(row));
    this.note = [
      total !== undefined && total > n ? `This report has ${n} of ${total} rows, evenly sampled.` : "",
      data.collection.has_images && shown < rows.size
        ? `It has images of ${shown} of its ${rows.size} rows; the others are shown by name.` : "",
    ].filter(Boolean).join(" ");
  }

  static find(page: Document): ReportSource | null {
    const text = page.getElementById("milieu-report")?.textContent;
    return text ? new ReportSource(JSON.parse(text) as ReportData) : null;
  }

  async collection() { return this.data.collection; }
  async classes() { return new Int32Array(unpack(this.data.classes)); }
  async map() { return new Float32Array(unpack(this.data.map)); }
  files(): Promise<never> { return refuse(); }
  async names(from: number, count: number) { return this.data.names.slice(from, from + count); }
  async methods() { return this.data.methods ?? []; }
  async runs(): Promise<RunBrief[]> { return this.data.runs; }

  thumb(row: number): Thumb | null {
    const cell = this.cellOfRow.get(row);
    const thumbs = this.data.thumbs;
    if (cell === undefined || !thumbs) return null;
    const { side, columns, sheet, rows_shown } = thumbs;
    return { sheet, side, x: (cell % columns) * side, y: Math.floor(cell / columns) * side,
             width: columns * side, height: Math.ceil(rows_shown.length / columns) * side };
  }

  original() { return null; }
  like(): Promise<never> { return refuse(); }
  near(): Promise<never> { return refuse(); }
  nearest(): Promise<never> { return refuse(); }
  neighborMap(): Promise<never> { return refuse(); }
  cancelNeighborMap(): Promise<never> { return refuse(); }
  async features(): Promise<Features> { return { known: [], kept: [] }; }
  addFeature(): Promise<never> { return refuse(); }
  removeFeature(): Promise<never> { return refuse(); }

  async run(id: string): Promise<RunDetail> {
    const found = this.data.runs.find((run) => run.id === id);
    if (!found) throw new SourceError(`This report has no run ${id}.`, 404);
    return found;
  }

  async columns(run: RunDetail): Promise<Columns> {
    const packed = this.data.columns[run.id] ?? {};
    const floats = (name: string) => packed[name] ? new Float32Array(unpack(packed[name])) : null;
    return {
      rows: this.rowsOf(run.id), labels: new Int32Array(unpack(packed.labels ?? "")),
      margins: floats("margins"), decisions: floats("decisions"),
      contextRows: packed.context_rows ? new Int32Array(unpack(packed.context_rows)) : null,
      contextDecisions: floats("context_decisions"),
      words: packed.words ? new Int32Array(unpack(packed.words)) : null, places: floats("places"),
    };
  }

  async imageWords(_id: string, row: number): Promise<ImageWords> {
    const found = this.data.words?.[row];
    if (!found) throw new SourceError("This report has no words for this image.", 404);
    return found;
  }

  async compare(a: string, b: string): Promise<Comparison> {
    const split = async (id: string) => {
      const run = await this.run(id);
      return { ...(await this.columns(run)), numParts: run.parts.length };
    };
    return compareSplits(await split(a), await split(b));
  }

  fileUrl(id: string, name: string) { return this.data.files?.[id]?.[name] ?? null; }

  async download(id: string, what: Download) {
    if (what === "report.html" || what === "coco.json") throw new SourceError(kNoServer, 405);
    const run = await this.run(id);
    const columns = await this.columns(run);
    const text = what === "labels.csv" ? labelsCsv(columns, this.data.names, run.parts)
      : labelsJson(columns, this.data.names, run.parts);
    const type = what === "labels.csv" ? "text/csv" : "application/json";
    return { url: URL.createObjectURL(new Blob([text], { type })), name: `${id}-${what}` };
  }

  start(): Promise<never> { return refuse(); }
  change(): Promise<never> { return refuse(); }
  cancel(): Promise<never> { return refuse(); }
  remove(): Promise<never> { return refuse(); }
  toFolders(): Promise<never> { return refuse(); }
  listen(_id: string, _listener: RunListener) { return () => undefined; }

  private rowsOf(id: string) { return new Int32Array(unpack(this.data.columns[id]?.rows ?? "")); }
}

function refuse(): Promise<never> {
  return Promise.reject(new SourceError(kNoServer, 405));
}
