// SPDX-License-Identifier: Apache-2.0
// A still map of a split, small: for multiples of many splits.
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

function draw(canvas: HTMLCanvasElement, p: MiniMapProps): void {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = canvas.height = Math.round(p.side * ratio);
  const context = canvas.getContext("2d");
  if (!context) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, p.side, p.side);
  const step = Math.max(1, Math.ceil(p.rows.length / kMost));
  const radius = p.side < 150 ? 1.3 : p.rows.length > 2000 ? 1.6 : 2.6;
  for (let pass = 0; pass < 2; ++pass)
    for (let i = 0; i < p.rows.length; i += step) {
      const isLit = !p.highlight || p.highlight.has(p.rows[i]);
      if (isLit !== (pass === 1)) continue;
      context.globalAlpha = isLit ? 0.85 : 0.15;
      context.fillStyle = p.colors[p.labels[i]] ?? "#888888";
      const x = (p.map[2 * p.rows[i]] * 0.46 + 0.5) * p.side;
      const y = (0.5 - p.map[2 * p.rows[i] + 1] * 0.46) * p.side;
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.fill();
    }
  context.globalAlpha = 1;
}
