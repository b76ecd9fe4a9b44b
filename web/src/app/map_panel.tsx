// SPDX-License-Identifier: Apache-2.0
// The map with its tools.
import { useMemo, useRef } from "preact/hooks";
import { partColor } from "../model/palette";
import { counted, number } from "../model/text";
import { IconButton, Segmented, Select } from "../component/controls";
import type { MapController, SelectMode, Tool } from "../component/map/map_controller";
import { ScatterMap } from "../component/map/scatter_map";
import { useApp } from "./app_context";
import { ColorKey } from "./legend";

const kTools: { value: Tool; title: string; icon: "hand" | "lasso" | "box" }[] = [
  { value: "pan", title: "Hand: pan and zoom (V)", icon: "hand" },
  { value: "lasso", title: "Lasso: select inside a shape (L)", icon: "lasso" },
  { value: "box", title: "Box: select in a rectangle (B)", icon: "box" },
];

export function MapPanel() {
  const app = useApp();
  const { store, scene, edits } = app;
  const map = useRef<MapController | null>(null);
  const data = scene.mapData.value;
  const rowsAt = (indices: number[]) => indices.map((i) => data!.points.rows[i]);
  const onSelect = (indices: number[], mode: SelectMode) => edits.select(rowsAt(indices), mode);
  const hasImages = store.collection.value!.has_images && store.showThumbs.value;
  const thumb = useMemo(() => (hasImages ? (row: number) => store.source.thumb(row, 96) : null), [hasImages]);
  if (!data) return null;
  const context = data.points.isContext.reduce((sum, v) => sum + v, 0);
  return (
    <section class="map-panel" aria-label="Map">
      <div class="map-bar">
        <Segmented label="Tool" value={store.tool.value} choices={kTools} isIconOnly onChange={(value) => { store.tool.value = value; }} />
        <span class="button-group">
          <IconButton icon="plus" title="Zoom in" keys="+" onClick={() => map.current?.zoomBy(1.6)} />
          <IconButton icon="minus" title="Zoom out" keys="−" onClick={() => map.current?.zoomBy(1 / 1.6)} />
          <IconButton icon="fit" title="Fit everything, or the selection" keys="0" onClick={() => map.current?.fitTo(selectedIndices(app))} />
        </span>
        <AxesSelect />
        <Select label="Colour by" value={store.colorBy.value} onChange={(value) => { store.colorBy.value = value; }}
                choices={[{ value: "part", title: scene.scene.value?.isRun ? "Colour: part" : "Colour: class" },
                          ...(scene.scene.value?.isRun && store.collection.value!.classes.length ? [{ value: "class" as const, title: "Colour: class" }] : []),
                          ...(scene.scene.value?.columns.margins ? [{ value: "margin" as const, title: "Colour: margin" }] : []),
                          ...(scene.scene.value?.columns.words ? [{ value: "word" as const, title: "Colour: word" }] : [])]} />
        {scene.scene.value && scene.scene.value.context.length > 0 &&
          <label class="check"><input type="checkbox" checked={store.showContext.value}
            onChange={(event) => { store.showContext.value = event.currentTarget.checked; }} />Context</label>}
        {store.collection.value!.has_images &&
          <label class="check" title="Images on the map: always in small sets, zoomed in in large ones"><input type="checkbox" checked={store.showThumbs.value}
            onChange={(event) => { store.showThumbs.value = event.currentTarget.checked; }} />Images</label>}
      </div>
      <ScatterMap data={data} camera={store.camera.value} tool={store.tool.value} thumb={thumb} onSelect={onSelect}
                  label={`Map of ${counted(data.points.x.length - context, "point")}${context ? ` and ${counted(context, "context point")}` : ""}. Arrows pan, plus and minus zoom, L lasso, B box, question mark for all keys.`}
                  describe={(i) => describePoint(app, i)} onCamera={(camera) => { store.camera.value = camera; }}
                  onOpen={(i) => { store.image.value = data.points.rows[i]; }}
                  control={(controller) => { map.current = controller; }} />
      <AxisNames />
      <ColorKey />
    </section>
  );
}

function selectedIndices({ store, scene }: ReturnType<typeof useApp>): number[] {
  const rows = scene.points.value?.rows;
  const selection = store.selection.value;
  if (!rows || selection.size === 0) return [];
  return Array.from(rows.keys()).filter((i) => selection.has(rows[i]));
}

function describePoint({ store, scene, names }: ReturnType<typeof useApp>, i: number) {
  const points = scene.points.value!;
  const row = points.rows[i];
  const part = points.part[i];
  const kind = store.classes.value[row] >= 0 ? store.collection.value!.classes[store.classes.value[row]]?.name : "";
  const detail = points.isContext[i] ? `context${kind ? `, ${kind}` : ""}` : [scene.scene.value!.parts[part]?.name, kind].filter(Boolean).join(", ");
  return { title: names.of(row), detail, color: partColor(part, store.isDark.value) };
}

function AxesSelect() {
  const { store, scene } = useApp();
  const hasPlaces = !!scene.scene.value?.columns.places;
  if (!scene.hasOwnAxes.value && !hasPlaces && !store.source.can.spaces) return null;
  const parts = scene.scene.value!.parts;
  const choices = parts.map((p) => ({ value: String(p.index), title: p.name }));
  const set = (which: 0 | 1, value: string) => {
    const next: [number, number] = [...store.axisParts.value];
    next[which] = Number(value);
    store.axisParts.value = next;
  };
  return (
    <>
      <Select label="Axes" value={store.axes.value} onChange={(value) => { store.axes.value = value; }}
              choices={[{ value: "pca", title: "Axes: principal" },
                        ...(store.source.can.spaces ? [{ value: "neighbors" as const, title: "Map: neighbours" }] : []),
                        ...(scene.hasOwnAxes.value ? [{ value: "own" as const, title: "Axes: decisions" }] : []),
                        ...(hasPlaces ? [{ value: "place" as const, title: "Axes: positions" }] : [])]} />
      {store.axes.value === "own" && parts.length > 2 && <>
        <Select label="Horizontal axis" value={String(store.axisParts.value[0])} choices={choices} onChange={(v) => set(0, v)} />
        <Select label="Vertical axis" value={String(store.axisParts.value[1])} choices={choices} onChange={(v) => set(1, v)} /></>}
    </>
  );
}

// While the map by neighbours is made, the principal axes are shown.
function MapProgress() {
  const { store, spaces } = useApp();
  const now = store.mapProgress.value;
  const share = now && now.total > 0 ? Math.round((now.done / now.total) * 100) : 0;
  return (
    <div class="axis-names map-progress" data-testid="map-progress">
      <span>{now?.stage === "layout" ? `Laying out the map: ${share} %` : "Finding the neighbours"}</span>
      <span class="progress-bar" role="progressbar" aria-label="The map by neighbours" aria-valuemin={0} aria-valuemax={100} aria-valuenow={share}>
        <span style={{ width: `${share}%` }} /></span>
      <button type="button" class="link-button" onClick={() => spaces.cancelMap()}>Cancel</button>
    </div>
  );
}

function AxisNames() {
  const { store, scene } = useApp();
  const points = scene.points.value;
  if (store.axes.value === "neighbors" && store.source.can.spaces)
    return store.neighborMap.value ? <div class="axis-names"><span>neighbours are alike; distances between groups mean little (UMAP)</span></div> : <MapProgress />;
  if (store.axes.value === "place" && scene.scene.value?.columns.places)
    return <div class="axis-names"><span>position: x →</span><span>y ↓</span></div>;
  if (!points?.xRange) return <div class="axis-names"><span>first principal axis →</span><span>second ↑</span></div>;
  const [a, b] = store.axisParts.value.map((p) => scene.scene.value!.parts[p]?.name ?? "");
  return (
    <div class="axis-names">
      <span>decision value of {a} →</span><span>of {b} ↑</span>
      <span>{number(points.xRange.min, 3)} to {number(points.xRange.max, 3)}, dashed: 0; the context is below</span>
    </div>
  );
}
