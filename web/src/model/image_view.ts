// SPDX-License-Identifier: Apache-2.0
// How an image is looked at: zoom, and the place of its upper left corner in units of the frame.

export interface ImageView { zoom: number; x: number; y: number }

export const kFit: ImageView = { zoom: 1, x: 0, y: 0 };
export const kMaxZoom = 20;

// The image always covers the frame.
export function clampedView(v: ImageView): ImageView {
  const zoom = Math.min(kMaxZoom, Math.max(1, v.zoom));
  const within = (at: number) => Math.min(0, Math.max(1 - zoom, at));
  return { zoom, x: within(v.x), y: within(v.y) };
}

// What is at (x, y) of the frame, each in [0, 1], stays there.
export function zoomedView(v: ImageView, factor: number, x: number, y: number): ImageView {
  const zoom = Math.min(kMaxZoom, Math.max(1, v.zoom * factor));
  const by = zoom / v.zoom;
  return clampedView({ zoom, x: x - (x - v.x) * by, y: y - (y - v.y) * by });
}
