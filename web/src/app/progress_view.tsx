// SPDX-License-Identifier: Apache-2.0
// A run in progress: stage, share done, objective curve; or why it failed.
import { kAdvice } from "../model/advice";
import { namedConflict } from "../model/conflicts";
import { describeSet, rowsOf } from "../model/rows";
import { number, seconds } from "../model/text";
import { isOver, type RunBrief } from "../model/types";
import { Curve } from "../component/charts";
import { Empty, Spinner } from "../component/controls";
import { Icon } from "../component/icon";
import { useApp } from "./app_context";

export function ProgressView() {
  const { store, actions } = useApp();
  const id = store.runId.value;
  const run = store.runs.value.find((r) => r.id === id);
  if (store.openFailure.value || !run)
    return <Empty icon="warn" title="This run cannot be opened">
      <p>{store.openFailure.value || `There is no run ${id}: it may have been removed.`}</p>
      <button type="button" class="button" onClick={() => void actions.open("")}>Back to the collection</button></Empty>;
  if (run.state === "failed" || run.state === "cancelled") return <Ended run={run} />;
  if (isOver(run.state)) return <Spinner text="Opening the run" />;
  return <Running run={run} />;
}

function Ended({ run }: { run: RunBrief }) {
  const { store, actions, names } = useApp();
  const nameOf = (sample: number) => {
    const rows = rowsOf(run.request.set, store.classes.value, store.collection.value!, run.request.context);
    return sample < rows.length ? names.of(rows[sample]) : `sample ${sample}`;
  };
  return (
    <Empty icon={run.state === "failed" ? "warn" : "stop"} title={run.state === "failed" ? "The run failed" : "The run was cancelled"}>
      <p class="error-text">{run.error ? namedConflict(run.error, nameOf) : (run.state === "failed" ? "There is no message." : "It was stopped before it had a result.")}</p>
      <button type="button" class="button" onClick={() => void actions.open("")}>Back to the collection</button>
    </Empty>
  );
}

function Running({ run }: { run: RunBrief }) {
  const { store, actions } = useApp();
  const live = store.progress.value.get(run.id);
  const now = live?.latest;
  const share = now && now.total > 0 ? Math.min(1, now.done / now.total) : 0;
  const isAdvice = run.method === kAdvice; // judges class by class, without an objective
  const title = isAdvice ? `Judging ${describeSet(run.request.set)}` : run.rank_contexts ? `Ranking the contexts of ${describeSet(run.request.set)}` : `Splitting ${describeSet(run.request.set)}`;
  return (
    <section class="progress-view" aria-label="Progress" data-testid="progress">
      <h2>{title}</h2>
      <p class="hint">{run.request.context ? `against ${describeSet(run.request.context, true)}, ` : ""}with {run.method}</p>
      <div class="progress-bar" role="progressbar" aria-label="Progress" aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(share * 100)}>
        <span class={now && now.total > 0 ? "" : "is-unknown"} style={{ width: now && now.total > 0 ? `${share * 100}%` : undefined }} />
      </div>
      <dl class="progress-facts">
        <div><dt>Stage</dt><dd>{run.state === "queued" ? "queued" : now?.stage || "starting"}</dd></div>
        {!isAdvice && <><div><dt>Restart</dt><dd>{now ? now.restart + 1 : "–"}</dd></div>
          <div><dt>Iteration</dt><dd>{now ? now.iteration : "–"}</dd></div>
          <div><dt>Objective</dt><dd>{number(now?.objective)}</dd></div></>}
        <div><dt>Time</dt><dd>{now ? seconds(now.seconds) : "–"}</dd></div>
      </dl>
      {!isAdvice && <div class="progress-curve">
        {live && live.trace.length > 1
          ? <Curve label="Objective so far" xTitle="report" yTitle="objective" points={live.trace.map((y, x) => ({ x: x + 1, y }))} height={220} />
          : <p class="hint">The curve of the objective will appear here.</p>}
      </div>}
      {live?.isLost && <p class="problem" role="status">Connection lost; reconnecting. The run continues.</p>}
      {store.source.can.run && <button type="button" class="button" data-testid="cancel" onClick={() => void actions.cancel(run.id)}><Icon name="stop" size={14} />Cancel</button>}
    </section>
  );
}
