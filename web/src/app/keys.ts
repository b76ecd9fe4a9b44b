// SPDX-License-Identifier: Apache-2.0
// Keys that work everywhere on the page. Lists and the map have their own.
import { batch } from "@preact/signals";
import { adviceOf } from "../model/advice";
import { kHome } from "../model/camera";
import type { View } from "../model/link";
import type { App } from "./app_context";

export const kKeys: { title: string; keys: [string, string][] }[] = [
  { title: "Everywhere", keys: [
    ["?", "these keys"], ["R", "run with the options on the left"], ["Shift R", "run again with the corrections"],
    ["G", "gallery, map, both, or table"], ["[ and ]", "previous and next view"], ["C", "show or hide the options"],
    ["S", "export: files, command, link"], ["D", "dark, light, or system theme"], ["Esc", "clear the selection, close"]] },
  { title: "Gallery", keys: [
    ["Arrows", "move; at the edge, to the next part"], ["Space", "select or deselect"], ["Shift Arrows", "extend the selection"],
    ["Enter", "enlarge"], ["Ctrl A", "select everything"], ["− and +", "smaller or larger images"]] },
  { title: "Enlarged image", keys: [
    ["← →", "the next image of its part; zoomed in, arrows pan"], ["+ − 0", "zoom in, zoom out, fit"]] },
  { title: "Map", keys: [
    ["Arrows", "pan, or move the cross-hair"], ["+ − 0", "zoom in, zoom out, fit"], ["V L B", "hand, lasso, box"],
    ["Space", "with lasso or box: set a corner"], ["Shift drag", "lasso with the hand"], ["Enter", "enlarge"]] },
  { title: "Correct the selection", keys: [
    ["1 to 9", "belongs to this part"], ["A", "set aside: in no part"], ["P", "pin to its part, or unpin"], ["T", "must stay together"], ["X", "must be apart"],
    ["Ctrl Z", "undo"], ["Ctrl Shift Z", "redo"]] },
];

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && !!target.closest("input, select, textarea");

export function listenToKeys(app: App): void {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || isTyping(event.target)) return;
    const handle = event.ctrlKey || event.metaKey ? withControl(app, event) : plain(app, event);
    if (handle) event.preventDefault();
  });
}

const isModal = ({ store }: App) => store.dialog.value !== "" || store.image.value >= 0;

function withControl(app: App, event: KeyboardEvent): boolean {
  const { edits } = app;
  const key = event.key.toLowerCase();
  if (isModal(app)) return false;
  if (key === "z") { if (event.shiftKey) edits.redo(); else edits.undo(); return true; }
  if (key === "y") { edits.redo(); return true; }
  if (key === "a") { edits.selectAll(); return true; }
  return false;
}

function plain(app: App, event: KeyboardEvent): boolean {
  const { store, actions, edits } = app;
  if (event.altKey) return false;
  if (event.key === "?") { store.dialog.value = store.dialog.value === "help" ? "" : "help"; return true; }
  if (isModal(app)) return false;
  const selection = store.selection.value;
  if (/^[1-9]$/.test(event.key)) { edits.move(selection, Number(event.key) - 1); return selection.size > 0; }
  const known: Record<string, () => void> = {
    r: () => { if (event.shiftKey) { if (edits.canRerun) void actions.rerun(); } else if (!store.problem.value) void actions.start(); },
    g: () => cycleLayout(app),
    "[": () => stepView(app, -1),
    "]": () => stepView(app, 1),
    c: () => { store.isPanelOpen.value = !store.isPanelOpen.value; },
    s: () => { if (store.opened.value) store.dialog.value = "export"; },
    d: () => cycleTheme(app),
    escape: () => { edits.select([]); store.emphasised.value = []; },
    a: () => edits.setAside(selection),
    p: () => edits.pin(selection),
    t: () => edits.link(selection, "together"),
    x: () => edits.link(selection, "apart"),
    "0": () => { store.camera.value = { ...kHome }; }, // the map's own key, also when it has no focus and has just been moved
    v: () => { store.tool.value = "pan"; },
    l: () => { store.tool.value = "lasso"; },
    b: () => { store.tool.value = "box"; },
    "-": () => { store.tile.value = Math.max(40, Math.round(store.tile.value / 1.25)); },
    "+": () => { store.tile.value = Math.min(320, Math.round(store.tile.value * 1.25)); },
  };
  const action = known[event.key.toLowerCase()];
  action?.();
  return !!action;
}

function cycleLayout({ store }: App): void {
  const order = store.isNarrow.value ? (["gallery", "map", "table"] as const) : (["both", "gallery", "map", "table"] as const);
  const at = (order as readonly string[]).indexOf(store.layout.value);
  batch(() => { store.view.value = "look"; store.layout.value = order[(at + 1) % order.length]; });
}

export function viewsOf({ store }: App): { value: View; title: string }[] {
  const opened = store.opened.value;
  if (!opened) return [{ value: "look", title: "Look" }];
  const views: { value: View; title: string }[] = [{ value: "look", title: "Look" }];
  if (adviceOf(opened.detail).length) views.push({ value: "advice", title: "Advice" });
  const method = store.methods.value.find((m) => m.name === opened.detail.method);
  if (method?.ranks_contexts || opened.detail.extras?.contexts?.length) views.push({ value: "contexts", title: "Contexts" });
  if (store.source.can.run || store.runs.value.length > 1) views.push({ value: "compare", title: "Compare" });
  const { extras, files, rank_contexts } = opened.detail;
  const hasExtras = !!(extras?.exemplars?.length || extras?.penalty_curve?.length || extras?.weights?.length || extras?.phrases?.length);
  if (hasExtras || files.length || (opened.columns.decisions && !rank_contexts)) views.push({ value: "method", title: `Inside ${opened.detail.method}` });
  views.push({ value: "details", title: "Details" });
  return views;
}

function stepView(app: App, by: number): void {
  const views = viewsOf(app);
  const at = Math.max(0, views.findIndex((v) => v.value === app.store.view.value));
  app.store.view.value = views[(at + by + views.length) % views.length].value;
}

export function cycleTheme({ store }: App): void {
  const order = ["auto", "light", "dark"] as const;
  store.theme.value = order[(order.indexOf(store.theme.value) + 1) % 3];
}
