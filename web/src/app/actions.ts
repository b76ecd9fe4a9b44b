// SPDX-License-Identifier: Apache-2.0
// What users can do with runs: start, open, cancel, rename, remove, compare.
import { batch } from "@preact/signals";
import { kAdvice } from "../model/advice";
import { addPart, constraintsOf, correctedLabels, correctionCount, kNoCorrections, moveRows, record, startHistory } from "../model/corrections";
import { correctedSplit, packEdits, unpackEdits } from "../model/edit_log";
import { changedOptions } from "../model/form";
import { kHome } from "../model/camera";
import { allParts, namesByHand, renamedPart } from "../model/part_names";
import { isEmptySet, plainRequest, requestName, rowsOf, runTitle } from "../model/rows";
import { hasResult, isOver, type Progress, type RunBrief, type RunRequest } from "../model/types";
import { messageOf, SourceError } from "../source/source";
import type { OpenedRun, Store } from "./store";

const kSaveDelay = 300; // milliseconds

export class Actions {
  private readonly listening = new Map<string, () => void>();
  private toastCount = 0;
  private saving = 0; // timer
  private saved: Store["corrections"]["value"] | null = null; // what the run's folder has

  // Called when this page has changed the list of runs.
  onRunsChanged: () => void = () => undefined;

  constructor(readonly store: Store) {}

  // Loads what the page needs before its first view.
  async load(): Promise<void> {
    const { store } = this;
    try {
      const source = store.source;
      const [collection, classes, map, methods, runs, features] = await Promise.all(
        [source.collection(), source.classes(), source.map(""), source.methods(), source.runs(), source.features()]);
      batch(() => {
        store.collection.value = collection;
        store.classes.value = classes;
        store.map.value = map;
        store.methods.value = methods;
        store.features.value = features;
        store.runs.value = runs;
        store.phase.value = "ready";
      });
      for (const run of runs) if (!isOver(run.state)) this.listen(run.id);
    } catch (error) {
      store.failure.value = messageOf(error);
      store.phase.value = "failed";
    }
  }

  async refreshRuns(): Promise<void> {
    try {
      this.store.runs.value = await this.store.source.runs();
      this.store.isLost.value = false;
      for (const run of this.store.runs.value) if (!isOver(run.state)) this.listen(run.id);
    } catch (error) {
      this.store.isLost.value = error instanceof SourceError && error.status === 0;
    }
  }

  // What the form says with `extra`, or `extra` alone where it is a whole request.
  async start(extra: Partial<RunRequest> = {}, isWhole = false): Promise<void> {
    const { store } = this;
    const request: RunRequest = isWhole ? { method: "", set: {}, options: {}, ...extra } : { ...store.request.value, ...extra };
    const method = store.methods.value.find((m) => m.name === request.method);
    if (method) request.options = changedOptions(method, request.options);
    request.name ||= requestName(request);
    store.isStarting.value = true;
    try {
      const run = await store.source.start(request);
      this.putRun(run);
      this.onRunsChanged();
      this.listen(run.id);
      await this.open(run.id);
      if (store.isNarrow.value) store.isPanelOpen.value = false;
      this.announce(`Run ${runTitle(run)} started`);
    } catch (error) {
      this.fail(error);
    } finally {
      store.isStarting.value = false;
    }
  }

  // The opened run again: it starts from the split as it is shown, with the corrections as
  // constraints. Parts keep their numbers and names; empty ones are left out, and so are rows that
  // were set aside.
  async rerun(): Promise<void> {
    const opened = this.store.opened.value;
    const corrections = this.store.corrections.value.now;
    if (!opened || correctionCount(corrections) === 0) return;
    const { detail, columns } = opened;
    const shown = correctedLabels(columns.rows, columns.labels, corrections);
    const split = correctedSplit(columns.rows, shown, corrections);
    const kept = new Set(split.initial.map(([row]) => row));
    const inside = ([a, b]: readonly [number, number]) => kept.has(a) && kept.has(b);
    const constraints = constraintsOf({ ...corrections, together: corrections.together.filter(inside), apart: corrections.apart.filter(inside) });
    const names = namesByHand(allParts(detail, corrections.added));
    await this.flushEdits();
    await this.start({
      ...detail.request, ...this.rowsWithout(detail.request, split.initial.map(([row]) => row), split.asideCount),
      rank_contexts: false, constraints: { ...constraints, memberships: split.memberships }, initial: split.initial,
      options: { ...detail.request.options, num_clusters: split.oldParts.length },
      part_names: split.oldParts.map((part) => names[part] ?? ""), follows: { run: detail.id, how: "corrected" },
      name: `${runTitle(detail).replace(/, corrected( \d+)?$/, "")}, corrected` }, true);
  }

  // The set and the context when some rows are set aside: those rows are in neither.
  private rowsWithout(request: RunRequest, rows: number[], asideCount: number): Partial<RunRequest> {
    if (asideCount === 0) return {};
    return { set: { rows }, ...this.contextAsRows(request) };
  }

  // "Everything else" means everything but the set of this request, also in a request with less.
  private contextAsRows(request: RunRequest): Partial<RunRequest> {
    const { store } = this;
    if (!request.context?.rest || !store.collection.value) return {};
    return { context: { rows: [...rowsOf(request.context, store.classes.value, store.collection.value, request.set)] } };
  }

  // Splits one part of the opened run by the same method and context.
  async splitPart(part: number, name: string, rows: number[]): Promise<void> {
    const opened = this.store.opened.value;
    if (!opened) return;
    const { detail } = opened;
    const request = plainRequest(detail.request);
    const hasNumber = !!this.store.methods.value.find((m) => m.name === detail.method)?.fields.some((f) => f.name === "num_clusters");
    await this.flushEdits();
    await this.start({ ...request, ...this.contextAsRows(detail.request), set: { rows }, options: { ...request.options, ...(hasNumber ? { num_clusters: 2 } : {}) },
                       follows: { run: detail.id, how: "split", part }, name: `${name}, split` }, true);
  }

  // Puts the parts of a split back into the result they came from: the first stays the old part, the
  // others become new ones.
  async adoptSplit(): Promise<void> {
    const opened = this.store.opened.value;
    const follows = opened?.detail.request.follows;
    if (!opened || follows?.how !== "split" || follows.part === undefined) return;
    const labels = correctedLabels(opened.columns.rows, opened.columns.labels, this.store.corrections.value.now);
    const parts = allParts(opened.detail, this.store.corrections.value.now.added);
    await this.flushEdits();
    await this.open(follows.run);
    const parent = this.store.opened.value;
    if (parent?.detail.id !== follows.run) return;
    let next = this.store.corrections.value.now;
    const first = parent.detail.parts.length + next.added;
    for (const part of parts.slice(1)) {
      const rows = [...opened.columns.rows].filter((_, i) => labels[i] === part.index);
      next = moveRows(addPart(next), rows, first + part.index - 1);
    }
    this.store.corrections.value = record(this.store.corrections.value, next, `${runTitle(opened.detail)} taken over`);
    for (const part of parts)
      if (part.named_by === "hand") await this.namePart(part.index === 0 ? follows.part : first + part.index - 1, part.name);
  }

  // Keeps the corrections in the run's folder, a moment after the last of them.
  saveEdits(): void {
    window.clearTimeout(this.saving);
    this.saving = window.setTimeout(() => void this.flushEdits(), kSaveDelay);
  }

  async flushEdits(): Promise<void> {
    window.clearTimeout(this.saving);
    const { store } = this;
    const opened = store.opened.value;
    const history = store.corrections.value;
    if (!opened || history === this.saved || !store.source.can.run) return;
    this.saved = history;
    try {
      await store.source.change(opened.detail.id, { edits: packEdits(history, opened.detail.parts.length) });
    } catch (error) {
      this.saved = null;
      this.fail(error);
    }
  }

  async open(id: string): Promise<void> {
    const { store } = this;
    const isOther = id !== store.runId.value;
    if (isOther) await this.flushEdits();
    const brief = store.runs.value.find((run) => run.id === id);
    const isAdvice = brief?.method === kAdvice;
    batch(() => {
      store.runId.value = id;
      store.openFailure.value = "";
      if (!isOther) return;
      store.opened.value = null;
      if (isAdvice) store.view.value = "advice";
      else if (store.view.value === "advice") store.view.value = "look";
      store.selection.value = new Set();
      store.emphasised.value = [];
      store.camera.value = kHome;
      store.againstId.value = "";
      store.against.value = null;
      store.comparison.value = null;
      this.saved = store.corrections.value = startHistory(kNoCorrections);
    });
    if (!id) return;
    if (brief && !hasResult(brief)) return;
    try {
      const opened = await this.fetchRun(id);
      if (store.runId.value !== id) return;
      batch(() => {
        store.opened.value = opened;
        if (isOther || store.corrections.value.past.length === 0)
          this.saved = store.corrections.value = unpackEdits(opened.detail);
        if (opened.detail.edits_problem) this.toast(`The changes by hand cannot be read: ${opened.detail.edits_problem}`, "error");
        if (!opened.detail.rank_contexts && store.view.value === "contexts") store.view.value = "look";
        if (isOther && opened.detail.rank_contexts) store.view.value = "contexts";
        if (isEmptySet(store.set.value) && !isAdvice) this.copyToForm(opened.detail.request);
      });
    } catch (error) {
      if (store.runId.value === id) store.openFailure.value = messageOf(error);
    }
  }

  // Copies the options of a run to the form.
  copyToForm(request: RunRequest): void {
    const { store } = this;
    if (!store.methods.value.some((m) => m.name === request.method)) return;
    batch(() => {
      store.methodName.value = request.method;
      store.set.value = request.set;
      store.context.value = request.context ?? {};
      store.options.value = request.options ?? {};
    });
  }

  private async fetchRun(id: string): Promise<OpenedRun> {
    const detail = await this.store.source.run(id);
    return { detail, columns: await this.store.source.columns(detail) };
  }

  async compareWith(id: string): Promise<void> {
    const { store } = this;
    batch(() => {
      store.againstId.value = id;
      store.against.value = null;
      store.comparison.value = null;
      if (id) store.view.value = "compare";
    });
    if (!id || !store.opened.value) return;
    try {
      const [against, comparison] = await Promise.all(
        [this.fetchRun(id), store.source.compare(store.runId.value, id)]);
      if (store.againstId.value !== id) return;
      batch(() => { store.against.value = against; store.comparison.value = comparison; });
    } catch (error) {
      this.fail(error);
    }
  }

  async cancel(id: string): Promise<void> {
    try { await this.store.source.cancel(id); } catch (error) { this.fail(error); }
  }

  async rename(id: string, name: string): Promise<void> {
    try {
      const brief = await this.store.source.change(id, { name });
      this.putRun(brief);
      this.onRunsChanged();
      const opened = this.store.opened.value;
      if (opened?.detail.id === id)
        this.store.opened.value = { ...opened, detail: { ...opened.detail, name: brief.name } };
    } catch (error) { this.fail(error); }
  }

  async namePart(index: number, name: string): Promise<void> {
    const opened = this.store.opened.value;
    if (!opened) return;
    const added = this.store.corrections.value.now.added;
    const all = allParts(opened.detail, added).map((p) => (p.index === index ? renamedPart(p, name) : p));
    const names = namesByHand(all);
    const edits = { moves: [], tags: [], num_parts: all.length, ...opened.detail.edits, part_names: names };
    this.store.opened.value = { ...opened, detail: { ...opened.detail, parts: all.slice(0, opened.detail.parts.length), edits } };
    try {
      await this.store.source.change(opened.detail.id, { part_names: names });
    } catch (error) {
      this.store.opened.value = opened;
      this.fail(error);
    }
  }

  async remove(id: string): Promise<void> {
    try {
      await this.store.source.remove(id);
      this.onRunsChanged();
      this.store.runs.value = this.store.runs.value.filter((run) => run.id !== id);
      if (this.store.runId.value === id) await this.open("");
      if (this.store.againstId.value === id) await this.compareWith("");
    } catch (error) { this.fail(error); }
  }

  listen(id: string): void {
    if (this.listening.has(id)) return;
    const change = (edit: (live: { latest: Progress | null; trace: number[]; isLost: boolean }) => void) => {
      const all = new Map(this.store.progress.value);
      const live = { ...(all.get(id) ?? { latest: null, trace: [], isLost: false }) };
      edit(live);
      all.set(id, live);
      this.store.progress.value = all;
    };
    const stop = this.store.source.listen(id, {
      progress: (latest) => {
        change((live) => {
          live.latest = latest;
          live.isLost = false;
          if (latest.objective !== null) live.trace = [...live.trace, latest.objective].slice(-2000);
        });
        this.patchState(id, latest.state);
      },
      end: (run) => {
        this.listening.delete(id);
        this.putRun(run);
        this.announce(`Run ${runTitle(run)}: ${run.state}`);
        if (this.store.runId.value === id) void this.open(id);
      },
      lost: () => change((live) => { live.isLost = true; }),
    });
    this.listening.set(id, stop);
  }

  private patchState(id: string, state: string): void {
    if (state !== "running" && state !== "queued") return;
    const run = this.store.runs.value.find((r) => r.id === id);
    if (run && run.state !== state) this.putRun({ ...run, state });
  }

  private putRun(run: RunBrief): void {
    const runs = this.store.runs.value;
    const isKnown = runs.some((r) => r.id === run.id);
    this.store.runs.value = isKnown ? runs.map((r) => (r.id === run.id ? run : r)) : [run, ...runs];
  }

  fail(error: unknown): void { this.toast(messageOf(error), "error"); }

  toast(text: string, kind: "info" | "error" = "info", action?: { title: string; run(): void }): void {
    const id = ++this.toastCount;
    this.store.toasts.value = [...this.store.toasts.value.slice(-3), { id, kind, text, action }];
    if (kind === "info") window.setTimeout(() => this.dismiss(id), 6000);
  }

  dismiss(id: number): void {
    this.store.toasts.value = this.store.toasts.value.filter((toast) => toast.id !== id);
  }

  announce(text: string): void { this.store.announcement.value = text; }
}
