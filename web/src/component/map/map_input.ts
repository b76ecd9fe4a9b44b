// SPDX-License-Identifier: Apache-2.0
// Mouse, touch and keys of the map.
import type { MapController, SelectMode } from "./map_controller";

interface Finger { x: number; y: number }

export class MapInput {
  private readonly fingers = new Map<number, Finger>();
  private start: Finger | null = null;
  private isMoved = false;
  private pinch = 0;

  constructor(private readonly map: MapController) {
    const box = map.parts.box;
    box.addEventListener("pointerdown", this.down);
    box.addEventListener("pointermove", this.move);
    box.addEventListener("pointerup", this.up);
    box.addEventListener("pointercancel", this.cancel);
    box.addEventListener("pointerleave", this.leave);
    box.addEventListener("dblclick", this.twice);
    box.addEventListener("wheel", this.wheel, { passive: false });
    box.addEventListener("keydown", this.key);
    box.addEventListener("blur", this.blur);
  }

  private at(event: MouseEvent): Finger {
    const box = this.map.parts.box.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  private readonly down = (event: PointerEvent) => {
    if (event.button !== 0) return;
    const at = this.at(event);
    this.fingers.set(event.pointerId, at);
    this.map.parts.box.setPointerCapture(event.pointerId);
    this.isMoved = false;
    this.start = at;
    this.map.cross = null;
    if (this.fingers.size === 2) {
      this.map.sketch = null;
      this.pinch = this.spread();
      return;
    }
    const tool = event.shiftKey && this.map.tool === "pan" ? "lasso" : this.map.tool;
    if (tool === "pan") return;
    this.map.sketch = { kind: tool, path: this.map.planeAt(at.x, at.y) };
  };

  private readonly move = (event: PointerEvent) => {
    const at = this.at(event);
    const before = this.fingers.get(event.pointerId);
    if (!before) {
      if (event.pointerType !== "touch") this.map.setHover(this.map.pointAt(at.x, at.y), at.x, at.y);
      return;
    }
    if (this.start && Math.hypot(at.x - this.start.x, at.y - this.start.y) > 4) this.isMoved = true;
    this.fingers.set(event.pointerId, at);
    if (this.fingers.size === 2) return this.pinchTo();
    if (!this.isMoved) return;
    if (this.map.sketch) {
      this.map.sketch.path.push(...this.map.planeAt(at.x, at.y));
      this.map.redraw();
    } else {
      this.map.panBy(at.x - before.x, at.y - before.y);
    }
  };

  private readonly up = (event: PointerEvent) => {
    const at = this.at(event);
    if (!this.fingers.delete(event.pointerId)) return;
    if (this.fingers.size > 0) return;
    if (this.map.sketch && this.isMoved) return this.map.finishSketch(modeOf(event));
    this.map.sketch = null;
    if (!this.isMoved) this.click(event, at);
  };

  private click(event: PointerEvent, at: Finger): void {
    const hit = this.map.pointAt(at.x, at.y, event.pointerType === "touch" ? 18 : 9);
    const isContext = hit >= 0 && this.map.data?.points.isContext[hit] === 1;
    if (hit < 0 || isContext) {
      if (modeOf(event) === "replace") this.map.events.select([], "replace");
      return;
    }
    this.map.events.select([hit], modeOf(event));
  }

  private readonly cancel = (event: PointerEvent) => {
    this.fingers.delete(event.pointerId);
    this.map.sketch = null;
    this.map.redraw();
  };

  private readonly leave = () => {
    if (this.fingers.size === 0) this.map.setHover(-1, 0, 0);
  };

  private readonly twice = (event: MouseEvent) => {
    const at = this.at(event);
    const hit = this.map.pointAt(at.x, at.y);
    if (hit >= 0) this.map.events.open(hit);
    else this.map.zoomBy(event.shiftKey ? 0.5 : 2, at.x, at.y);
  };

  private readonly wheel = (event: WheelEvent) => {
    event.preventDefault();
    const at = this.at(event);
    const lines = event.deltaMode === 1 ? 16 : 1;
    this.map.zoomBy(Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.002)), at.x, at.y);
  };

  private spread(): number {
    const [a, b] = [...this.fingers.values()];
    return Math.hypot(a.x - b.x, a.y - b.y);
  }

  private pinchTo(): void {
    const [a, b] = [...this.fingers.values()];
    const spread = this.spread();
    if (this.pinch > 0) this.map.zoomBy(spread / this.pinch, (a.x + b.x) / 2, (a.y + b.y) / 2);
    this.pinch = spread;
  }

  private readonly blur = () => {
    this.map.cross = null;
    if (this.map.sketch && this.fingers.size === 0) this.map.sketch = null;
    this.map.redraw();
  };

  // Arrows pan; with the lasso or box tool they move a cross-hair, Space sets the corners of a box.
  private readonly key = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = event.shiftKey ? 96 : 32;
    const arrows: Record<string, [number, number]> = {
      ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step],
    };
    const arrow = arrows[event.key];
    if (arrow && this.map.tool === "pan") this.map.panBy(-arrow[0], -arrow[1]);
    else if (arrow) this.moveCross(arrow[0] / 2, arrow[1] / 2);
    else if (event.key === "+" || event.key === "=") this.map.zoomBy(1.5);
    else if (event.key === "-") this.map.zoomBy(1 / 1.5);
    else if (event.key === "0") this.map.fitTo(null);
    else if (event.key === " " && this.map.tool !== "pan") this.corner();
    else if (event.key === "Enter" && this.map.hovered >= 0) this.map.events.open(this.map.hovered);
    else if (event.key === "Escape" && this.map.sketch) { this.map.sketch = null; this.map.redraw(); }
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  private moveCross(dx: number, dy: number): void {
    const { size } = this.map;
    this.map.cross ??= this.map.planeAt(size.width / 2, size.height / 2);
    const unit = this.map.planeAt(1, 0)[0] - this.map.planeAt(0, 0)[0];
    this.map.cross = [this.map.cross[0] + dx * unit, this.map.cross[1] - dy * unit];
    if (this.map.sketch) this.map.sketch.path = [...this.map.sketch.path.slice(0, 2), ...this.map.cross];
    this.map.hovered = this.map.index.nearest(this.map.cross[0], this.map.cross[1], unit * 16);
    this.map.redraw();
  }

  private corner(): void {
    if (!this.map.cross) return this.moveCross(0, 0);
    if (this.map.sketch) return this.map.finishSketch("replace");
    this.map.sketch = { kind: "box", path: [...this.map.cross, ...this.map.cross] };
    this.map.redraw();
  }
}

function modeOf(event: MouseEvent): SelectMode {
  if (event.altKey) return "remove";
  return event.ctrlKey || event.metaKey ? "add" : "replace";
}
