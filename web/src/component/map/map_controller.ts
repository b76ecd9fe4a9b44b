// SPDX-License-Identifier: Apache-2.0
// The map without the page's view layer: owns the renderer, the camera and the overlay, draws at
// most once per frame.
import type { MapPoints } from "../../model/axes";
import { clampCamera, fit, kHome, pan, toPlane, zoomAt, type Camera, type Size } from "../../model/camera";
import { boxOf, pointsInBox, pointsInPolygon } from "../../model/polygon";
import { PointIndex } from "../../model/point_index";
import type { Thumb } from "../../source/source";
import { CanvasRenderer } from "./canvas_renderer";
import { GlRenderer, hasWebGl } from "./gl_renderer";
import { drawOverlay, type OverlayState, type Sketch } from "./overlay";
import { Weight, type PointRenderer } from "./renderer";
import { ThumbPainter } from "./thumb_painter";

export type SelectMode = "replace" | "add" | "remove";
export type Tool = "pan" | "lasso" | "box";

export interface MapData {
  points: MapPoints;
  color: Uint8Array; // per point, index into `colors`; 0 is the context's
  weight: Uint8Array;
  colors: string[];
  dark: boolean;
}

export interface MapEvents {
  camera(camera: Camera): void; // after a movement came to rest
  select(indices: number[], mode: SelectMode): void;
  open(index: number): void;
  hover(index: number, x: number, y: number): void; // -1: none
}

export interface MapParts { points: HTMLCanvasElement; overlay: HTMLCanvasElement; box: HTMLElement }

export class MapController {
  camera: Camera = kHome;
  size: Size = { width: 1, height: 1 };
  data: MapData | null = null;
  tool: Tool = "pan";
  sketch: Sketch | null = null;
  cross: [number, number] | null = null;
  hovered = -1;
  thumbsShown = 0;
  index = new PointIndex(new Float32Array(0), new Float32Array(0));
  private renderer: PointRenderer | null = null;
  private painter: ThumbPainter | null = null;
  private frame = 0;
  private isViewOld = true;
  private restTimer = 0;
  private startTimer = 0;
  private isOver = false;
  private readonly observer: ResizeObserver;

  constructor(readonly parts: MapParts, readonly events: MapEvents) {
    this.observer = new ResizeObserver(() => this.measure());
    this.observer.observe(parts.box);
    this.measure();
  }

  get rendererKind(): string { return this.renderer?.kind ?? "none"; }

  setThumbs(thumbOf: ((row: number) => Thumb | null) | null): void {
    this.painter = thumbOf && new ThumbPainter(thumbOf, () => this.redraw());
    this.redraw();
  }

  setData(data: MapData): void {
    const isMoved = this.data?.points.x !== data.points.x || this.data.points.y !== data.points.y;
    this.data = data;
    if (isMoved) {
      this.index = new PointIndex(data.points.x, data.points.y);
      this.hovered = -1;
    }
    this.sendPoints();
    this.redraw();
  }

  setCamera(camera: Camera, isFromOutside = false): void {
    this.camera = clampCamera(camera);
    this.isViewOld = true;
    this.redraw();
    if (isFromOutside) return;
    window.clearTimeout(this.restTimer);
    this.restTimer = window.setTimeout(() => this.events.camera(this.camera), 200);
  }

  panBy(dx: number, dy: number): void { this.setCamera(pan(this.camera, this.size, dx, dy)); }

  zoomBy(factor: number, px = this.size.width / 2, py = this.size.height / 2): void {
    this.setCamera(zoomAt(this.camera, this.size, factor, px, py));
  }

  fitTo(indices: ArrayLike<number> | null): void {
    if (!this.data || !indices?.length) return this.setCamera(kHome);
    this.setCamera(fit(this.data.points.x, this.data.points.y, indices, this.size));
  }

  planeAt(px: number, py: number): [number, number] {
    return toPlane(this.camera, this.size, px, py);
  }

  // The point under a place of the screen; the set takes precedence over the context.
  pointAt(px: number, py: number, reach = 9): number {
    const [x, y] = this.planeAt(px, py);
    const radius = Math.abs(this.planeAt(px + reach, py)[0] - x);
    const isSet = (i: number) => this.data?.points.isContext[i] !== 1;
    const found = this.index.nearest(x, y, radius, isSet);
    return found >= 0 ? found : this.index.nearest(x, y, radius);
  }

  // Ends a lasso or box: the points of the set inside it.
  finishSketch(mode: SelectMode): void {
    const sketch = this.sketch;
    this.sketch = null;
    this.redraw();
    if (!sketch || !this.data || sketch.path.length < 4) return;
    const { x, y, isContext } = this.data.points;
    const p = sketch.path;
    const inside = sketch.kind === "box"
      ? pointsInBox(x, y, boxOf(p[0], p[1], p[p.length - 2], p[p.length - 1]))
      : pointsInPolygon(x, y, p);
    this.events.select(inside.filter((i) => isContext[i] !== 1), mode);
  }

  setHover(index: number, px: number, py: number): void {
    if (index === this.hovered && index < 0) return;
    this.hovered = index;
    this.events.hover(index, px, py);
    this.redraw();
  }

  redraw(): void {
    if (!this.frame) this.frame = requestAnimationFrame(() => this.drawFrame());
  }

  destroy(): void {
    this.isOver = true;
    window.clearTimeout(this.startTimer);
    cancelAnimationFrame(this.frame);
    window.clearTimeout(this.restTimer);
    this.observer.disconnect();
    this.renderer?.destroy();
    this.renderer = null;
  }

  private measure(): void {
    const { clientWidth: width, clientHeight: height } = this.parts.box;
    if (width < 2 || height < 2) return;
    this.size = { width, height };
    const ratio = window.devicePixelRatio || 1;
    this.parts.overlay.width = Math.round(width * ratio);
    this.parts.overlay.height = Math.round(height * ratio);
    this.startSoon();
    this.isViewOld = true;
    this.redraw();
  }

  // After the page has been painted once: WebGL may take long to start, images need not wait.
  private startSoon(): void {
    if (this.renderer || this.startTimer) return;
    this.startTimer = window.setTimeout(() => requestAnimationFrame(() => this.startRenderer()), 30);
  }

  private startRenderer(): void {
    if (this.renderer || this.isOver) return;
    const canvas = this.parts.points;
    try {
      this.renderer = hasWebGl() ? new GlRenderer(canvas, this.size, !!this.data?.dark) : null;
    } catch {
      this.renderer = null;
    }
    this.renderer ??= new CanvasRenderer(canvas);
    this.parts.box.dataset.renderer = this.renderer.kind;
    this.sendPoints();
    this.redraw();
  }

  private sendPoints(): void {
    if (!this.data || !this.renderer) return;
    const { points, color, weight, colors, dark } = this.data;
    this.renderer.setPoints({ x: points.x, y: points.y, color, weight }, { colors, dark });
    this.isViewOld = true;
  }

  private drawFrame(): void {
    this.frame = 0;
    if (this.isViewOld) this.renderer?.setView(this.camera, this.size);
    this.isViewOld = false;
    const context = this.parts.overlay.getContext("2d");
    if (!context || !this.data) return;
    this.thumbsShown = drawOverlay(context, this.overlayState(this.data));
    if (this.renderer) this.parts.box.dataset.thumbs = String(this.thumbsShown);
    this.parts.box.dataset.zoom = this.camera.zoom.toFixed(2);
  }

  private overlayState(data: MapData): OverlayState {
    const style = getComputedStyle(this.parts.box);
    const ink = (name: string) => style.getPropertyValue(name).trim() || "#888888";
    return {
      camera: this.camera, size: this.size, points: data.points, index: this.index,
      weight: data.weight, colorOf: (i) => data.colors[data.color[i]], painter: this.painter,
      hover: this.hovered, sketch: this.sketch, cross: this.cross,
      ink: { text: ink("--text"), line: ink("--line-strong"), accent: ink("--accent"), ground: ink("--ground") },
    };
  }
}

export { Weight };
