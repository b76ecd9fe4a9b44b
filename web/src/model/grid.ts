// SPDX-License-Identifier: Apache-2.0
// The arithmetic of a virtual-scrolled grid: equal square tiles in a scrolling box.

export interface Grid { columns: number; tile: number; gap: number; rows: number; height: number }

// Columns of about `wanted` pixels; the tiles fill the width. Boxes whose widths differ by a line
// have the same number of columns, hence the nearest number and not the largest that fits.
export function layGrid(count: number, width: number, wanted: number, gap: number,
                        caption = 0): Grid {
  const columns = Math.max(1, Math.round((width + gap) / (wanted + gap)));
  const tile = Math.max(8, Math.floor((width - gap * (columns - 1)) / columns));
  const rows = Math.ceil(count / columns);
  return { columns, tile, gap, rows, height: rows ? rows * (tile + caption + gap) - gap : 0 };
}

// First and one-past-last item to draw when `viewport` pixels from `scroll` on are seen; one row
// more on either side.
export function visibleItems(grid: Grid, scroll: number, viewport: number, count: number,
                             caption = 0): [number, number] {
  const pitch = grid.tile + caption + grid.gap;
  const first = Math.max(0, Math.floor(scroll / pitch) - 1);
  const last = Math.min(grid.rows, Math.ceil((scroll + viewport) / pitch) + 1);
  return [Math.min(count, first * grid.columns), Math.min(count, Math.max(first, last) * grid.columns)];
}

// The item that an arrow, Home, End or Page key leads to; the same item where there is none.
export function stepItem(key: string, at: number, count: number, columns: number,
                         pageRows: number): number {
  const steps: Record<string, number> = {
    ArrowLeft: at - 1, ArrowRight: at + 1, ArrowUp: at - columns, ArrowDown: at + columns,
    Home: 0, End: count - 1, PageUp: at - columns * pageRows, PageDown: at + columns * pageRows,
  };
  const to = steps[key];
  if (to === undefined || count === 0) return at;
  if (key.startsWith("Page")) return Math.min(count - 1, Math.max(0, to));
  return to < 0 || to >= count ? at : to;
}

// Where to scroll so that an item is seen; the current position if it is.
export function scrollTo(grid: Grid, item: number, scroll: number, viewport: number,
                         caption = 0): number {
  const pitch = grid.tile + caption + grid.gap;
  const top = Math.floor(item / grid.columns) * pitch;
  if (top < scroll) return top;
  if (top + pitch > scroll + viewport) return top + pitch - viewport;
  return scroll;
}
