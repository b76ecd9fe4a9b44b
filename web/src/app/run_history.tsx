// SPDX-License-Identifier: Apache-2.0
// Earlier runs, newest first: open, rename, compare, remove.
import { describeSet, runTitle } from "../model/rows";
import { age, counted, percent } from "../model/text";
import { hasResult, isOver, type RunBrief } from "../model/types";
import { EditableText, IconButton } from "../component/controls";
import { useApp } from "./app_context";

export function RunHistory() {
  const { store, actions } = useApp();
  const runs = store.runs.value;
  return (
    <section class="history" aria-label="Runs">
      <h2 class="panel-title">Runs{runs.length > 0 && <span class="picker-size">{runs.length}</span>}</h2>
      {store.runId.value && store.source.can.run &&
        <button type="button" class="link-button" onClick={() => void actions.open("")}>Back to the collection</button>}
      {runs.length === 0 && <p class="hint">No runs yet. Runs are kept, even after the explorer is restarted.</p>}
      <ul>{runs.map((run) => <RunItem key={run.id} run={run} />)}</ul>
    </section>
  );
}

function RunItem({ run }: { run: RunBrief }) {
  const { store, actions } = useApp();
  const isOpen = store.runId.value === run.id;
  const open = () => {
    void actions.open(run.id);
    if (store.isNarrow.value) store.isPanelOpen.value = false;
  };
  const canCompare = !!store.opened.value && !isOpen && hasResult(run);
  return (
    <li class={`run-item state-${run.state} ${isOpen ? "is-open" : ""}`} data-run={run.id}>
      <button type="button" class="run-open" aria-current={isOpen ? "true" : undefined} onClick={open}>
        <span class="run-state" aria-hidden="true" />
        <span class="run-name">{runTitle(run)}</span>
        <span class="run-line">{run.rank_contexts ? `contexts of ${describeSet(run.request.set)}` : describeRun(run)}</span>
        <span class="run-line">{stateText(run)}</span>
      </button>
      <span class="run-tools">
        {isOpen && store.source.can.rename && <EditableText class="run-rename" label="Name of the run" value={runTitle(run)} onChange={(name) => void actions.rename(run.id, name)} />}
        {canCompare && <IconButton icon="compare" title={`Compare with ${runTitle(run)}`} onClick={() => void actions.compareWith(run.id)} />}
        {store.source.can.run && !isOver(run.state) && <IconButton icon="stop" title={`Cancel ${runTitle(run)}`} onClick={() => void actions.cancel(run.id)} />}
        {store.source.can.run && isOver(run.state) && <IconButton icon="trash" title={`Remove ${runTitle(run)}`} onClick={() => confirmRemoval(run, () => void actions.remove(run.id))} />}
      </span>
    </li>
  );
}

function describeRun(run: RunBrief): string {
  const context = run.request.context ? ` against ${describeSet(run.request.context, true)}` : "";
  return `${run.method}: ${describeSet(run.request.set)}${context}`;
}

function stateText(run: RunBrief): string {
  if (run.state === "queued") return "queued";
  if (run.state === "running") return "running";
  if (run.state === "failed") return "failed";
  const confidence = run.confidence === undefined || run.confidence === null ? "" : `, confidence ${percent(run.confidence)}`;
  const what = run.rank_contexts ? counted(run.n, "row") : `${counted(run.clusters, "part")}, ${counted(run.n, "row")}${confidence}`;
  return [`${run.state === "cancelled" ? "cancelled, " : ""}${what}`, age(run.created)].filter(Boolean).join(" · ");
}

function confirmRemoval(run: RunBrief, remove: () => void): void {
  if (window.confirm(`Remove the run "${runTitle(run)}" and its files?`)) remove();
}
