// SPDX-License-Identifier: Apache-2.0
// Line icons on a 20 x 20 grid, drawn for this page.

const kPaths = {
  play: "M6 4.5v11l9-5.5z",
  stop: "M5.5 5.5h9v9h-9z",
  close: "M5 5l10 10M15 5L5 15",
  help: "M7.5 7.6a2.5 2.5 0 1 1 3.6 2.3c-.8.4-1.1.9-1.1 1.8M10 14.6v.1",
  sun: "M10 6.6a3.4 3.4 0 1 0 0 6.8 3.4 3.4 0 0 0 0-6.8M10 2v1.8M10 16.2V18M2 10h1.8M16.2 10H18M4.3 4.3l1.3 1.3M14.4 14.4l1.3 1.3M15.7 4.3l-1.3 1.3M5.6 14.4l-1.3 1.3",
  moon: "M16.5 11.6A6.8 6.8 0 0 1 8.4 3.5a6.8 6.8 0 1 0 8.1 8.1z",
  auto: "M10 3a7 7 0 1 0 0 14zM10 3a7 7 0 0 1 0 14",
  share: "M10 3v9M6.5 6.2L10 2.8l3.5 3.4M4.5 9.5v7h11v-7",
  hand: "M10 3v14M3 10h14M10 3L8 5M10 3l2 2M10 17l-2-2M10 17l2-2M3 10l2-2M3 10l2 2M17 10l-2-2M17 10l-2 2",
  lasso: "M10 4c4 0 7 1.8 7 4.3s-3 4.3-7 4.3-7-1.8-7-4.3S6 4 10 4M6.4 12a1.8 1.8 0 1 0 .2 3.4c1 .2 1.3 1.4.6 2.3",
  box: "M4 4h3M10 4h0M13 4h3v3M16 10v0M16 13v3h-3M10 16h0M7 16H4v-3M4 10v0M4 7V4",
  plus: "M10 4.5v11M4.5 10h11",
  minus: "M4.5 10h11",
  fit: "M3.5 7.5v-4h4M12.5 3.5h4v4M16.5 12.5v4h-4M7.5 16.5h-4v-4",
  pin: "M7.5 3h5l-.7 5 2.7 2.5h-9L8.2 8zM10 10.5V17",
  link: "M8.3 11.7l3.4-3.4M9 6l1.6-1.6a3.1 3.1 0 0 1 4.4 4.4L13.4 10.4M11 14l-1.6 1.6A3.1 3.1 0 0 1 5 11.2L6.6 9.6",
  apart: "M9 6l1.6-1.6a3.1 3.1 0 0 1 4.4 4.4L13.4 10.4M11 14l-1.6 1.6A3.1 3.1 0 0 1 5 11.2L6.6 9.6M4 4l12 12",
  aside: "M10 3.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13M5.5 5.5l9 9",
  tag: "M3.5 3.5h6l7 7-6 6-7-7zM7 7v.1",
  undo: "M7 4L3.5 7.5 7 11M3.5 7.5h8a4.5 4.5 0 0 1 0 9H7",
  redo: "M13 4l3.5 3.5L13 11M16.5 7.5h-8a4.5 4.5 0 0 0 0 9H13",
  trash: "M4 6h12M8 6V4h4v2M5.5 6l.7 10.5h7.6L14.5 6",
  edit: "M4 16l.8-3.2L13 4.6l2.4 2.4-8.2 8.2z",
  compare: "M4 4.5h4.5v11H4zM11.5 4.5H16v11h-4.5z",
  left: "M12.5 4.5L7 10l5.5 5.5",
  right: "M7.5 4.5L13 10l-5.5 5.5",
  down: "M4.5 7.5L10 13l5.5-5.5",
  copy: "M7 7h9v9.5H7zM13 7V3.5H4V13h3",
  check: "M4.5 10.5l3.7 3.7 7.3-8",
  warn: "M10 3.5l7.2 12.8H2.8zM10 8.5v3.5M10 14v.2",
  panel: "M3.5 4.5h13v11h-13zM8 4.5v11",
  folder: "M3 5.5h5l1.5 2H17v8H3z",
  file: "M5.5 3h6l3.5 3.5V17h-9.5zM11.5 3v3.5H15",
  rank: "M5 16V9M10 16V4M15 16v-4",
  gallery: "M3.5 3.5h5v5h-5zM11.5 3.5h5v5h-5zM3.5 11.5h5v5h-5zM11.5 11.5h5v5h-5z",
  table: "M3.5 4.5h13v11h-13zM3.5 8.2h13M3.5 11.9h13M8 8.2v7.3",
  dots: "M5 13v.1M8 7v.1M12 10v.1M15 5v.1M14 15v.1M7 16v.1M4 5v.1",
} as const;

export type IconName = keyof typeof kPaths;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  const isSolid = name === "play" || name === "stop";
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 20 20" aria-hidden="true"
         fill={isSolid ? "currentColor" : "none"} stroke="currentColor"
         stroke-width={name === "dots" ? 2.6 : 1.5} stroke-linecap="round" stroke-linejoin="round">
      <path d={kPaths[name]} />
    </svg>
  );
}
