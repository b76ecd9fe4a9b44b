// SPDX-License-Identifier: Apache-2.0
// The map's camera: the point of the plane in the middle and the zoom. At zoom 1 the square
// [-1, 1] x [-1, 1] fills the shorter side, with a small margin.

export interface Camera { x: number; y: number; zoom: number }
export interface Size { width: number; height: number }

export const kHome: Camera = { x: 0, y: 0, zoom: 1 };
export const kMaxZoom = 400;
const kMargin = 0.92;

// Pixels of one unit of the plane.
export function unitPixels(camera: Camera, size: Size): number {
  return (Math.min(size.width, size.height) / 2) * kMargin * camera.zoom;
}

export function toScreen(camera: Camera, size: Size, x: number, y: number): [number, number] {
  const unit = unitPixels(camera, size);
  return [size.width / 2 + (x - camera.x) * unit, size.height / 2 - (y - camera.y) * unit];
}

export function toPlane(camera: Camera, size: Size, px: number, py: number): [number, number] {
  const unit = unitPixels(camera, size);
  return [camera.x + (px - size.width / 2) / unit, camera.y - (py - size.height / 2) / unit];
}

export function clampCamera(camera: Camera): Camera {
  const zoom = Math.min(kMaxZoom, Math.max(0.5, camera.zoom));
  const limit = (v: number) => Math.min(1.5, Math.max(-1.5, v));
  return { x: limit(camera.x), y: limit(camera.y), zoom };
}

export function pan(camera: Camera, size: Size, dx: number, dy: number): Camera {
  const unit = unitPixels(camera, size);
  return clampCamera({ ...camera, x: camera.x - dx / unit, y: camera.y + dy / unit });
}

// Zooms so that the plane's point under (px, py) stays there.
export function zoomAt(camera: Camera, size: Size, factor: number, px: number, py: number): Camera {
  const zoom = Math.min(kMaxZoom, Math.max(0.5, camera.zoom * factor));
  const [x, y] = toPlane(camera, size, px, py);
  const unit = unitPixels({ ...camera, zoom }, size);
  return clampCamera({ x: x - (px - size.width / 2) / unit, y: y + (py - size.height / 2) / unit, zoom });
}

// The camera that shows the given points.
export function fit(x: Float32Array, y: Float32Array, indices: ArrayLike<number>, size: Size): Camera {
  let x1 = Infinity, x2 = -Infinity, y1 = Infinity, y2 = -Infinity;
  for (let k = 0; k < indices.length; ++k) {
    const i = indices[k];
    x1 = Math.min(x1, x[i]); x2 = Math.max(x2, x[i]);
    y1 = Math.min(y1, y[i]); y2 = Math.max(y2, y[i]);
  }
  if (!(x1 <= x2)) return kHome;
  const shorter = Math.min(size.width, size.height);
  const need = Math.max(((x2 - x1) / size.width) * shorter, ((y2 - y1) / size.height) * shorter, 0.02);
  return clampCamera({ x: (x1 + x2) / 2, y: (y1 + y2) / 2, zoom: 1.8 / need });
}

// Column-major 4 x 4 matrix of regl-scatterplot, whose own projection has the height as unit.
export function viewMatrix(camera: Camera, size: Size): Float32Array {
  const s = (unitPixels(camera, size) * 2) / size.height;
  return new Float32Array([s, 0, 0, 0, 0, s, 0, 0, 0, 0, 1, 0, -camera.x * s, -camera.y * s, 0, 1]);
}
