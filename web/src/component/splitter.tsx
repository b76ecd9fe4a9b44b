// SPDX-License-Identifier: Apache-2.0
// Two panes with a border that can be dragged, or moved with the arrow keys.
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";

export function Splitter(p: { first: ComponentChildren; second: ComponentChildren; label: string }) {
  const box = useRef<HTMLDivElement>(null);
  const [share, setShare] = useState(46);
  const set = (value: number) => setShare(Math.min(75, Math.max(22, value)));
  const onPointerMove = (event: PointerEvent) => {
    const bar = event.currentTarget as HTMLElement;
    if (!bar.hasPointerCapture(event.pointerId)) return;
    const area = box.current!.getBoundingClientRect();
    set(((event.clientX - area.left) / area.width) * 100);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === "ArrowLeft" ? -3 : event.key === "ArrowRight" ? 3 : 0;
    if (!by) return;
    set(share + by);
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="splitter" ref={box} style={{ gridTemplateColumns: `minmax(0, ${share}fr) 9px minmax(0, ${100 - share}fr)` }}>
      {p.first}
      <div class="splitter-bar" role="separator" aria-orientation="vertical" aria-label={p.label} tabIndex={0}
           aria-valuenow={Math.round(share)} aria-valuemin={22} aria-valuemax={75}
           onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
           onPointerMove={onPointerMove} onKeyDown={onKeyDown} onDblClick={() => setShare(46)} />
      {p.second}
    </div>
  );
}
