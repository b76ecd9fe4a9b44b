// SPDX-License-Identifier: Apache-2.0
// Points by regl-scatterplot. The camera is ours (mouse, touch and keys are the same on both
// renderers); the library draws.
import createScatterplot from "regl-scatterplot";
import { viewMatrix, type Camera, type Size } from "../../model/camera";
import { pointStyle, type DrawnPoints, type Look, type PointRenderer } from "./renderer";

type Plot = ReturnType<typeof createScatterplot>;

export class GlRenderer implements PointRenderer {
  readonly kind = "webgl";
  private readonly plot: Plot;
  private size: Size = { width: 0, height: 0 };
  private work: Promise<unknown> = Promise.resolve();
  private last: { x: Float32Array; y: Float32Array } | null = null;
  private isOver = false; // the library rejects whatever comes later

  constructor(canvas: HTMLCanvasElement, size: Size, dark: boolean) {
    this.size = size;
    this.plot = createScatterplot({
      canvas, width: size.width, height: size.height, aspectRatio: 1, cameraIsFixed: true,
      backgroundColor: dark ? "#16181c" : "#ffffff", pointScaleMode: "constant",
      colorBy: "valueA", opacityBy: "valueB", sizeBy: "valueB", spatialIndexUseWorker: false,
      deselectOnEscape: false, deselectOnDblClick: false,
    } as Parameters<typeof createScatterplot>[0]);
  }

  setPoints(points: DrawnPoints, look: Look): void {
    this.work = this.work.then(() => this.draw(points, look)).catch(() => undefined);
  }

  private async draw(points: DrawnPoints, look: Look): Promise<void> {
    if (this.isOver) return;
    const style = pointStyle(points.x.length);
    const spatialIndex = this.last?.x === points.x && this.last.y === points.y
      ? this.plot.get("spatialIndex") : undefined;
    this.last = { x: points.x, y: points.y };
    this.plot.set({ pointColor: look.colors, pointSize: style.size, opacity: style.opacity,
                    backgroundColor: look.dark ? "#16181c" : "#ffffff" });
    await this.plot.draw(
      { x: points.x, y: points.y, valueA: points.color, valueB: points.weight },
      { zDataType: "categorical", wDataType: "categorical", spatialIndex });
    if (this.isOver) return;
    this.plot.set({ pointOrder: drawOrder(points.weight) });
  }

  setView(camera: Camera, size: Size): void {
    if (this.isOver) return;
    if (size.width !== this.size.width || size.height !== this.size.height) {
      this.size = size;
      this.plot.set({ width: size.width, height: size.height });
    }
    this.plot.set({ cameraView: viewMatrix(camera, size) });
  }

  destroy(): void {
    this.isOver = true;
    this.plot.destroy();
  }
}

// Context first, selected last; null when nothing has to change places.
function drawOrder(weight: Uint8Array): number[] | null {
  let isSorted = true;
  for (let i = 1; i < weight.length && isSorted; ++i) isSorted = weight[i] >= weight[i - 1];
  if (isSorted) return null;
  return Array.from(weight.keys()).sort((a, b) => weight[a] - weight[b] || a - b);
}

export function hasWebGl(): boolean {
  try {
    const canvas = document.createElement("canvas");
    const gl = canvas.getContext("webgl");
    const isUsable = !!gl && !!gl.getExtension("OES_texture_float");
    gl?.getExtension("WEBGL_lose_context")?.loseContext();
    return isUsable;
  } catch {
    return false;
  }
}
