// SPDX-License-Identifier: Apache-2.0
// What is drawn over the points: axes, thumbnails when zoomed in, the lasso or box being drawn, the
// cross-hair of keyboard selection, the ring round the point under the pointer.
import { placeOf, type MapPoints } from "../../model/axes";
import { toPlane, toScreen, type Camera, type Size } from "../../model/camera";
import type { PointIndex } from "../../model/point_index";
import { Weight } from "./renderer";
import type { ThumbPainter } from "./thumb_painter";

export interface Sketch { kind: "lasso" | "box"; path: number[] } // plane coordinates

export interface OverlayState {
  camera: Camera;
  size: Size;
  points: MapPoints;
  index: PointIndex;
  weight: Uint8Array;
  colorOf(i: number): string;
  painter: ThumbPainter | null;
  hover: number;
  sketch: Sketch | null;
  cross: [number, number] | null; // plane coordinates
  ink: { text: string; line: string; accent: string; ground: string };
}

const kThumb = 44; // pixels
const kSmallThumbs = [44, 36, 28, 22, 18]; // in small sets
const kShare = 0.6; // of a small set that has its images on the map, unless the smallest are too large
const kOverlap = 0.75; // of a side: how near two images of a small set may come
const kMostSeen = 1200; // more points than this in view: no thumbnails
const kFromZoom = 1.7;
const kSmallSet = 400; // at most as many points have thumbnails at any zoom

export function drawOverlay(context: CanvasRenderingContext2D, s: OverlayState): number {
  const ratio = window.devicePixelRatio || 1;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, s.size.width, s.size.height);
  drawZeroLines(context, s);
  const shown = s.painter ? drawThumbs(context, s) : 0;
  drawHover(context, s);
  drawSketch(context, s);
  drawCross(context, s);
  return shown;
}

function drawZeroLines(context: CanvasRenderingContext2D, s: OverlayState): void {
  const { xRange, yRange } = s.points;
  if (!xRange || !yRange) return;
  const [x, y] = toScreen(s.camera, s.size, placeOf(0, xRange), placeOf(0, yRange));
  context.strokeStyle = s.ink.line;
  context.lineWidth = 1;
  context.setLineDash([4, 4]);
  context.beginPath();
  context.moveTo(Math.round(x) + 0.5, 0);
  context.lineTo(Math.round(x) + 0.5, s.size.height);
  context.moveTo(0, Math.round(y) + 0.5);
  context.lineTo(s.size.width, Math.round(y) + 0.5);
  context.stroke();
  context.setLineDash([]);
}

// Thumbnails of points that do not hide one another: the heaviest first, then the lowest index.
function drawThumbs(context: CanvasRenderingContext2D, s: OverlayState): number {
  if (s.camera.zoom < kFromZoom && s.points.x.length > kSmallSet) return 0;
  const [x1, y2] = toPlane(s.camera, s.size, 0, 0);
  const [x2, y1] = toPlane(s.camera, s.size, s.size.width, s.size.height);
  const box = { x1, y1, x2, y2 };
  if (s.index.countInBox(box, kMostSeen + 1) > kMostSeen) return 0;
  const seen: number[] = [];
  s.index.inBox(box, (i) => { seen.push(i); });
  seen.sort((a, b) => s.weight[b] - s.weight[a] || a - b);
  const { side, placed } = s.points.x.length > kSmallSet
    ? { side: kThumb, placed: placesFor(s, seen, kThumb + 6) } : smallPlaces(s, seen);
  for (const i of placed) drawThumb(context, s, i, side);
  return placed.length;
}

// The largest images at which most of a small set has one.
function smallPlaces(s: OverlayState, seen: number[]): { side: number; placed: number[] } {
  for (const side of kSmallThumbs) {
    const placed = placesFor(s, seen, side * kOverlap);
    if (placed.length >= kShare * seen.length || side === kSmallThumbs.at(-1)) return { side, placed };
  }
  return { side: kThumb, placed: [] };
}

// Those of the points whose images are at least `pitch` apart, in their order.
function placesFor(s: OverlayState, seen: number[], pitch: number): number[] {
  const places = new Map<string, number[]>();
  return seen.filter((i) => takePlace(places, s, i, pitch));
}

// Puts point i into the cell of the screen it falls into, unless a neighbour is too near.
function takePlace(places: Map<string, number[]>, s: OverlayState, i: number, pitch: number): boolean {
  const [x, y] = toScreen(s.camera, s.size, s.points.x[i], s.points.y[i]);
  const cx = Math.floor(x / pitch), cy = Math.floor(y / pitch);
  for (let dx = -1; dx <= 1; ++dx)
    for (let dy = -1; dy <= 1; ++dy) {
      const held = places.get(`${cx + dx},${cy + dy}`);
      if (held && Math.abs(held[0] - x) < pitch && Math.abs(held[1] - y) < pitch) return false;
    }
  places.set(`${cx},${cy}`, [x, y]);
  return true;
}

function drawThumb(context: CanvasRenderingContext2D, s: OverlayState, i: number, side: number): void {
  const [x, y] = toScreen(s.camera, s.size, s.points.x[i], s.points.y[i]);
  const left = Math.round(x - side / 2), top = Math.round(y - side / 2);
  context.globalAlpha = s.weight[i] <= Weight.Dim ? 0.55 : 1;
  if (s.painter!.paint(context, s.points.rows[i], left, top, side)) {
    context.lineWidth = s.weight[i] === Weight.Selected ? 3 : 2;
    context.strokeStyle = s.colorOf(i);
    context.strokeRect(left, top, side, side);
  }
  context.globalAlpha = 1;
}

function drawHover(context: CanvasRenderingContext2D, s: OverlayState): void {
  if (s.hover < 0 || s.hover >= s.points.x.length) return;
  const [x, y] = toScreen(s.camera, s.size, s.points.x[s.hover], s.points.y[s.hover]);
  context.lineWidth = 2;
  context.strokeStyle = s.ink.text;
  context.beginPath();
  context.arc(x, y, 8, 0, 2 * Math.PI);
  context.stroke();
}

function drawSketch(context: CanvasRenderingContext2D, s: OverlayState): void {
  if (!s.sketch || s.sketch.path.length < 4) return;
  const { kind, path } = s.sketch;
  context.beginPath();
  if (kind === "box") {
    const [ax, ay] = toScreen(s.camera, s.size, path[0], path[1]);
    const [bx, by] = toScreen(s.camera, s.size, path[path.length - 2], path[path.length - 1]);
    context.rect(ax, ay, bx - ax, by - ay);
  } else {
    for (let k = 0; k + 1 < path.length; k += 2)
      context.lineTo(...toScreen(s.camera, s.size, path[k], path[k + 1]));
    context.closePath();
  }
  context.globalAlpha = 0.12;
  context.fillStyle = s.ink.accent;
  context.fill();
  context.globalAlpha = 1;
  context.lineWidth = 1.5;
  context.strokeStyle = s.ink.accent;
  context.stroke();
}

function drawCross(context: CanvasRenderingContext2D, s: OverlayState): void {
  if (!s.cross) return;
  const [x, y] = toScreen(s.camera, s.size, s.cross[0], s.cross[1]).map((v) => Math.round(v) + 0.5);
  context.lineWidth = 1.5;
  context.strokeStyle = s.ink.accent;
  context.beginPath();
  context.moveTo(x - 14, y);
  context.lineTo(x + 14, y);
  context.moveTo(x, y - 14);
  context.lineTo(x, y + 14);
  context.stroke();
}
