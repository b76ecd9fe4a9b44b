// SPDX-License-Identifier: Apache-2.0
// Runs of the mock server: a queue of one, progress by server-sent events, results made up at once.
import { kMethods, split } from "./data.mjs";

const kSteps = 40;

export class MockRuns {
  constructor(collection, step) {
    this.collection = collection;
    this.step = step;
    this.runs = [];
    this.count = 0;
  }

  rowsOf(set, other) {
    const kinds = new Set((set?.classes ?? []).map((name) => this.collection.classes.findIndex((c) => c.name === name)));
    const all = this.collection.rows.map((_, i) => i);
    if (set?.rest) { const out = new Set(this.rowsOf(other)); return all.filter((i) => !out.has(i)); }
    if (set?.rows) return set.rows;
    return all.filter((i) => kinds.has(this.collection.rows[i].kind));
  }

  handle(method, parts, url, body, response) {
    if (parts[0] === "compare") return this.compare(url);
    const run = this.runs.find((r) => r.brief.id === parts[1]);
    if (parts.length === 1) return method === "POST" ? this.start(body) : { body: this.runs.map((r) => r.brief) };
    if (!run) return { status: 404, body: { error: `there is no run ${parts[1]}` } };
    if (parts.length === 2) return this.one(method, run, body);
    if (parts[2] === "cancel") { run.cancelled = true; return { status: 202, body: run.brief }; }
    if (parts[2] === "events") return this.events(run, response);
    if (parts[2] === "column") return this.column(run, parts[3]);
    if (parts[2] === "file") return { body: mockFile(), type: "image/svg+xml" };
    if (parts[2] === "export") return this.exported(run, parts[3]);
    return { status: 404, body: { error: "unknown" } };
  }

  start(request) {
    if (!kMethods.some((m) => m.name === request.method)) return { status: 400, body: { error: `there is no method ${request.method}` } };
    const rows = this.rowsOf(request.set);
    if (rows.length === 0) return { status: 400, body: { error: "the set has no rows" } };
    const id = `r${++this.count}`;
    const names = (set) => set?.rest ? "everything else" : set?.classes?.join(", ") ?? "selected rows";
    const name = request.name || (request.rank_contexts ? `contexts of ${names(request.set)}` : `${names(request.set)}${request.context ? ` against ${names(request.context)}` : ""}`);
    const brief = { id, name, method: request.method, state: "running", created: new Date().toISOString(), seconds: 0, n: rows.length, clusters: 0, objective: null, rank_contexts: !!request.rank_contexts, request };
    const run = { brief, rows, listeners: new Set(), iteration: 0, trace: [], cancelled: false };
    this.runs.unshift(run);
    this.tick(run);
    return { status: 202, body: { ...brief } };
  }

  tick(run) {
    ++run.iteration;
    run.trace.push(1000 * Math.exp(-run.iteration / 12) + 120 + 3 * Math.sin(run.iteration));
    run.progress = { state: "running", stage: run.iteration < 20 ? "cost 1" : "cost 100", restart: Math.floor(run.iteration / 8), iteration: run.iteration, objective: run.trace.at(-1), change: null, done: run.iteration, total: kSteps, seconds: (run.iteration * this.step) / 1000 };
    for (const response of run.listeners) response.write(`event: progress\ndata: ${JSON.stringify(run.progress)}\n\n`);
    if (run.iteration >= kSteps || run.cancelled) this.finish(run);
    else setTimeout(() => this.tick(run), this.step);
  }

  finish(run) {
    const { brief } = run;
    const K = Number(brief.request.options?.num_clusters ?? (brief.method === "exemplar" ? 4 : 2));
    run.columns = split(this.collection, run.rows, brief.request.context?.classes?.[0], K, brief.request.constraints);
    run.columns.context_rows = Int32Array.from(brief.request.context ? this.rowsOf(brief.request.context, brief.request.set) : []);
    run.columns.context_decisions = Float32Array.from({ length: run.columns.context_rows.length * K }, (_, i) => -0.9 + 0.5 * Math.sin(i * 12.9898));
    Object.assign(brief, { state: run.cancelled ? "cancelled" : "done", clusters: K, objective: run.trace.at(-1), confidence: 0.87, seconds: run.progress.seconds });
    run.partNames = Array.from({ length: K }, () => "");
    for (const response of run.listeners) response.end(`event: end\ndata: ${JSON.stringify(brief)}\n\n`);
    run.listeners.clear();
  }

  one(method, run, body) {
    if (method === "DELETE") { this.runs = this.runs.filter((r) => r !== run); return { status: 204, body: "" }; }
    if (method === "PATCH") {
      if (body.name) run.brief.name = body.name;
      if (body.part_names) run.partNames = body.part_names;
      return { body: run.brief };
    }
    return { body: { ...run.brief, ...this.detail(run) } };
  }

  detail(run) {
    if (!run.columns) return { command: "", summary: {}, trace: run.trace, parts: [], columns: [], files: [] };
    const { labels, rows, margins } = run.columns;
    const parts = run.partNames.map((given, index) => {
      const labels = index === 0 ? [] : [{ name: "snow leopard", sure: 0.98 }, { name: "lynx", sure: 0.71 }];
      const name = given || labels.map((label) => label.name).join(", ") || `Part ${index + 1}`;
      const named_by = given ? "hand" : labels.length ? "labels" : "number";
      const mine = Array.from(rows.keys()).filter((i) => labels[i] === index).sort((a, b) => margins[b] - margins[a]);
      const kinds = this.collection.classes.map((c, k) => [c.name, mine.filter((i) => this.collection.rows[rows[i]].kind === k).length]).filter(([, n]) => n);
      return { index, name, named_by, labels, exemplar_labels: [], size: mine.length, mean_margin: mine.reduce((s, i) => s + margins[i], 0) / (mine.length || 1), typical: mine.slice(0, 6).map((i) => rows[i]), border: mine.slice(-6).map((i) => rows[i]), apart: `Larger than the rest in feature ${12 + index} and ${30 + index}.`, classes: kinds };
    });
    const columns = Object.keys(run.columns).filter((name) => run.columns[name].length);
    const context = run.brief.request.context ? ` --context-select ${run.brief.request.context.classes?.join(",") ?? "rest"}` : "";
    return { command: `milieu ${run.brief.method} shapes --select ${run.brief.request.set.classes?.join(",") ?? "rows"}${context} -k ${run.brief.clusters} --out run`, trace: run.trace, parts, columns,
      summary: { termination: "Converged", objective: run.brief.objective, iterations: kSteps, seed: 1, sizes: parts.map((p) => p.size), warnings: run.cancelled ? ["stopped early: the best split so far"] : [] },
      files: run.brief.method === "exemplar" ? [{ name: "curve.svg", title: "A picture of the run" }] : [], extras: this.extras(run, rows) };
  }

  extras(run, rows) {
    if (run.brief.method === "exemplar") return { exemplars: run.partNames.map((_, k) => rows[run.columns.labels.indexOf(k)]).filter((r) => r !== undefined), penalty_curve: [[1, 40], [2, 22], [4, 12], [8, 6], [16, 3]], weights: [{ name: "euclidean", weight: 0.8 }, { name: "chi2", weight: 0.35 }] };
    if (!run.brief.rank_contexts) return undefined;
    const taken = new Set(run.brief.request.set.classes);
    const contexts = this.collection.classes.filter((c) => !taken.has(c.name)).map((c, i) => {
      const labels = Array.from(split(this.collection, Array.from(rows), c.name, 2).labels);
      const ones = labels.reduce((s, v) => s + v, 0);
      return { name: c.name, rank: i + 1, score: 0.9 - 0.13 * i, confidence: 0.95 - 0.1 * i, stability: 0.95 - 0.05 * i, consensus: 0.8 - 0.1 * i, sizes: [labels.length - ones, ones], labels };
    });
    return { contexts };
  }

  events(run, response) {
    response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
    response.write(`event: progress\ndata: ${JSON.stringify(run.progress)}\n\n`);
    if (run.columns) response.end(`event: end\ndata: ${JSON.stringify(run.brief)}\n\n`);
    else { run.listeners.add(response); response.on("close", () => run.listeners.delete(response)); }
    return undefined;
  }

  column(run, name) {
    const array = run.columns?.[name];
    return array?.length || name === "rows" ? { array } : { status: 404, body: { error: `no column ${name}` } };
  }

  exported(run, what) {
    if (what === "folders") return { body: { path: "/tmp/runs/parts", count: run.rows.length } };
    if (what === "labels.csv") return { body: "row,part\n" + Array.from(run.columns.rows, (r, i) => `${r},${run.columns.labels[i]}`).join("\n") + "\n", type: "text/csv" };
    return { body: { labels: Array.from(run.columns.labels) } };
  }

  compare(url) {
    const [a, b] = ["a", "b"].map((key) => this.runs.find((r) => r.brief.id === url.searchParams.get(key)));
    if (!a?.columns || !b?.columns) return { status: 404, body: { error: "no such run" } };
    const other = new Map(Array.from(b.columns.rows, (r, i) => [r, b.columns.labels[i]]));
    const table = a.partNames.map(() => b.partNames.map(() => 0));
    let both = 0;
    a.columns.rows.forEach((r, i) => { if (other.has(r)) { ++both; ++table[a.columns.labels[i]][other.get(r)]; } });
    return { body: { rows_in_both: both, table, ari: 0.42, nmi: 0.37, only_a: a.rows.length - both, only_b: b.rows.length - both } };
  }
}

function mockFile() {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 120"><rect width="200" height="120" fill="#eef"/><path d="M10 100Q60 10 100 60T190 20" stroke="#06c" fill="none" stroke-width="3"/></svg>`;
}
