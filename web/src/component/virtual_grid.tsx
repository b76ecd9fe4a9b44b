// SPDX-License-Identifier: Apache-2.0
// Images in a scrolling grid; only the visible ones are in the page. A listbox for
// keyboards and screen readers: arrows move, Space selects, Enter opens.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { layGrid, scrollTo, stepItem, visibleItems } from "../model/grid";
import type { Thumb } from "../source/source";
import { Icon, type IconName } from "./icon";
import { Thumbnail } from "./thumbnail";

export interface TileInfo {
  thumb: Thumb | null;
  name: string;
  text: string; // shown when the image is missing
  marks: { icon: IconName; title: string }[];
}

export interface VirtualGridProps {
  id: string;
  label: string;
  rows: ArrayLike<number>;
  tile: number;
  isSeen: boolean; // false: far outside the window, draws no tile
  color: string;
  selected: ReadonlySet<number>;
  tileOf(row: number): TileInfo;
  onPick(rows: number[], mode: "replace" | "add" | "toggle"): void;
  onOpen(row: number): void;
  onEdge?(direction: -1 | 1): void; // left of the first column, right of the last
  dragged?(row: number): number[] | null; // rows that move with it; null: no dragging
}

const kGap = 4;

export function VirtualGrid(p: VirtualGridProps) {
  const box = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const [scroll, setScroll] = useState(0);
  const [active, setActive] = useState(0);
  const anchor = useRef(0);
  const count = p.rows.length;

  useLayoutEffect(() => {
    const element = box.current!;
    const measure = () => setSize({ width: element.clientWidth - 2 * 8, height: element.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => { if (active >= count) setActive(Math.max(0, count - 1)); }, [count]);

  const grid = layGrid(count, Math.max(40, size.width), p.tile, kGap);
  const [first, last] = p.isSeen ? visibleItems(grid, scroll, size.height, count) : [0, 0];

  const goTo = (item: number) => {
    setActive(item);
    const to = scrollTo(grid, item, box.current!.scrollTop, size.height);
    if (to !== box.current!.scrollTop) box.current!.scrollTop = to;
  };
  const range = (to: number) => {
    const [a, b] = [Math.min(anchor.current, to), Math.max(anchor.current, to)];
    return Array.from({ length: b - a + 1 }, (_, i) => p.rows[a + i]);
  };
  const pick = (item: number, event: MouseEvent | KeyboardEvent) => {
    setActive(item);
    if (event.shiftKey) return p.onPick(range(item), "replace");
    anchor.current = item;
    p.onPick([p.rows[item]], event.ctrlKey || event.metaKey ? "toggle" : "replace");
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || count === 0) return;
    const next = stepItem(event.key, active, count, grid.columns, Math.max(1, Math.floor(size.height / (grid.tile + kGap)) - 1));
    if (next !== active) {
      goTo(next);
      if (event.shiftKey) p.onPick(range(next), "replace");
      else anchor.current = next;
    } else if (event.key === " ") p.onPick([p.rows[active]], "toggle");
    else if (event.key === "Enter") p.onOpen(p.rows[active]);
    else if (event.key === "ArrowLeft") p.onEdge?.(-1);
    else if (event.key === "ArrowRight") p.onEdge?.(1);
    else if (!/^(Home|End|Page|Arrow)/.test(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  };

  const tiles = [];
  for (let item = first; item < last; ++item)
    tiles.push(<Tile key={p.rows[item]} grid={grid} item={item} count={count} p={p}
                     isActive={item === active} pick={pick} />);
  return (
    <div ref={box} id={p.id} class="grid-box" role={tiles.length ? "listbox" : "group"} aria-label={p.label}
         aria-multiselectable={tiles.length ? "true" : undefined} tabIndex={0}
         aria-activedescendant={active >= first && active < last ? `${p.id}-${p.rows[active]}` : undefined}
         onScroll={(event) => setScroll(event.currentTarget.scrollTop)} onKeyDown={onKeyDown} data-count={count}>
      <div class="grid-space" role="presentation" style={{ height: `${grid.height}px` }}>{tiles}</div>
    </div>
  );
}

interface TileProps {
  p: VirtualGridProps;
  grid: ReturnType<typeof layGrid>;
  item: number;
  count: number;
  isActive: boolean;
  pick(item: number, event: MouseEvent): void;
}

function Tile({ p, grid, item, count, isActive, pick }: TileProps) {
  const row = p.rows[item];
  const info = p.tileOf(row);
  const left = (item % grid.columns) * (grid.tile + kGap);
  const top = Math.floor(item / grid.columns) * (grid.tile + kGap);
  const isSelected = p.selected.has(row);
  const marks = info.marks.map((mark) => mark.title).join(", ");
  const onDragStart = (event: DragEvent) => {
    const rows = p.dragged?.(row);
    if (!rows) return event.preventDefault();
    event.dataTransfer!.setData("application/x-milieu-rows", JSON.stringify(rows));
    event.dataTransfer!.effectAllowed = "move";
  };
  return (
    <div id={`${p.id}-${row}`} role="option" aria-selected={isSelected} aria-posinset={item + 1} aria-setsize={count}
         aria-label={marks ? `${info.name}, ${marks}` : info.name} title={info.name} data-row={row}
         class={`tile ${isActive ? "is-active" : ""}`} draggable={!!p.dragged}
         style={{ transform: `translate(${left}px, ${top}px)`, width: `${grid.tile}px`, height: `${grid.tile}px`, "--part": p.color }}
         onClick={(event) => pick(item, event)} onDblClick={() => p.onOpen(row)} onDragStart={onDragStart}>
      <Thumbnail thumb={info.thumb} alt="" side={grid.tile} text={info.text} />
      {info.marks.length > 0 && <span class="tile-marks">{info.marks.map((m) => <Icon key={m.icon} name={m.icon} size={13} />)}</span>}
    </div>
  );
}
