// SPDX-License-Identifier: Apache-2.0
// What users can do with runs: start, open, cancel, rename, remove, compare.
import { batch } from "@preact/signals";
import { constraintsOf, correctionCount, correctionsOf, kNoCorrections, startHistory } from "../model/corrections";
import { changedOptions } from "../model/form";
import { kHome } from "../model/camera";
import { namesByHand, renamedPart } from "../model/part_names";
import { isEmptySet, requestName, runTitle } from "../model/rows";
import { hasResult, isOver, type Progress, type RunBrief, type RunRequest } from "../model/types";
import { messageOf, SourceError } from "../source/source";
import type { OpenedRun, Store } from "./store";

export class Actions {
  private readonly listening = new Map<string, () => void>();
  private toastCount = 0;

  // Called when this page has changed the list of runs.
  onRunsChanged: () => void = () => undefined;

  constructor(readonly store: Store) {}

  // Loads what the page needs before its first view.
  async load(): Promise<void> {
    const { store } = this;
    try {
      const source = store.source;
      const [collection, classes, map, methods, runs] = await Promise.all(
        [source.collection(), source.classes(), source.map(), source.methods(), source.runs()]);
      batch(() => {
        store.collection.value = collection;
        store.classes.value = classes;
        store.map.value = map;
        store.methods.value = methods;
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

  async start(extra: Partial<RunRequest> = {}): Promise<void> {
    const { store } = this;
    const request: RunRequest = { ...store.request.value, ...extra };
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

  // The opened run again, with the corrections as constraints.
  async rerun(): Promise<void> {
    const opened = this.store.opened.value;
    const corrections = this.store.corrections.value.now;
    if (!opened || correctionCount(corrections) === 0) return;
    const { request } = opened.detail;
    await this.start({ ...request, rank_contexts: false, constraints: constraintsOf(corrections),
                       name: `${runTitle(opened.detail).replace(/, corrected( \d+)?$/, "")}, corrected` });
  }

  async open(id: string): Promise<void> {
    const { store } = this;
    const isOther = id !== store.runId.value;
    batch(() => {
      store.runId.value = id;
      store.openFailure.value = "";
      if (!isOther) return;
      store.opened.value = null;
      store.selection.value = new Set();
      store.emphasised.value = [];
      store.camera.value = kHome;
      store.againstId.value = "";
      store.against.value = null;
      store.comparison.value = null;
      store.corrections.value = startHistory(kNoCorrections);
    });
    if (!id) return;
    const brief = store.runs.value.find((run) => run.id === id);
    if (brief && !hasResult(brief)) return;
    try {
      const opened = await this.fetchRun(id);
      if (store.runId.value !== id) return;
      batch(() => {
        store.opened.value = opened;
        if (isOther || correctionCount(store.corrections.value.now) === 0)
          store.corrections.value = startHistory(correctionsOf(opened.detail.request.constraints));
        if (!opened.detail.rank_contexts && store.view.value === "contexts") store.view.value = "look";
        if (isOther && opened.detail.rank_contexts) store.view.value = "contexts";
        if (isEmptySet(store.set.value)) this.copyToForm(opened.detail.request);
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
    const parts = opened.detail.parts.map((p) => (p.index === index ? renamedPart(p, name) : p));
    this.store.opened.value = { ...opened, detail: { ...opened.detail, parts } };
    try {
      await this.store.source.change(opened.detail.id, { part_names: namesByHand(parts) });
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
