// SPDX-License-Identifier: Apache-2.0
// One part: a card with its facts, and its images. Rows can be dropped on it.
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { classShade, partColor } from "../model/palette";
import { sureText } from "../model/part_names";
import { baseName, count, number } from "../model/text";
import type { Part, PartLabel } from "../model/types";
import { Stack } from "../component/charts";
import { EditableText, IconButton, PartMark, Select } from "../component/controls";
import { Thumbnail } from "../component/thumbnail";
import { VirtualGrid, type TileInfo } from "../component/virtual_grid";
import { useApp, type App } from "./app_context";

const kNobody = new Int32Array(0);
const kDragType = "application/x-milieu-rows";

export function PartColumn({ part }: { part: Part }) {
  const app = useApp();
  const { store, scene, edits } = app;
  const [isTarget, setTarget] = useState(false);
  const [column, isSeen] = useIsSeen();
  const positions = part.index < 0 ? scene.unplaced.value : scene.byPart.value[part.index];
  const all = scene.scene.value!.columns.rows;
  const shown = scene.shown.value;
  const rows = useMemo(() => Int32Array.from((positions ?? kNobody).filter((i) => !shown || shown[i]), (i) => all[i]), [positions, all, shown]);
  const canCorrect = edits.canCorrect;
  const onDrop = (event: DragEvent) => {
    setTarget(false);
    const text = event.dataTransfer?.getData(kDragType);
    if (!text) return;
    event.preventDefault();
    edits.move(JSON.parse(text) as number[], part.index);
  };
  const onDragOver = (event: DragEvent) => {
    if (!canCorrect || !event.dataTransfer?.types.includes(kDragType)) return;
    event.preventDefault();
    setTarget(true);
  };
  const dragged = (row: number) => (store.selection.value.has(row) ? [...store.selection.value] : [row]);
  return (
    <section ref={column} class={`part-column ${isTarget ? "is-target" : ""}`} aria-label={part.name} data-part={part.index}
             style={{ "--part": partColor(part.index, store.isDark.value) }}
             onDragOver={onDragOver} onDragLeave={() => setTarget(false)} onDrop={onDrop}>
      <PartCard part={part} size={positions?.length ?? 0} />
      <VirtualGrid id={`part-${part.index}`} label={`Images of ${part.name}`} rows={rows} tile={store.tile.value} isSeen={isSeen}
                   color={partColor(part.index, store.isDark.value)} selected={store.selection.value}
                   tileOf={(row) => tileOf(app, row)} onOpen={(row) => { store.image.value = row; }}
                   onPick={(picked, mode) => (mode === "toggle" ? edits.toggle(picked[0]) : edits.select(picked, mode))}
                   onEdge={(direction) => focusPart(part.index + direction)} dragged={canCorrect ? dragged : undefined} />
    </section>
  );
}

// Whether an element is in the window or near it.
function useIsSeen(): [{ current: HTMLElement | null }, boolean] {
  const element = useRef<HTMLElement>(null);
  const [isSeen, setSeen] = useState(false);
  useLayoutEffect(() => {
    const observer = new IntersectionObserver(([entry]) => setSeen(entry.isIntersecting), { rootMargin: "200px" });
    observer.observe(element.current!);
    const { left, right } = element.current!.getBoundingClientRect(); // the observer waits for a frame
    setSeen(left < window.innerWidth + 200 && right > -200);
    return () => observer.disconnect();
  }, []);
  return [element, isSeen];
}

function focusPart(index: number): void {
  document.getElementById(`part-${index}`)?.focus();
}

function tileOf({ store, edits, names }: App, row: number): TileInfo {
  const { memberships, together, apart } = edits.now;
  const marks: TileInfo["marks"] = [];
  const tags = edits.now.tags.get(row);
  const has = (pairs: readonly (readonly [number, number])[]) => pairs.some(([a, b]) => a === row || b === row);
  if (memberships.has(row)) marks.push({ icon: "pin", title: "pinned" });
  if (has(together)) marks.push({ icon: "link", title: "must stay together with another" });
  if (has(apart)) marks.push({ icon: "apart", title: "must be apart from another" });
  if (tags) marks.push({ icon: "tag", title: `tagged ${tags.join(", ")}` });
  const name = names.of(row);
  const thumb = store.collection.value!.has_images ? store.source.thumb(row, store.tile.value > 120 ? 256 : 128) : null;
  return { thumb, name, text: baseName(name), marks };
}

function PartCard({ part, size }: { part: Part; size: number }) {
  const { store, scene, actions, edits } = useApp();
  const selected = scene.selectedCounts.value[part.index] ?? 0;
  const isRun = scene.scene.value!.isRun;
  const color = partColor(part.index, store.isDark.value);
  return (
    <header class="part-card">
      <div class="part-head">
        {part.index >= 0 && <PartMark index={part.index} color={color} />}
        <h3><EditableText label={part.named_by === "labels" ? "Named by its labels" : "Name of the part"} value={part.name}
                          class={part.named_by === "labels" ? "by-labels" : ""} mayBeEmpty disabled={!isRun || !store.source.can.rename || part.index < 0}
                          onChange={(name) => void actions.namePart(part.index, name)} /></h3>
        <span class="part-size">{store.selection.value.size ? `${count(selected)} / ${count(size)}` : count(size)}</span>
        <IconButton icon="check" title={`Select all of ${part.name}`} onClick={() => edits.selectPart(part.index)} />
        {edits.canCorrect && part.index >= 0 && size > 0 && <PartActions part={part} />}
      </div>
      {isRun && part.index >= 0 && <PartFacts part={part} size={size} />}
    </header>
  );
}

// Split this part, merge it into another, set it aside.
function PartActions({ part }: { part: Part }) {
  const { scene, actions, edits } = useApp();
  const others = scene.scene.value!.parts.filter((p) => p.index !== part.index);
  const act = (what: string) => {
    if (what === "split") void actions.splitPart(part.index, part.name, edits.rowsOfPart(part.index));
    else if (what === "against") edits.splitAgainstRest(part.index);
    else if (what === "aside") edits.setAside(edits.rowsOfPart(part.index));
    else edits.merge(part.index, Number(what));
  };
  return (
    <Select label={`What to do with ${part.name}`} value="" onChange={act}
            choices={[{ value: "", title: "…", disabled: true }, { value: "split", title: "Split this part" }, { value: "against", title: "Split it against all others" },
                      ...others.map((p) => ({ value: String(p.index), title: `Merge into ${p.index + 1} ${p.name}` })),
                      { value: "aside", title: "Set aside" }]} />
  );
}

function PartLabels({ labels }: { labels: PartLabel[] }) {
  const title = "Labels that set this part apart from the rest and from the context";
  return (
    <ul class="part-labels" title={title} aria-label={title}>
      {labels.map((label) => <li key={label.name}>{label.name} <span class="hint">{sureText(label.sure)}</span></li>)}
    </ul>
  );
}

function PartFacts({ part, size }: { part: Part; size: number }) {
  const { store, scene, names } = useApp();
  const total = scene.scene.value!.columns.rows.length;
  const known = store.collection.value!.classes.map((c) => c.name);
  const color = (name: string) => classShade(known.indexOf(name), known.length, store.isDark.value);
  return (
    <>
      <p class="part-numbers">
        {Math.round((size / Math.max(1, total)) * 100)} % of the set
        {part.mean_margin !== null && <> · mean margin <strong>{number(part.mean_margin, 3)}</strong></>}
      </p>
      {part.typical.length > 0 && store.collection.value!.has_images &&
        <div class="typical" aria-label={`Typical of ${part.name}`} role="group">
          {part.typical.slice(0, 4).map((row) => (
            <button type="button" key={row} title={`Typical: ${names.of(row)}`} aria-label={`Typical: ${names.of(row)}`} onClick={() => { store.image.value = row; }}>
              <Thumbnail thumb={store.source.thumb(row, 96)} alt="" side={44} text={baseName(names.of(row))} />
            </button>
          ))}
        </div>}
      {part.labels.length > 0 && <PartLabels labels={part.labels} />}
      {part.exemplar_labels.length > 0 &&
        <p class="part-numbers" title="Labels that set its exemplar apart">Its exemplar: {part.exemplar_labels.map((label) => label.name).join(", ")}</p>}
      {part.apart && <p class="part-apart" title={part.apart}>{part.apart}</p>}
      {part.classes.length > 1 &&
        <Stack label="Classes" items={part.classes.map(([name, value]) => ({ name, value, color: color(name) }))} />}
    </>
  );
}
