// SPDX-License-Identifier: Apache-2.0
// A part in one strip: its name, and its most certain images, those that moved first. A click enlarges one.
import { galleryRows } from "../model/compare";
import { partColor } from "../model/palette";
import { count } from "../model/text";
import { PartMark } from "../component/controls";
import { Thumbnail } from "../component/thumbnail";
import { useApp } from "./app_context";
import type { OpenedRun } from "./store";

const kShown = 18; // images of a part

export function PartStrip({ run, part, moved }: { run: OpenedRun; part: number; moved?: Set<number> }) {
  const { store, names } = useApp();
  const all = galleryRows(run.columns, part); // what differs is always shown
  const rows = moved ? [...all.filter((row) => moved.has(row)), ...all.filter((row) => !moved.has(row))] : all;
  const color = partColor(part, store.isDark.value);
  const hasImages = store.collection.value!.has_images;
  return (
    <div class="gallery-part" style={{ "--part": color }}>
      <h4><PartMark index={part} color={color} />{run.detail.parts[part]?.name} <span class="hint">{count(rows.length)}</span></h4>
      <div class="strip">
        {rows.slice(0, kShown).map((row) => (
          <button type="button" key={row} class={moved?.has(row) ? "is-moved" : ""} title={names.of(row)}
                  aria-label={names.of(row) + (moved?.has(row) ? ", in another part of the other run" : "")} onClick={() => { store.image.value = row; }}>
            <Thumbnail thumb={hasImages ? store.source.thumb(row, 96) : null} alt="" side={52} text={names.of(row)} />
          </button>
        ))}
        {rows.length > kShown && <span class="hint">and {count(rows.length - kShown)} more</span>}
      </div>
    </div>
  );
}
