// SPDX-License-Identifier: Apache-2.0
// The map as a component: points, overlay, the name beside the pointer.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Camera } from "../../model/camera";
import type { Thumb } from "../../source/source";
import { Thumbnail } from "../thumbnail";
import { MapController, type MapData, type SelectMode, type Tool } from "./map_controller";
import { MapInput } from "./map_input";

export interface ScatterMapProps {
  data: MapData;
  camera: Camera;
  tool: Tool;
  label: string; // for screen readers
  thumb: ((row: number) => Thumb | null) | null; // images when zoomed in
  describe(index: number): { title: string; detail: string; color: string };
  onCamera(camera: Camera): void;
  onSelect(indices: number[], mode: SelectMode): void;
  onOpen(index: number): void;
  control?(map: MapController): void; // provides the controller for buttons
}

interface Tip { index: number; x: number; y: number }

export function ScatterMap(props: ScatterMapProps) {
  const box = useRef<HTMLDivElement>(null);
  const points = useRef<HTMLCanvasElement>(null);
  const overlay = useRef<HTMLCanvasElement>(null);
  const map = useRef<MapController | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const [tip, setTip] = useState<Tip | null>(null);

  useLayoutEffect(() => {
    const controller = new MapController(
      { box: box.current!, points: points.current!, overlay: overlay.current! }, {
        camera: (camera) => latest.current.onCamera(camera),
        select: (indices, mode) => latest.current.onSelect(indices, mode),
        open: (index) => latest.current.onOpen(index),
        hover: (index, x, y) => setTip(index < 0 ? null : { index, x, y }),
      });
    new MapInput(controller);
    map.current = controller;
    latest.current.control?.(controller);
    return () => controller.destroy();
  }, []);
  useLayoutEffect(() => map.current?.setData(props.data), [props.data]);
  useLayoutEffect(() => map.current?.setThumbs(props.thumb), [props.thumb]);
  useLayoutEffect(() => map.current?.setCamera(props.camera, true), [props.camera]);
  useLayoutEffect(() => {
    if (map.current) map.current.tool = props.tool;
  }, [props.tool]);

  return (
    <div ref={box} class={`scatter tool-${props.tool}`} tabIndex={0} role="application"
         aria-label={props.label} data-testid="map">
      <canvas ref={points} class="scatter-points" aria-hidden="true" />
      <canvas ref={overlay} class="scatter-overlay" aria-hidden="true" />
      {tip && <MapTip tip={tip} {...props} />}
    </div>
  );
}

function MapTip({ tip, data, describe, thumb }: ScatterMapProps & { tip: Tip }) {
  if (tip.index >= data.points.rows.length) return null;
  const { title, detail, color } = describe(tip.index);
  const image = thumb?.(data.points.rows[tip.index]) ?? null;
  const isLeft = tip.x < 240;
  const style = { top: `${tip.y + 14}px`, [isLeft ? "left" : "right"]: isLeft ? `${tip.x + 14}px` : `calc(100% - ${tip.x - 10}px)` };
  return (
    <div class="map-tip" style={style}>
      {image && <Thumbnail thumb={image} alt="" side={72} />}
      <div>
        <div class="map-tip-title">{title}</div>
        <div class="map-tip-detail"><span class="swatch" style={{ background: color }} />{detail}</div>
      </div>
    </div>
  );
}
