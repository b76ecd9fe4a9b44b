// SPDX-License-Identifier: Apache-2.0
// How points get onto the screen: WebGL by regl-scatterplot, or a plain canvas where there is none.
import type { Camera, Size } from "../../model/camera";

// How strongly a point is shown; the order in which they are drawn.
export enum Weight { Context = 0, Dim = 1, Normal = 2, Selected = 3 }

export interface DrawnPoints {
  x: Float32Array;
  y: Float32Array;
  color: Uint8Array; // index into the colours; 0 is the context's
  weight: Uint8Array; // Weight
}

export interface Look {
  colors: string[]; // [0] is the context's
  dark: boolean;
}

export interface PointRenderer {
  readonly kind: "webgl" | "canvas";
  setPoints(points: DrawnPoints, look: Look): void;
  setView(camera: Camera, size: Size): void;
  destroy(): void;
}

export const kContextOpacity = 0.75; // with partColor(-1) at least 3 : 1 against the ground

// Radius in pixels and opacity by weight, for n points: fewer points are larger.
export function pointStyle(n: number): { size: number[]; opacity: number[] } {
  const base = n > 30000 ? 3 : n > 5000 ? 4.5 : n > 800 ? 6 : 8;
  return { size: [base * 0.75, base * 0.85, base, base * 1.35],
           opacity: n > 30000 ? [0.5, 0.12, 0.6, 1] : [kContextOpacity, 0.18, 0.85, 1] };
}
