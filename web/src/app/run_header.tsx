// SPDX-License-Identifier: Apache-2.0
// Above the views: which run is open, its figures, the views it has.
import { followedRows } from "../model/edit_log";
import { describeSet, runTitle } from "../model/rows";
import { counted, percent, seconds } from "../model/text";
import { EditableText } from "../component/controls";
import { useApp } from "./app_context";
import { viewsOf } from "./keys";

export function RunHeader() {
  const app = useApp();
  const { store, actions } = app;
  const detail = store.opened.value?.detail;
  if (!detail) return <CollectionHeader />;
  const warnings = Array.isArray(detail.summary.warnings) ? detail.summary.warnings.length : 0;
  return (
    <div class="run-header">
      <div class="run-title">
        <h2><EditableText label="Name of the run" value={runTitle(detail)} disabled={!store.source.can.rename}
                          onChange={(name) => void actions.rename(detail.id, name)} /></h2>
        <p class="run-facts">
          <span>{detail.method}</span>
          <span>{describeSet(detail.request.set)}{detail.request.context ? ` against ${describeSet(detail.request.context, true)}` : ""}</span>
          <span>{counted(detail.n, "row")}, {counted(detail.clusters, "part")}</span>
          {typeof detail.confidence === "number" && <span class={detail.confidence < 0.7 ? "is-poor" : ""} title="Share of samples expected on the right side, as measured for splits that stand apart this clearly; 50 % is chance">confidence <strong>{percent(detail.confidence)}</strong></span>}
          <span>{seconds(detail.seconds)}</span>
          {detail.state === "cancelled" && <span class="is-poor">cancelled: the best so far</span>}
          {warnings > 0 && <button type="button" class="link-button is-poor" onClick={() => { store.view.value = "details"; }}>{counted(warnings, "warning")}</button>}
        </p>
        <Origin />
      </div>
      <nav class="views" aria-label="Views">
        {viewsOf(app).map((v) => (
          <button type="button" key={v.value} aria-current={store.view.value === v.value ? "page" : undefined}
                  onClick={() => { store.view.value = v.value; }}>{v.title}</button>
        ))}
      </nav>
    </div>
  );
}

// Where the run comes from: a corrected result, and what followed the corrections; or a part of one.
function Origin() {
  const { store, actions, edits } = useApp();
  const { detail, columns } = store.opened.value!;
  const follows = detail.request.follows;
  const source = store.runs.value.find((run) => run.id === follows?.run);
  if (!follows) return null;
  const name = source ? <button type="button" class="link-button" onClick={() => void actions.open(source.id)}>{runTitle(source)}</button> : <span>a run that was removed</span>;
  if (follows.how === "split")
    return <p class="run-facts" data-testid="origin"><span>a part of {name}</span>
      {source && <button type="button" class="link-button" data-testid="adopt" onClick={() => void actions.adoptSplit()}>Put these parts into it</button>}</p>;
  const followed = followedRows(detail.request.initial ?? [], columns.rows, columns.labels);
  const placed = detail.request.constraints?.memberships?.length ?? 0;
  return (
    <p class="run-facts" data-testid="origin"><span>from {name}</span>
      <span>{counted(placed, "image")} placed by you</span>
      {followed.length > 0
        ? <button type="button" class="link-button" onClick={() => edits.select(followed)}>{counted(followed.length, "image")} followed</button>
        : <span>no image followed</span>}
    </p>
  );
}

function CollectionHeader() {
  const { store } = useApp();
  const collection = store.collection.value!;
  if (store.runId.value) return null;
  return (
    <div class="run-header">
      <div class="run-title">
        <h2>The collection</h2>
        <p class="run-facts"><span>{counted(collection.n, collection.kind === "images" ? "image" : "row")} with {counted(collection.d, "dimension")}.
{(collection.warnings?.length ?? 0) > 0 && <> <span class="is-poor" data-testid="collection-warnings">{collection.warnings!.join(" ")}</span></>}
          {store.source.can.run ? " Choose a set and a context on the left, or select images, and run." : " Choose a run."}</span></p>
      </div>
    </div>
  );
}
