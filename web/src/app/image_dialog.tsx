// SPDX-License-Identifier: Apache-2.0
// One image, enlarged: its part, how certain that is, and controls to correct it.
import { kSetAside } from "../model/corrections";
import { partColor } from "../model/palette";
import { number } from "../model/text";
import { Bars } from "../component/charts";
import { useState } from "preact/hooks";
import { IconButton, Segmented, Select } from "../component/controls";
import { Dialog } from "../component/dialog";
import { Thumbnail } from "../component/thumbnail";
import { ZoomImage } from "../component/zoom_image";
import type { WordsShow } from "../component/words_over";
import { useApp, type App } from "./app_context";
import { AlikeImages, ReasonImages } from "./near_images";
import { kWordsChoices, ImageUnderWords } from "./phrases_view";

function neighbour({ scene }: App, row: number, by: number): number {
  const now = scene.scene.value!;
  const position = now.columns.rows.indexOf(row);
  if (position < 0) return row;
  const list = now.labels[position] < 0 ? scene.unplaced.value : scene.byPart.value[now.labels[position]];
  const next = list[list.indexOf(position) + by];
  return next === undefined ? row : now.columns.rows[next];
}

export function ImageDialog() {
  const app = useApp();
  const { store, names } = app;
  const [show, setShow] = useState<WordsShow>("phrases");
  const row = store.image.value;
  if (row < 0) return null;
  const step = (by: number) => { store.image.value = neighbour(app, row, by); };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target instanceof HTMLSelectElement) return;
    if (event.key === "ArrowLeft") step(-1);
    else if (event.key === "ArrowRight") step(1);
    else return;
    event.preventDefault();
  };
  const hasWords = !!store.opened.value?.detail.extras?.images?.some((image) => image.row === row);
  const side = Math.max(160, Math.min(512, window.innerWidth - 80, window.innerHeight - 220));
  return (
    <Dialog title={names.of(row)} class="image-dialog" onClose={() => { store.image.value = -1; }} onKeyDown={onKeyDown}>
      <div>
        <div class="image-large">
          <IconButton icon="left" title="More certain" keys="←" onClick={() => step(-1)} />
          {hasWords && show !== "nothing"
            ? <div style={{ width: `${side}px` }}><ImageUnderWords row={row} show={show} phrase={-1} /></div>
            : <LargeImage key={row} row={row} side={side} />}
          <IconButton icon="right" title="Less certain" keys="→" onClick={() => step(1)} />
        </div>
        {hasWords && <Segmented label="Shown over the image" value={show} choices={kWordsChoices} onChange={(value) => setShow(value)} />}
      </div>
      <div class="image-side">
        <ImageFacts row={row} />
        {store.source.can.like && store.opened.value && <ReasonImages key={`near-${row}`} row={row} />}
        {store.source.can.like && <AlikeImages key={`like-${row}`} row={row} />}
      </div>
    </Dialog>
  );
}

// The original where there is one, the thumbnail otherwise.
function LargeImage({ row, side }: { row: number; side: number }) {
  const { store, names } = useApp();
  const original = store.collection.value!.kind === "images" ? store.source.original(row) : null;
  if (original) return <ZoomImage src={original} alt={names.of(row)} width={side} height={side} />;
  return <Thumbnail thumb={store.collection.value!.has_images ? store.source.thumb(row, 512) : null} alt={names.of(row)} side={side} text={names.of(row)} />;
}

function ImageFacts({ row }: { row: number }) {
  const { store, scene, edits } = useApp();
  const now = scene.scene.value;
  if (!now) return null;
  const position = now.columns.rows.indexOf(row);
  const kind = store.collection.value!.classes[store.classes.value[row]]?.name;
  const { margins, decisions } = now.columns;
  const parts = now.parts;
  const numScored = decisions ? decisions.length / now.columns.rows.length : 0; // parts of the method
  const bars = decisions && position >= 0 ? parts.slice(0, numScored).map((p, k) => ({
    name: p.name, value: decisions[position * numScored + k], color: partColor(k, store.isDark.value) })) : [];
  return (
    <div class="image-facts">
      <dl>
        {kind && <><dt>Class</dt><dd>{kind}</dd></>}
        {position >= 0 && now.isRun && <><dt>Part</dt><dd>{parts[now.labels[position]]?.name ?? "set aside"}</dd></>}
        {position < 0 && <><dt>Part</dt><dd>not in the set that was split</dd></>}
        {margins && position >= 0 && <><dt>Margin</dt><dd>{number(margins[position], 4)}</dd></>}
        {edits.now.tags.has(row) && <><dt>Tags</dt><dd>{edits.now.tags.get(row)!.join(", ")}</dd></>}
        <dt>Row</dt><dd>{row}</dd>
      </dl>
      {bars.length > 0 && <><h3>Decision values</h3><Bars items={bars} label="Decision values" /></>}
      {edits.canCorrect && position >= 0 &&
        <div class="image-tools">
          <Select label="Belongs to" isLabelShown value={String(now.labels[position])} onChange={(value) => edits.move([row], Number(value))}
                  choices={[...parts.map((p) => ({ value: String(p.index), title: `${p.index + 1} ${p.name}` })), { value: String(kSetAside), title: "no part (set aside)" }]} />
          <IconButton icon="pin" text={edits.now.memberships.has(row) ? "Unpin" : "Pin"} title="Pin or unpin" pressed={edits.now.memberships.has(row)} onClick={() => edits.pin([row])} />
        </div>}
    </div>
  );
}
