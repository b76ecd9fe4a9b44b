// SPDX-License-Identifier: Apache-2.0
// All possible contexts, ranked without labels; a small map of the split each gives.
import { useState } from "preact/hooks";
import { partColor, partColors } from "../model/palette";
import { plainRequest } from "../model/rows";
import { count, counted, number, percent } from "../model/text";
import type { ContextRow, RunBrief } from "../model/types";
import { Stack } from "../component/charts";
import { Empty, Segmented } from "../component/controls";
import { Icon } from "../component/icon";
import { MiniMap } from "../component/mini_map";
import { useApp, type App } from "./app_context";

const sameSet = (a: unknown, b: unknown) => JSON.stringify(a ?? {}) === JSON.stringify(b ?? {});

// The run with a ranking for the opened run's set: itself, or another in the history.
function rankingOf({ store }: App): RunBrief | null {
  const detail = store.opened.value?.detail;
  if (!detail) return null;
  if (detail.extras?.contexts?.length) return detail;
  return store.runs.value.find((r) => r.rank_contexts && r.state === "done" && sameSet(r.request.set, detail.request.set)) ?? null;
}

export function ContextsView() {
  const app = useApp();
  const { store, actions } = app;
  const [shape, setShape] = useState<"table" | "maps">("table");
  const detail = store.opened.value!.detail;
  const contexts = detail.extras?.contexts;
  if (!contexts?.length) {
    const ranking = rankingOf(app);
    return (
      <Empty icon="rank" title="Which context is most informative?">
        <p>Every other class, and all of them together, are tried as the context of this set. Contexts whose split is like the clearest one come first; no labels are used.</p>
        {ranking
          ? <button type="button" class="button primary" onClick={() => void actions.open(ranking.id)}>Open the ranking</button>
          : store.source.can.run && <button type="button" class="button primary"
              onClick={() => void actions.start({ ...plainRequest(detail.request), context: undefined, rank_contexts: true }, true)}>
              <Icon name="rank" size={16} />Rank all contexts</button>}
      </Empty>
    );
  }
  const sorted = [...contexts].sort((a, b) => a.rank - b.rank);
  return (
    <section class="contexts" aria-label="Contexts">
      <div class="view-bar">
        <p class="hint">{counted(contexts.length, "context")}, best first. Score: how much the split agrees with the clearest one. Consensus: how much the splits of the other contexts agree with it.{sorted.some((c) => c.outliers) && " Splits that only find a few outliers come last."}</p>
        <Segmented label="Show as" value={shape} onChange={(value: "table" | "maps") => setShape(value)}
                   choices={[{ value: "table", title: "Table", icon: "rank" }, { value: "maps", title: "Maps", icon: "gallery" }]} />
      </div>
      {shape === "table" ? <ContextTable contexts={sorted} /> : <ContextMaps contexts={sorted} />}
    </section>
  );
}

// The row of all contexts together (dcp_contexts.cc).
const ALL_CONTEXTS = "all contexts";

// Opens the run with this context; starts it if there is none yet.
function openContext({ store, actions }: App, name: string): void {
  const { request, extras } = store.opened.value!.detail;
  const singles = (extras?.contexts ?? []).map((c) => c.name).filter((c) => c !== ALL_CONTEXTS).sort();
  const context = { classes: name === ALL_CONTEXTS ? singles : [name] };
  const { rank_contexts: _, ...options } = request.options;
  const found = store.runs.value.find((r) => !r.rank_contexts && r.method === request.method && !r.request.constraints &&
    sameSet(r.request.set, request.set) && sameSet(r.request.context, context) && sameSet(r.request.options, options));
  store.view.value = "look";
  if (found) void actions.open(found.id);
  else void actions.start({ ...plainRequest(request), options, rank_contexts: false, context }, true);
}

function SplitMap({ row, side }: { row: ContextRow; side: number }) {
  const { store } = useApp();
  const { columns } = store.opened.value!;
  if (!row.labels?.length || row.labels.length !== columns.rows.length) return null;
  return <MiniMap map={store.map.value} rows={columns.rows} labels={row.labels} side={side}
                  colors={partColors(row.sizes.length, store.isDark.value)} label={`Split against ${row.name}: ${row.sizes.join(" and ")}`} />;
}

function OpenButton({ row }: { row: ContextRow }) {
  const app = useApp();
  if (!app.store.source.can.run) return null;
  return <button type="button" class="button small" onClick={() => openContext(app, row.name)}
                 aria-label={`Open the split against ${row.name}`}>Open</button>;
}

function ContextTable({ contexts }: { contexts: ContextRow[] }) {
  const { store } = useApp();
  const best = Math.max(...contexts.map((c) => c.score), 1e-9);
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label="Ranking of contexts">
      <table class="table">
        <thead><tr><th scope="col">Rank</th><th scope="col">Context</th><th scope="col">Score</th><th scope="col">Confidence</th>
          <th scope="col">Stability</th><th scope="col">Consensus</th><th scope="col">Sizes</th><th scope="col">Split</th>
          {store.source.can.run && <th scope="col"><span class="unseen">Open</span></th>}</tr></thead>
        <tbody>
          {contexts.map((c) => (
            <tr key={c.name}>
              <td class="number">{c.rank}</td><th scope="row">{c.name}</th>
              <td class="number score"><span class="score-bar" style={{ width: `${(Math.max(0, c.score) / best) * 100}%` }} /><span>{number(c.score, 3)}</span></td>
              <td class={`number ${c.confidence < 0.7 ? "is-poor" : ""}`}>{percent(c.confidence)}</td><td class="number">{number(c.stability, 3)}</td><td class="number">{number(c.consensus, 3)}</td>
              <td class="sizes"><span>{c.sizes.map(count).join(" / ")}{c.outliers && <> · <strong title="One part is a handful of images: this split finds outliers, so it comes last">outliers</strong></>}</span><Stack label="Sizes" items={c.sizes.map((value, i) => ({ name: `part ${i + 1}`, value, color: partColor(i, store.isDark.value) }))} /></td>
              <td><SplitMap row={c} side={64} /></td>
              {store.source.can.run && <td><OpenButton row={c} /></td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ContextMaps({ contexts }: { contexts: ContextRow[] }) {
  return (
    <ul class="multiples">
      {contexts.map((c) => (
        <li key={c.name}>
          <div class="multiple-head"><span class="badge">{c.rank}</span><strong title={c.name}>{c.name}</strong></div>
          <SplitMap row={c} side={180} />
          <div class="multiple-foot"><span class="hint">score {number(c.score, 3)}, {c.sizes.join(" / ")}{c.outliers ? ", outliers" : ""}</span><OpenButton row={c} /></div>
        </li>
      ))}
    </ul>
  );
}
