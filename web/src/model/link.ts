// SPDX-License-Identifier: Apache-2.0
// The permalink: everything a user might want to return to, as the URL's hash.
import type { Camera } from "./camera";
import { kHome } from "./camera";
import { kNoCriteria, packCriteria, unpackCriteria, type Criteria } from "./criteria";
import { kOrders, type Order } from "./order";
import { packRows, unpackRows } from "./rows";
import type { Pair, RowSet, Value } from "./types";

export type View = "look" | "contexts" | "compare" | "advice" | "method" | "details";
export type Layout = "both" | "gallery" | "map" | "table";
export type ColorBy = "part" | "class" | "margin" | "word";
export type Axes = "pca" | "neighbors" | "own" | "place";

export interface LinkState {
  run: string;
  against: string; // the run it is compared with
  view: View;
  layout: Layout;
  method: string;
  set: RowSet;
  context: RowSet;
  options: Record<string, Value>;
  feature: string;
  parts: number[]; // emphasised parts
  order: Order;
  criteria: Criteria;
  colorBy: ColorBy;
  axes: Axes;
  axisParts: Pair;
  camera: Camera;
  showContext: boolean;
  tile: number;
  selection: number[];
}

export const kDefaultLink: LinkState = {
  run: "", against: "", view: "look", layout: "both", method: "", set: {}, context: {}, options: {},
  feature: "", parts: [], order: "sure", criteria: kNoCriteria, colorBy: "part", axes: "pca", axisParts: [0, 1], camera: kHome,
  showContext: true, tile: 72, selection: [],
};

// Longer lists of rows make links that mail programs truncate; they are omitted.
export const kMaxLinkedRows = 4000;

const escape = (text: string) => encodeURIComponent(text).replace(/%20/g, "+");
const unescape = (text: string) => {
  try { return decodeURIComponent(text.replace(/\+/g, " ")); } catch { return ""; }
};

function packSet(set: RowSet): string {
  if (set.rest) return "*";
  if (set.classes?.length) return set.classes.map((c) => "." + escape(c)).join(",");
  if (set.rows?.length && set.rows.length <= kMaxLinkedRows) return packRows(set.rows);
  return "";
}

function unpackSet(text: string): RowSet {
  if (text === "*") return { rest: true };
  if (text.startsWith("."))
    return { classes: text.split(",").map((word) => unescape(word.slice(1))).filter(Boolean) };
  return text ? { rows: unpackRows(text) } : {};
}

function packOptions(options: Record<string, Value>): string {
  return Object.entries(options).map(([name, v]) =>
    `${escape(name)}:${typeof v === "string" ? "'" : ""}${escape(String(v))}`).join(",");
}

function unpackOptions(text: string): Record<string, Value> {
  const options: Record<string, Value> = {};
  for (const word of text ? text.split(",") : []) {
    const cut = word.indexOf(":");
    if (cut < 1) continue;
    const value = unescape(word.slice(cut + 1));
    options[unescape(word.slice(0, cut))] = value.startsWith("'") ? value.slice(1)
      : value === "true" ? true : value === "false" ? false : Number(value);
  }
  return options;
}

const short = (v: number) => String(Number(v.toPrecision(4)));

function packCamera(c: Camera): string {
  return `${short(c.x)},${short(c.y)},${short(c.zoom)}`;
}

function unpackCamera(text: string): Camera {
  const [x, y, zoom] = text.split(",").map(Number);
  return [x, y, zoom].every(Number.isFinite) && zoom > 0 ? { x, y, zoom } : kHome;
}

// Only what differs from the defaults is written, in a fixed order.
export function packLink(state: LinkState): string {
  const rows = (list: number[]) => (list.length <= kMaxLinkedRows ? packRows(list) : "");
  const words: [string, string][] = [
    ["run", escape(state.run)], ["against", escape(state.against)],
    ["view", state.view === "look" ? "" : state.view],
    ["layout", state.layout === "both" ? "" : state.layout],
    ["method", escape(state.method)], ["set", packSet(state.set)],
    ["context", packSet(state.context)], ["options", packOptions(state.options)],
    ["parts", state.parts.join(".")], ["order", state.order === "sure" ? "" : state.order], ["only", escape(packCriteria(state.criteria))],
    ["color", state.colorBy === "part" ? "" : state.colorBy],
    ["feature", escape(state.feature)],
    ["axes", state.axes === "pca" ? "" : state.axes === "own" ? state.axisParts.join(".") : state.axes],
    ["zoom", isHome(state.camera) ? "" : packCamera(state.camera)],
    ["background", state.showContext ? "" : "off"],
    ["tile", state.tile === kDefaultLink.tile ? "" : String(state.tile)],
    ["rows", rows(state.selection)],
  ];
  return words.filter(([, value]) => value !== "").map(([key, value]) => `${key}=${value}`).join("&");
}

const isHome = (c: Camera) => c.x === 0 && c.y === 0 && c.zoom === 1;

function oneOf<T extends string, F extends string>(text: string, allowed: readonly T[], fallback: F): T | F {
  return (allowed as readonly string[]).includes(text) ? (text as T) : fallback;
}

// Whatever cannot be read keeps its default: a link never breaks the page.
export function unpackLink(hash: string): LinkState {
  const words = new Map(hash.replace(/^#/, "").split("&").map((word): [string, string] => {
    const cut = word.indexOf("=");
    return cut < 0 ? [word, ""] : [word.slice(0, cut), word.slice(cut + 1)];
  }));
  const read = (key: string) => words.get(key) ?? "";
  const axisParts = read("axes").split(".").map(Number);
  const tile = Number(read("tile"));
  return {
    run: unescape(read("run")), against: unescape(read("against")),
    view: oneOf(read("view"), ["look", "contexts", "compare", "advice", "method", "details"] as const, "look"),
    layout: oneOf(read("layout"), ["both", "gallery", "map", "table"] as const, "both"),
    method: unescape(read("method")), set: unpackSet(read("set")),
    context: unpackSet(read("context")), options: unpackOptions(read("options")), feature: unescape(read("feature")),
    parts: read("parts").split(".").filter(Boolean).map(Number).filter(Number.isInteger),
    order: oneOf(read("order"), kOrders.map((order) => order.value), "sure"), criteria: unpackCriteria(unescape(read("only"))),
    colorBy: oneOf(read("color"), ["part", "class", "margin", "word"] as const, "part"),
    axes: oneOf(read("axes"), ["place", "neighbors"] as const, read("axes") ? "own" : "pca"),
    axisParts: axisParts.length === 2 && axisParts.every(Number.isInteger)
      ? (axisParts as Pair) : [0, 1],
    camera: read("zoom") ? unpackCamera(read("zoom")) : kHome,
    showContext: read("background") !== "off",
    tile: tile >= 40 && tile <= 320 ? tile : kDefaultLink.tile,
    selection: unpackRows(read("rows")),
  };
}
