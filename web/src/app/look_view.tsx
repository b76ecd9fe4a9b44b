// SPDX-License-Identifier: Apache-2.0
// Gallery and map side by side, the legend above them, actions below.
import { kOrders, type Column } from "../model/order";
import { Segmented, Select } from "../component/controls";
import { Splitter } from "../component/splitter";
import { useApp, type App } from "./app_context";
import { CriteriaForm, FindField, ShownCount } from "./criteria_form";
import { unplacedPart } from "./scene";
import { EditBar } from "./edit_bar";
import { Legend } from "./legend";
import { MapPanel } from "./map_panel";
import { PartColumn } from "./part_column";
import { TablePanel } from "./table_panel";

export function LookView() {
  const { store, scene } = useApp();
  if (!scene.scene.value) return null;
  const layout = store.isNarrow.value && store.layout.value === "both" ? "gallery" : store.layout.value;
  return (
    <div class="look">
      <div class="look-bar">
        <Legend />
        <div class="look-tools">
          <Segmented label="Show" value={layout} onChange={(value) => { store.layout.value = value; }} isIconOnly
                     choices={[...(store.isNarrow.value ? [] : [{ value: "both" as const, title: "Map and gallery", icon: "panel" as const }]),
                               { value: "gallery", title: "Gallery", icon: "gallery" }, { value: "map", title: "Map", icon: "dots" },
                               { value: "table", title: "Table", icon: "table" }]} />
        </div>
      </div>
      <div class={`look-main layout-${layout}`}>
        {layout === "both"
          ? <Splitter label="Width of the map" first={<MapPanel />} second={<Gallery />} />
          : layout === "map" ? <MapPanel /> : layout === "table" ? <TableView /> : <Gallery />}
      </div>
      <EditBar />
    </div>
  );
}

// Whether there is something to order by.
function canOrder({ store, scene }: App, column: Column): boolean {
  const isFolder = store.source.can.spaces && store.collection.value!.kind === "images";
  if (column === "margin") return !!scene.scene.value?.columns.margins;
  if (column === "nearest") return store.source.can.like;
  if (column === "class") return store.collection.value!.classes.length > 0;
  return (column !== "size" && column !== "date") || isFolder;
}

function TableView() {
  return (
    <section class="gallery" aria-label="Table">
      <div class="gallery-bar"><FindField /><CriteriaForm /><ShownCount /></div>
      <TablePanel />
    </section>
  );
}

function Gallery() {
  const app = useApp();
  const { store, scene, spaces } = app;
  const parts = [...(scene.scene.value?.parts ?? []), ...unplacedPart(scene)];
  const emphasised = store.emphasised.value;
  const shown = emphasised.length ? parts.filter((p) => emphasised.includes(p.index)) : parts;
  const orders = kOrders.filter((order) => !order.isTableOnly && canOrder(app, order.column));
  return (
    <section class="gallery" aria-label="Gallery">
      <div class="gallery-bar">
        <Select label="Order" value={orders.some((o) => o.value === store.order.value) ? store.order.value : "row"} choices={orders} onChange={(value) => spaces.order(value)} />
        <FindField />
        <CriteriaForm />
        <label class="slider" title="Size of the images">
          <span class="unseen">Size of the images</span>
          <input type="range" min={40} max={320} step={4} value={store.tile.value}
                 onInput={(event) => { store.tile.value = Number(event.currentTarget.value); }} />
        </label>
        <ShownCount />
        {emphasised.length > 0 &&
          <button type="button" class="link-button" onClick={() => { store.emphasised.value = []; }}>Show all {parts.length} parts</button>}
      </div>
      <div class="part-columns" style={{ "--columns": String(shown.length) }}>
        {shown.map((part) => <PartColumn key={part.index} part={part} />)}
      </div>
    </section>
  );
}
