// SPDX-License-Identifier: Apache-2.0
// Inside dcp: for every part its decision axis with the context on it, what sets it apart, its most
// certain images, those at its border, and the context images most like it.
import { decisionBins, nearestContext, type DecisionBins } from "../model/decisions";
import { partColor } from "../model/palette";
import { baseName, count, counted, number } from "../model/text";
import type { Part } from "../model/types";
import { PartMark } from "../component/controls";
import { Thumbnail } from "../component/thumbnail";
import { useApp } from "./app_context";

const kBins = 48;
const kImages = 8; // of each kind

export function DecisionsView() {
  const { store, scene } = useApp();
  const now = scene.scene.value!;
  if (!now.columns.decisions) return null;
  const scored = now.columns.decisions.length / Math.max(1, now.columns.rows.length);
  const showOnMap = () => { store.axes.value = "own"; store.layout.value = "map"; store.view.value = "look"; };
  return (
    <section class="block decisions" aria-label="Decision axes">
      <h2>Decision axes</h2>
      <p class="hint">A part is separated from the context where its decision value is above 0. {scored > 1 &&
        <button type="button" class="link-button" onClick={showOnMap}>Show two axes as a map</button>}</p>
      {now.parts.slice(0, scored).map((part) => <PartDecisions key={part.index} part={part} />)}
    </section>
  );
}

function PartDecisions({ part }: { part: Part }) {
  const { store, scene } = useApp();
  const { columns, labels } = scene.scene.value!;
  const color = partColor(part.index, store.isDark.value);
  const bins = decisionBins(columns, labels, part.index, kBins);
  const rows = Array.from(scene.byPart.value[part.index] ?? [], (i) => columns.rows[i]);
  const context = nearestContext(columns, part.index, kImages);
  return (
    <article class="part-decisions" style={{ "--part": color }} data-part-decisions={part.index}>
      <h3><PartMark index={part.index} color={color} />{part.name} <span class="hint">{counted(rows.length, "image")}</span></h3>
      {part.apart && <p>{part.apart}</p>}
      {bins && <AxisChart bins={bins} part={part} color={color} hasContext={context.length > 0} />}
      <div class="decision-strips">
        <ImageStrip title="Most certain" rows={part.typical} />
        <ImageStrip title="At the border" rows={part.border} />
        <ImageStrip title="Context images most like it" rows={context} isContext />
      </div>
    </article>
  );
}

function ImageStrip({ title, rows, isContext }: { title: string; rows: number[]; isContext?: boolean }) {
  const { store, names } = useApp();
  if (!rows.length) return null;
  const hasImages = store.collection.value!.has_images;
  return (
    <div>
      <h4 class="hint">{title}</h4>
      <div class="strip" data-testid={isContext ? "context-strip" : undefined}>
        {rows.slice(0, kImages).map((row) => (
          <button type="button" key={row} title={names.of(row)} aria-label={`${title}: ${names.of(row)}`} onClick={() => { store.image.value = row; }}>
            <Thumbnail thumb={hasImages ? store.source.thumb(row, 96) : null} alt="" side={52} text={baseName(names.of(row))} />
          </button>))}
      </div>
    </div>
  );
}

// An end of the axis this near to 0 has no label of its own: the two would overlap.
const kLabelRoom = 60;

// Shares of the part, of the other parts and of the context along one decision value.
function AxisChart({ bins, part, color, hasContext }: { bins: DecisionBins; part: Part; color: string; hasContext: boolean }) {
  const width = 560, height = 96, bottom = 76;
  const most = Math.max(...bins.own, ...bins.others, ...bins.context, 1e-9);
  const px = (value: number) => ((value - bins.min) / (bins.max - bins.min)) * width;
  const zero = Math.min(width, Math.max(0, px(0)));
  const line = (shares: number[]) => shares.map((share, i) => {
    const x = (i / shares.length) * width, y = bottom - (share / most) * (bottom - 6);
    return `${i === 0 ? `M0,${bottom}` : ""}V${y.toFixed(1)}H${(x + width / shares.length).toFixed(1)}`;
  }).join("") + `V${bottom}`;
  const above = (shares: number[]) => count(100 * shares.reduce((sum, share, i) => sum + (bins.min + ((i + 0.5) / shares.length) * (bins.max - bins.min) > 0 ? share : 0), 0));
  const label = `Decision value of ${part.name}, about ${above(bins.own)} % of the part above 0, ${above(bins.others)} % of the other parts${hasContext ? `, ${above(bins.context)} % of the context` : ""}`;
  return (
    <figure class="axis-chart">
      <svg class="curve" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
        {hasContext && <path d={line(bins.context)} class="axis-context" />}
        <path d={line(bins.others)} class="axis-others" />
        <path d={line(bins.own)} style={{ fill: color, fillOpacity: 0.35, stroke: color }} />
        <line x1={px(0)} x2={px(0)} y1={0} y2={bottom} class="axis-zero" />
        {zero > kLabelRoom && <text x={0} y={height - 4}>{number(bins.min, 3)}</text>}
        <text x={zero} y={height - 4} text-anchor={zero < kLabelRoom / 2 ? "start" : zero > width - kLabelRoom / 2 ? "end" : "middle"}>0</text>
        {zero < width - kLabelRoom && <text x={width} y={height - 4} text-anchor="end">{number(bins.max, 3)}</text>}
      </svg>
      <figcaption class="color-key">
        <span class="color-key-item"><span class="swatch" style={{ background: color }} />this part</span>
        <span class="color-key-item"><span class="swatch axis-others-swatch" />other parts</span>
        {hasContext && <span class="color-key-item"><span class="swatch axis-context-swatch" />context</span>}
      </figcaption>
    </figure>
  );
}
