// SPDX-License-Identifier: Apache-2.0
// All images in one table: a line per image, ordered by any column. Only the visible lines are in the
// page.
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { nextOrder, orderOf, sortedPositions, type Column } from "../model/order";
import { partColor } from "../model/palette";
import { baseName, count, number } from "../model/text";
import { PartMark } from "../component/controls";
import { Thumbnail } from "../component/thumbnail";
import { useApp, type App } from "./app_context";

const kLine = 46; // pixels, with the border
const kMore = 6;  // lines above and below the window

interface TableColumn { column: Column; title: string; text(app: App, position: number): string; isNumber?: boolean }

const rowAt = ({ scene }: App, position: number) => scene.scene.value!.columns.rows[position];

const kColumns: TableColumn[] = [
  { column: "row", title: "Row", text: (app, i) => String(rowAt(app, i)), isNumber: true },
  { column: "name", title: "Name", text: (app, i) => app.names.of(rowAt(app, i)) },
  { column: "part", title: "Part", text: ({ scene }, i) => scene.scene.value!.parts[scene.scene.value!.labels[i]]?.name ?? "none" },
  { column: "class", title: "Class", text: (app, i) => app.store.collection.value!.classes[app.store.classes.value[rowAt(app, i)]]?.name ?? "" },
  { column: "margin", title: "Margin", text: ({ scene }, i) => number(scene.scene.value!.columns.margins?.[i]), isNumber: true },
  { column: "nearest", title: "To the nearest", text: (app, i) => number(app.store.nearest.value?.[rowAt(app, i)]), isNumber: true },
  { column: "size", title: "kB", text: (app, i) => fileText(app, i, 0, (bytes) => count(bytes / 1000)), isNumber: true },
  { column: "date", title: "Date", text: (app, i) => fileText(app, i, 1, dayText) },
  { column: "tags", title: "Tags", text: (app, i) => app.edits.now.tags.get(rowAt(app, i))?.join(", ") ?? "" },
];

function fileText(app: App, position: number, which: 0 | 1, say: (value: number) => string): string {
  const value = app.store.files.value?.[2 * rowAt(app, position) + which] ?? -1;
  return value < 0 ? "–" : say(value);
}

// The day in the reader's own calendar.
function dayText(seconds: number): string {
  const day = new Date(seconds * 1000);
  return `${day.getFullYear()}-${String(day.getMonth() + 1).padStart(2, "0")}-${String(day.getDate()).padStart(2, "0")}`;
}

function columnsOf({ store, scene }: App): TableColumn[] {
  const now = scene.scene.value!;
  const hasFiles = store.source.can.spaces && store.collection.value!.kind === "images";
  const has: Partial<Record<Column, boolean>> = {
    class: store.collection.value!.classes.length > 0, part: now.isRun, margin: !!now.columns.margins, nearest: store.source.can.like,
    size: hasFiles, date: hasFiles, tags: now.isRun };
  return kColumns.filter(({ column }) => has[column] ?? true);
}

export function TablePanel() {
  const app = useApp();
  const { store, scene, spaces } = app;
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const now = scene.scene.value!;
  const emphasised = store.emphasised.value, shown = scene.shown.value, keys = scene.keys.value;
  const positions = useMemo(() => sortedPositions(
    Int32Array.from(now.labels.keys()).filter((i) => (!shown || shown[i]) && (!emphasised.length || emphasised.includes(now.labels[i]))), keys),
    [now, shown, emphasised, keys]);
  const look = () => setView({ top: box.current!.scrollTop, height: box.current!.clientHeight });
  useLayoutEffect(() => {
    if (store.source.can.spaces) spaces.wantFiles();
    const observer = new ResizeObserver(look);
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  const first = Math.max(0, Math.floor(view.top / kLine) - kMore);
  const last = Math.min(positions.length, Math.ceil((view.top + view.height) / kLine) + kMore);
  const columns = columnsOf(app);
  return (
    <div ref={box} class="image-table" tabIndex={0} role="region" aria-label="Table of the images" onScroll={look} data-testid="table">
      <table class="table" aria-rowcount={positions.length + 1}>
        <thead><tr>
          <th scope="col"><span class="unseen">Image</span></th>
          {columns.map((c) => <HeadCell key={c.column} column={c} />)}
        </tr></thead>
        <tbody>
          {first > 0 && <tr aria-hidden="true" style={{ height: `${first * kLine}px` }} />}
          {Array.from(positions.subarray(first, last), (position, i) =>
            <Line key={position} position={position} index={first + i} columns={columns} />)}
          {last < positions.length && <tr aria-hidden="true" style={{ height: `${(positions.length - last) * kLine}px` }} />}
        </tbody>
      </table>
    </div>
  );
}

function HeadCell({ column: { column, title, isNumber } }: { column: TableColumn }) {
  const { store, spaces } = useApp();
  const now = orderOf(store.order.value);
  const isOn = now.column === column;
  return (
    <th scope="col" class={isNumber ? "number" : ""} aria-sort={isOn ? (now.isDown ? "descending" : "ascending") : undefined}>
      <button type="button" class="sort-button" onClick={() => spaces.order(nextOrder(store.order.value, column))}>
        {title}<span aria-hidden="true">{isOn ? (now.isDown ? " ↓" : " ↑") : ""}</span></button>
    </th>
  );
}

function Line({ position, index, columns }: { position: number; index: number; columns: TableColumn[] }) {
  const app = useApp();
  const { store, scene, edits, names } = app;
  const row = rowAt(app, position);
  const part = scene.scene.value!.labels[position];
  const isSelected = store.selection.value.has(row);
  const pick = (event: MouseEvent) => (event.ctrlKey || event.metaKey ? edits.toggle(row) : edits.select([row]));
  return (
    <tr aria-rowindex={index + 2} class={isSelected ? "is-selected" : ""} data-row={row} onClick={pick}>
      <td><div class="table-image">
        <label class="check"><input type="checkbox" checked={isSelected} aria-label={`Select ${names.of(row)}`}
          onClick={(event) => event.stopPropagation()} onChange={() => edits.toggle(row)} /></label>
        <button type="button" aria-label={`Enlarge ${names.of(row)}`} onClick={(event) => { event.stopPropagation(); store.image.value = row; }}>
          <Thumbnail thumb={store.collection.value!.has_images ? store.source.thumb(row, 96) : null} alt="" side={36} text={baseName(names.of(row))} /></button>
      </div></td>
      {columns.map((c) => <td key={c.column} class={c.isNumber ? "number" : ""}>
        {c.column === "part" && part >= 0 && <PartMark index={part} color={partColor(part, store.isDark.value)} />} {c.text(app, position)}</td>)}
    </tr>
  );
}
