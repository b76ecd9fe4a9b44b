// SPDX-License-Identifier: Apache-2.0
// Small charts in SVG: a curve, bars, a stack of shares.
import { number, ticks } from "../model/text";

export interface CurvePoint { x: number; y: number }

function extent(values: number[]): [number, number] {
  const finite = values.filter(Number.isFinite);
  if (!finite.length) return [0, 1];
  const low = finite.reduce((a, b) => Math.min(a, b)), high = finite.reduce((a, b) => Math.max(a, b));
  return low === high ? [low - 1, high + 1] : [low, high];
}

export function thin<T>(list: T[], most: number): T[] {
  if (list.length <= most) return list;
  return Array.from({ length: most }, (_, i) => list[Math.round((i * (list.length - 1)) / (most - 1))]);
}

export function Curve(p: {
  points: CurvePoint[]; label: string; xTitle: string; yTitle: string; height?: number; mark?: CurvePoint; isStep?: boolean;
}) {
  const width = 560, height = p.height ?? 180;
  const pad = { left: 64, right: 14, top: 26, bottom: 34 };
  const points = thin(p.points, 600);
  const [x1, x2] = extent(points.map((q) => q.x));
  const [y1, y2] = extent(points.map((q) => q.y));
  const px = (x: number) => pad.left + ((x - x1) / (x2 - x1)) * (width - pad.left - pad.right);
  const py = (y: number) => pad.top + (1 - (y - y1) / (y2 - y1)) * (height - pad.top - pad.bottom);
  const path = points.map((q, i) => {
    const place = `${px(q.x).toFixed(1)},${py(q.y).toFixed(1)}`;
    return i === 0 ? `M${place}` : p.isStep ? `H${px(q.x).toFixed(1)}V${py(q.y).toFixed(1)}` : `L${place}`;
  }).join("");
  const last = points.at(-1);
  const marks = [y1, (y1 + y2) / 2, y2], texts = ticks(marks);
  const summary = last ? `${p.label}: from ${number(points[0].y)} to ${number(last.y)}` : p.label;
  return (
    <svg class="curve" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={summary} preserveAspectRatio="xMidYMid meet">
      {marks.map((y, i) => (
        <g key={y}><line x1={pad.left} x2={width - pad.right} y1={py(y)} y2={py(y)} class="chart-grid" />
          <text x={pad.left - 8} y={py(y) + 4} text-anchor="end">{texts[i]}</text></g>
      ))}
      <text x={pad.left} y={height - 18} >{number(x1, 3)}</text>
      <text x={width - pad.right} y={height - 18} text-anchor="end">{number(x2, 3)}</text>
      <text x={(pad.left + width - pad.right) / 2} y={height - 6} text-anchor="middle" class="chart-title">{p.xTitle}</text>
      <text x={pad.left} y={pad.top - 12} class="chart-title">{p.yTitle}</text>
      <path d={path} class="chart-line" />
      {p.mark && <circle cx={px(p.mark.x)} cy={py(p.mark.y)} r={5} class="chart-mark" />}
      {!p.mark && last && <circle cx={px(last.x)} cy={py(last.y)} r={3.5} class="chart-mark" />}
    </svg>
  );
}

export function Bars(p: { items: { name: string; value: number; color?: string }[]; label: string; most?: number }) {
  const items = p.items.slice(0, p.most ?? 40);
  const largest = Math.max(...items.map((item) => Math.abs(item.value)), 1e-12);
  const hasNegative = items.some((item) => item.value < 0);
  return (
    <ul class={`bars ${hasNegative ? "has-negative" : ""}`} aria-label={p.label}>
      {items.map((item) => {
        const share = (Math.abs(item.value) / largest) * (hasNegative ? 50 : 100);
        const place = hasNegative ? (item.value < 0 ? { right: "50%" } : { left: "50%" }) : { left: "0" };
        return (
          <li key={item.name}>
            <span class="bar-name" title={item.name}>{item.name}</span>
            <span class="bar-track"><span class="bar-fill" style={{ width: `${share}%`, background: item.color, ...place }} /></span>
            <span class="bar-value">{number(item.value, 3)}</span>
          </li>
        );
      })}
    </ul>
  );
}

// Shares of a whole, side by side.
export function Stack(p: { items: { name: string; value: number; color: string }[]; label: string }) {
  const total = p.items.reduce((sum, item) => sum + item.value, 0) || 1;
  const text = p.items.map((item) => `${item.name} ${item.value}`).join(", ");
  return (
    <div class="stack" role="img" aria-label={`${p.label}: ${text}`} title={text}>
      {p.items.map((item) => (
        <span key={item.name} style={{ width: `${(item.value / total) * 100}%`, background: item.color }} />
      ))}
    </div>
  );
}
