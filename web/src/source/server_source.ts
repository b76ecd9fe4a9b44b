// SPDX-License-Identifier: Apache-2.0
// The server of `milieu explore`, on the same address as the page.
import type { Collection, Columns, Comparison, Features, JobProgress, Method, ImageWords, NearRows, RunBrief, RunDetail,
              RunRequest } from "../model/types";
import { SourceError, type Abilities, type Download, type RunChange, type RunListener,
         type Source, type Thumb } from "./source";

const kNoAnswer = "The explorer's server does not answer. Is `milieu explore` still running?";

async function call(path: string, init?: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...init });
  } catch {
    throw new SourceError(kNoAnswer, 0);
  }
  if (response.ok) return response;
  const message = await response.json().then((body) => String(body.error ?? ""), () => "");
  throw new SourceError(message || `${path} answered ${response.status}`, response.status);
}

async function json<T>(path: string): Promise<T> {
  return (await call(path)).json() as Promise<T>;
}

async function send<T>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await call(path, {
    method,
    headers: { "Content-Type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  return (text ? JSON.parse(text) : undefined) as T;
}

async function bytes(path: string, size: number): Promise<ArrayBuffer> {
  const buffer = await (await call(path)).arrayBuffer();
  if (buffer.byteLength % size !== 0)
    throw new SourceError(`${path} has ${buffer.byteLength} bytes, not a multiple of ${size}`, 500);
  return buffer;
}

// The same call for a feature of the collection; "" is the first.
function by(path: string, feature: string): string {
  return feature ? `${path}${path.includes("?") ? "&" : "?"}feature=${encodeURIComponent(feature)}` : path;
}

export class ServerSource implements Source {
  readonly can: Abilities = { run: true, rename: true, folders: true, report: true, like: true, spaces: true };
  readonly note = "";

  collection(): Promise<Collection> { return json("/api/collection"); }
  async classes() { return new Int32Array(await bytes("/api/collection/classes", 4)); }
  async map(feature: string) { return new Float32Array(await bytes(by("/api/collection/map", feature), 8)); }
  async neighborMap(feature: string): Promise<Float32Array | JobProgress> {
    const answer = await call(by("/api/collection/neighbor-map", feature));
    return answer.status === 202 ? answer.json() as Promise<JobProgress> : new Float32Array(await answer.arrayBuffer());
  }
  async cancelNeighborMap(feature: string): Promise<void> { await send("DELETE", by("/api/collection/neighbor-map", feature)); }
  features(): Promise<Features> { return json("/api/features"); }
  addFeature(feature: string): Promise<Features> { return send("POST", "/api/features", { feature }); }
  removeFeature(feature: string): Promise<Features> { return send("DELETE", by("/api/features", feature)); }
  async files() { return new Float64Array(await bytes("/api/collection/files", 8)); }
  names(from: number, count: number): Promise<string[]> {
    return json(`/api/collection/names?from=${from}&count=${count}`);
  }
  thumb(row: number, side: number): Thumb { return { url: `/api/thumb/${row}?side=${side}` }; }
  original(row: number) { return `/api/image/${row}`; }
  like(row: number, count: number, feature: string): Promise<NearRows> { return json(by(`/api/like/${row}?count=${count}`, feature)); }
  near(run: string, row: number, count: number): Promise<{ context: NearRows; exemplars: NearRows }> { return json(`${this.path(run)}/near/${row}?count=${count}`); }
  async nearest(feature: string) { return new Float32Array(await bytes(by("/api/collection/nearest", feature), 4)); }
  methods(): Promise<Method[]> { return json("/api/methods"); }
  runs(): Promise<RunBrief[]> { return json("/api/runs"); }
  run(id: string): Promise<RunDetail> { return json(this.path(id)); }

  async columns(run: RunDetail): Promise<Columns> {
    const at = (name: string) => `${this.path(run.id)}/column/${name}`;
    const optional = async (name: string) =>
      run.columns.includes(name) ? bytes(at(name), 4) : null;
    const [rows, labels, margins, decisions, contextRows, contextDecisions, words, places] = await Promise.all([
      optional("rows"), optional("labels"), optional("margins"), optional("decisions"),
      optional("context_rows"), optional("context_decisions"), optional("words"), optional("places")]);
    const floats = (buffer: ArrayBuffer | null) => buffer && new Float32Array(buffer);
    const ints = (buffer: ArrayBuffer | null) => buffer && new Int32Array(buffer);
    return {
      rows: ints(rows) ?? new Int32Array(0), labels: ints(labels) ?? new Int32Array(0), margins: floats(margins),
      decisions: floats(decisions), contextRows: ints(contextRows), contextDecisions: floats(contextDecisions),
      words: ints(words), places: floats(places),
    };
  }
  imageWords(id: string, row: number): Promise<ImageWords> { return json(`${this.path(id)}/words/${row}`); }

  start(request: RunRequest): Promise<RunBrief> { return send("POST", "/api/runs", request); }
  change(id: string, change: RunChange): Promise<RunBrief> {
    return send("PATCH", this.path(id), change);
  }
  cancel(id: string): Promise<void> { return send("POST", `${this.path(id)}/cancel`); }
  remove(id: string): Promise<void> { return send("DELETE", this.path(id)); }

  listen(id: string, listener: RunListener): () => void {
    const events = new EventSource(`${this.path(id)}/events`);
    const read = <T>(event: Event) => JSON.parse((event as MessageEvent<string>).data) as T;
    events.addEventListener("progress", (event) => listener.progress(read(event)));
    events.addEventListener("end", (event) => { events.close(); listener.end(read(event)); });
    events.onerror = () => listener.lost();
    return () => events.close();
  }

  compare(a: string, b: string): Promise<Comparison> {
    return json(`/api/compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`);
  }
  fileUrl(id: string, name: string) { return `${this.path(id)}/file/${encodeURIComponent(name)}`; }
  async download(id: string, what: Download, isOriginal = false) {
    return { url: `${this.path(id)}/export/${what}${isOriginal ? "?original" : ""}`, name: `${id}-${what}` };
  }
  toFolders(id: string, how: "copy" | "link" | "zip", to: string, isOriginal = false): Promise<{ path: string; count: number }> {
    return send("POST", `${this.path(id)}/export/folders${isOriginal ? "?original" : ""}`, to ? { how, to } : { how });
  }

  private path(id: string) { return `/api/runs/${encodeURIComponent(id)}`; }
}
