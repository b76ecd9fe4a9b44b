// SPDX-License-Identifier: Apache-2.0
// Points on a plain 2-D canvas, for browsers without WebGL. Slower, but looks the same.
import { toScreen, unitPixels, type Camera, type Size } from "../../model/camera";
import { pointStyle, type DrawnPoints, type Look, type PointRenderer } from "./renderer";

export class CanvasRenderer implements PointRenderer {
  readonly kind = "canvas";
  private points: DrawnPoints | null = null;
  private look: Look | null = null;
  private order = new Int32Array(0);
  private view: { camera: Camera; size: Size } | null = null;

  constructor(private readonly canvas: HTMLCanvasElement) {}

  setPoints(points: DrawnPoints, look: Look): void {
    this.points = points;
    this.look = look;
    this.order = Int32Array.from(points.x.keys());
    this.order.sort((a, b) => points.weight[a] - points.weight[b] || a - b);
    this.draw();
  }

  setView(camera: Camera, size: Size): void {
    this.view = { camera, size };
    this.draw();
  }

  destroy(): void { this.points = null; }

  private draw(): void {
    const context = this.canvas.getContext("2d");
    if (!context || !this.points || !this.look || !this.view) return;
    const { camera, size } = this.view;
    const ratio = window.devicePixelRatio || 1;
    const width = Math.round(size.width * ratio), height = Math.round(size.height * ratio);
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, size.width, size.height);
    this.drawPoints(context, camera, size);
  }

  private drawPoints(context: CanvasRenderingContext2D, camera: Camera, size: Size): void {
    const { x, y, color, weight } = this.points!;
    const style = pointStyle(x.length);
    const unit = unitPixels(camera, size);
    const [ox, oy] = toScreen(camera, size, 0, 0);
    let shown = -1;
    for (const i of this.order) {
      const px = ox + x[i] * unit, py = oy - y[i] * unit;
      if (px < -8 || py < -8 || px > size.width + 8 || py > size.height + 8) continue;
      const key = color[i] * 4 + weight[i];
      if (key !== shown) {
        context.fillStyle = this.look!.colors[color[i]];
        context.globalAlpha = style.opacity[weight[i]];
        shown = key;
      }
      const r = style.size[weight[i]] / 2;
      context.beginPath();
      context.arc(px, py, r, 0, 2 * Math.PI);
      context.fill();
    }
    context.globalAlpha = 1;
  }
}
