// SPDX-License-Identifier: Apache-2.0
// The parts with their colours and counts: "47 / 412" while something is selected.
import { partColor, scaleColors } from "../model/palette";
import { count } from "../model/text";
import { PartMark } from "../component/controls";
import { useApp } from "./app_context";
import { unplacedPart } from "./scene";

export function Legend() {
  const { store, scene, edits } = useApp();
  const now = scene.scene.value;
  if (!now) return null;
  const sizes = scene.byPart.value.map((positions) => positions.length);
  const selected = scene.selectedCounts.value;
  const isSelecting = store.selection.value.size > 0;
  const emphasised = store.emphasised.value;
  return (
    <div class="legend" role="group" aria-label={now.isRun ? "Parts" : "Classes"}>
      {now.parts.map((part, i) => (
        <button type="button" key={part.index} class={`legend-item ${emphasised.length && !emphasised.includes(i) ? "is-off" : ""}`}
                aria-pressed={emphasised.includes(i)} title={`${part.name}: click to show only this part, Shift-click to add parts, double-click to select its images`}
                onClick={(event) => edits.emphasise(i, !event.shiftKey)} onDblClick={() => edits.selectPart(i)}>
          <PartMark index={i} color={partColor(i, store.isDark.value)} />
          <span class="legend-name">{part.name}</span>
          <span class="legend-count" data-testid={`legend-${i}`}>
            {isSelecting ? `${count(selected[i] ?? 0)} / ${count(sizes[i] ?? 0)}` : count(sizes[i] ?? 0)}
          </span>
        </button>
      ))}
      {unplacedPart(scene).map((part) => (
        <button type="button" key={part.index} class={`legend-item ${emphasised.length && !emphasised.includes(-1) ? "is-off" : ""}`}
                aria-pressed={emphasised.includes(-1)} title={`${part.name}: click to show only these, double-click to select them`}
                onClick={(event) => edits.emphasise(-1, !event.shiftKey)} onDblClick={() => edits.selectPart(-1)}>
          <span class="legend-name">{part.name}</span>
          <span class="legend-count" data-testid="legend-none">{count(part.size)}</span>
        </button>
      ))}
    </div>
  );
}

// What the map's colours mean if they do not show parts.
export function ColorKey() {
  const { store } = useApp();
  if (store.colorBy.value === "margin")
    return (
      <div class="color-key" aria-label="Colours: margin">
        <span>uncertain</span>
        <span class="color-ramp" style={{ background: `linear-gradient(90deg, ${scaleColors(8).join(",")})` }} />
        <span>certain</span>
      </div>
    );
  if (store.colorBy.value !== "class") return null;
  const classes = store.collection.value!.classes;
  return (
    <div class="color-key" aria-label="Colours: class">
      {classes.slice(0, 16).map((c, i) => (
        <span key={c.name} class="color-key-item"><span class="swatch" style={{ background: partColor(i, store.isDark.value) }} />{c.name}</span>
      ))}
      {classes.length > 16 && <span>and {classes.length - 16} more</span>}
    </div>
  );
}
