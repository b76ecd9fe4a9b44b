// SPDX-License-Identifier: Apache-2.0
// A small, static map of a split: for showing many splits side by side.
import { useEffect, useRef } from "preact/hooks";

export interface MiniMapProps {
  map: Float32Array; // 2n
  rows: Int32Array;
  labels: ArrayLike<number>;
  colors: string[];
  side: number;
  label: string;
  highlight?: ReadonlySet<number> | null; // rows; the others are dimmed
}

const kMost = 6000;

export function MiniMap(p: MiniMapProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => { if (canvas.current) draw(canvas.current, p); },
            [p.map, p.rows, p.labels, p.side, p.highlight, p.colors.join()]);
  return <canvas ref={canvas} class="mini-map" role="img" aria-label={p.label}
                 style={{ width: `${p.side}px`, height: `${p.side}px` }} />;
}

// From rows to pixels, so that the rows shown fill the square.
function placing(p: MiniMapProps): (row: number) => [number, number] {
  let x1 = Infinity, x2 = -Infinity, y1 = Infinity, y2 = -Infinity;
  for (const row of p.rows) {
    x1 = Math.min(x1, p.map[2 * row]); x2 = Math.max(x2, p.map[2 * row]);
    y1 = Math.min(y1, p.map[2 * row + 1]); y2 = Math.max(y2, p.map[2 * row + 1]);
  }
  const factor = (0.9 * p.side) / Math.max(x2 - x1, y2 - y1, 1e-9);
  return (row) => [p.side / 2 + (p.map[2 * row] - (x1 + x2) / 2) * factor,
                   p.side / 2 - (p.map[2 * row + 1] - (y1 + y2) / 2) * factor];
}

function draw(canvas: HTMLCanvasElement, p: MiniMapProps): void {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = canvas.height = Math.round(p.side * ratio);
  const context = canvas.getContext("2d");
  if (!context) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, p.side, p.side);
  const place = placing(p);
  const step = Math.max(1, Math.ceil(p.rows.length / kMost));
  const radius = p.side < 150 ? 1.3 : p.rows.length > 2000 ? 1.6 : 2.6;
  for (let pass = 0; pass < 2; ++pass)
    for (let i = 0; i < p.rows.length; i += step) {
      const isLit = !p.highlight || p.highlight.has(p.rows[i]);
      if (isLit !== (pass === 1)) continue;
      context.globalAlpha = isLit ? 0.85 : 0.15;
      context.fillStyle = p.colors[p.labels[i]] ?? "#888888";
      const [x, y] = place(p.rows[i]);
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.fill();
    }
  context.globalAlpha = 1;
}
