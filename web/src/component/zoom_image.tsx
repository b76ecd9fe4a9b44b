// SPDX-License-Identifier: Apache-2.0
// An image in full size: wheel, plus and minus zoom, dragging pans, arrows too once zoomed in, 0 fits.
import { useEffect, useState } from "preact/hooks";
import { clampedView, kFit, zoomedView, type ImageView } from "../model/image_view";

const kPanStep = 0.15; // of the frame

export function ZoomImage({ src, alt, width, height }: { src: string; alt: string; width: number; height: number }) {
  const [view, setView] = useState<ImageView>(kFit);
  const [grip, setGrip] = useState<{ x: number; y: number } | null>(null);
  useEffect(() => setView(kFit), [src]);
  const zoom = (factor: number, x = 0.5, y = 0.5) => setView((v) => zoomedView(v, factor, x, y));
  const onWheel = (event: WheelEvent & { currentTarget: HTMLElement }) => {
    event.preventDefault();
    const box = event.currentTarget.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY / 300), (event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
  };
  const pan = (dx: number, dy: number) => setView((v) => clampedView({ ...v, x: v.x + dx, y: v.y + dy }));
  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Record<string, () => void> = { "+": () => zoom(1.5), "=": () => zoom(1.5), "-": () => zoom(1 / 1.5), "0": () => setView(kFit) };
    const pans: Record<string, () => void> = view.zoom > 1 ? {
      ArrowLeft: () => pan(kPanStep, 0), ArrowRight: () => pan(-kPanStep, 0), ArrowUp: () => pan(0, kPanStep), ArrowDown: () => pan(0, -kPanStep) } : {};
    const step = steps[event.key] ?? pans[event.key]; // of an image that fits, arrows lead to the next one
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    step();
  };
  const onPointerMove = (event: PointerEvent) => {
    if (!grip) return;
    const dx = (event.clientX - grip.x) / width, dy = (event.clientY - grip.y) / height;
    setGrip({ x: event.clientX, y: event.clientY });
    pan(dx, dy);
  };
  return (
    <div class="zoom-image" role="img" aria-label={`${alt}, in full size; plus and minus zoom, arrows pan, 0 fits`} tabIndex={0} style={{ width: `${width}px`, height: `${height}px` }}
         data-zoom={view.zoom.toFixed(2)} onWheel={onWheel} onKeyDown={onKeyDown} onDblClick={() => (view.zoom > 1 ? setView(kFit) : zoom(3))}
         onPointerDown={(event) => { event.currentTarget.setPointerCapture(event.pointerId); setGrip({ x: event.clientX, y: event.clientY }); }}
         onPointerMove={onPointerMove} onPointerUp={() => setGrip(null)}>
      <img src={src} alt="" draggable={false} style={{ transform: `translate(${view.x * width}px, ${view.y * height}px) scale(${view.zoom})` }} />
    </div>
  );
}
