// SPDX-License-Identifier: Apache-2.0
// Two splits side by side, with their cross-table. A cell selects the rows it counts.
import { useEffect, useState } from "preact/hooks";
import { runTitle } from "../model/rows";
import { firstRival, matchColumns, movedRows } from "../model/compare";
import { partColor, partColors } from "../model/palette";
import { count, counted, number } from "../model/text";
import { hasResult } from "../model/types";
import { Empty, PartMark, Segmented, Select, Spinner } from "../component/controls";
import { MiniMap } from "../component/mini_map";
import { Thumbnail } from "../component/thumbnail";
import { useApp } from "./app_context";
import { PartStrip } from "./part_strip";
import type { OpenedRun } from "./store";

export function CompareView() {
  const { store, actions } = useApp();
  const others = store.runs.value.filter((r) => r.id !== store.runId.value && hasResult(r));
  const isOpen = !!store.againstId.value;
  useEffect(() => {
    const rival = isOpen ? undefined : firstRival(store.opened.value!.detail, others);
    if (rival) void actions.compareWith(rival.id);
  }, [isOpen, others.length]);
  if (!others.length && !store.source.can.run)
    return <Empty icon="compare" title="Nothing to compare with"><p>This report holds one run. The explorer shows two side by side.</p></Empty>;
  if (!others.length)
    return <Empty icon="compare" title="Nothing to compare with yet"><p>Run the same set again with another context or other options to see both splits side by side.</p></Empty>;
  return (
    <section class="compare" aria-label="Compare">
      <div class="view-bar">
        <Select label="Compare with" isLabelShown value={store.againstId.value} onChange={(id) => void actions.compareWith(id)}
                choices={[...others.map((r) => ({ value: r.id, title: runTitle(r) }))]} />
        {store.comparison.value &&
          <p class="compare-figures"><span>adjusted Rand <strong>{number(store.comparison.value.ari, 3)}</strong></span>
            <span>NMI <strong>{number(store.comparison.value.nmi, 3)}</strong></span>
            <span>{counted(store.comparison.value.rows_in_both, "row")} in both</span></p>}
      </div>
      {store.against.value && store.comparison.value ? <Sides /> : <Spinner text="Comparing" />}
    </section>
  );
}

function Sides() {
  const { store } = useApp();
  const a = store.opened.value!, b = store.against.value!;
  const order = matchColumns(store.comparison.value!.table);
  const picked = store.selection.value;
  const hasImages = store.collection.value!.has_images;
  const [shape, setShape] = useState<"galleries" | "maps">(hasImages ? "galleries" : "maps");
  const moved = movedRows(a.columns, b.columns, order);
  return (
    <>
      {hasImages && <Segmented label="Show as" value={shape} onChange={(value: "galleries" | "maps") => setShape(value)}
                               choices={[{ value: "galleries", title: "Galleries" }, { value: "maps", title: "Maps" }]} />}
      {hasImages && shape === "galleries" && moved.size > 0 && <p class="hint">{counted(moved.size, "image")} {moved.size === 1 ? "is" : "are"} framed: in another part than beside it.</p>}
      {hasImages && shape === "galleries"
        ? <div class="compare-galleries">
            <GallerySide run={a} title="This run" parts={a.detail.parts.map((p) => p.index)} moved={moved} />
            <GallerySide run={b} title="The other" parts={order} moved={moved} />
          </div>
        : <div class="compare-sides">
            <Side run={a} title="This run" />
            <Side run={b} title="The other" />
          </div>}
      {store.comparison.value!.rows_in_both === 0
        ? <p class="hint">The two runs have no row in common.</p>
        : <CrossTable a={a} b={b} order={order} />}
      {picked.size > 0 && <PickedStrip rows={[...picked]} />}
    </>
  );
}

function Side({ run, title }: { run: OpenedRun; title: string }) {
  const { store } = useApp();
  const selection = store.selection.value;
  const side = Math.min(360, Math.max(160, (window.innerWidth - (store.isNarrow.value ? 60 : 460)) / 2));
  return (
    <figure class="compare-side">
      <figcaption><span class="hint">{title}</span><strong>{runTitle(run.detail)}</strong></figcaption>
      <MiniMap map={store.map.value} rows={run.columns.rows} labels={run.columns.labels} side={side}
               colors={partColors(run.detail.parts.length, store.isDark.value)} highlight={selection.size ? selection : null}
               label={`Map of ${runTitle(run.detail)}`} />
      <ul class="side-parts">
        {run.detail.parts.map((p) => <li key={p.index}><PartMark index={p.index} color={partColor(p.index, store.isDark.value)} />{p.name}<span class="hint">{count(p.size)}</span></li>)}
      </ul>
    </figure>
  );
}

function GallerySide({ run, title, parts, moved }: { run: OpenedRun; title: string; parts: number[]; moved: Set<number> }) {
  return (
    <section class="gallery-side" aria-label={`${title}: ${runTitle(run.detail)}`}>
      <h3><span class="hint">{title}</span> {runTitle(run.detail)}</h3>
      {parts.map((part) => <PartStrip key={part} run={run} part={part} moved={moved} />)}
    </section>
  );
}

function rowsInCell(a: OpenedRun, b: OpenedRun, i: number, j: number): number[] {
  const other = new Map<number, number>();
  b.columns.rows.forEach((row, at) => other.set(row, b.columns.labels[at]));
  return Array.from(a.columns.rows).filter((row, at) => a.columns.labels[at] === i && other.get(row) === j);
}

function CrossTable({ a, b, order }: { a: OpenedRun; b: OpenedRun; order: number[] }) {
  const { store, edits } = useApp();
  const { table } = store.comparison.value!;
  const most = Math.max(1, ...table.flat());
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label="Cross-table">
      <table class="table cross">
        <caption>Rows: parts of this run. Columns: parts of the other. Click a cell to select its rows.</caption>
        <thead><tr><td />{order.map((j) => <th key={j} scope="col"><PartMark index={j} color={partColor(j, store.isDark.value)} />{b.detail.parts[j]?.name}</th>)}</tr></thead>
        <tbody>
          {table.map((row, i) => (
            <tr key={i}>
              <th scope="row"><PartMark index={i} color={partColor(i, store.isDark.value)} />{a.detail.parts[i]?.name}</th>
              {order.map((j) => (
                <td key={j} class="cross-cell" style={{ "--share": `${Math.round((row[j] / most) * 100)}%` }}>
                  <button type="button" disabled={!row[j]} onClick={() => edits.select(rowsInCell(a, b, i, j))}
                          aria-label={`${counted(row[j], "row")} in ${a.detail.parts[i]?.name} and ${b.detail.parts[j]?.name}`}>{count(row[j])}</button>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function PickedStrip({ rows }: { rows: number[] }) {
  const { store, names } = useApp();
  const shown = rows.slice(0, 60);
  return (
    <div class="strip" role="group" aria-label="Selected images">
      {shown.map((row) => (
        <button type="button" key={row} aria-label={names.of(row)} title={names.of(row)} onClick={() => { store.image.value = row; }}>
          <Thumbnail thumb={store.collection.value!.has_images ? store.source.thumb(row, 96) : null} alt="" side={64} text={names.of(row)} />
        </button>
      ))}
      {rows.length > shown.length && <span class="hint">and {count(rows.length - shown.length)} more</span>}
    </div>
  );
}
