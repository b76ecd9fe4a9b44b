// SPDX-License-Identifier: Apache-2.0
// Colours of the parts. The first eight are Okabe and Ito's set, whose members stay distinct for all
// common kinds of colour blindness (its yellow is darkened on light ground, its black replaced);
// later ones come from Paul Tol's muted scheme. A part is never identified by colour alone: each has its
// number beside it.

const kLight = [
  "#0072b2", "#d55e00", "#009e73", "#b3589a", "#b08800", "#2e93cf", "#7a5195", "#6b6b6b",
  "#882255", "#117733", "#aa4466", "#332288", "#8c8c2f", "#389486", "#661100", "#5f8fc4",
];
const kDark = [
  "#4da6e0", "#f0803c", "#2fc49a", "#dd8fc4", "#f0e442", "#8fd0f5", "#b79ae0", "#b5b5b5",
  "#d0668f", "#5fbf6f", "#e38aa0", "#9488e8", "#cfcf6a", "#7fdccb", "#d08a6f", "#a8c8ea",
];

export const kNoPart = { light: "#646b73", dark: "#9aa1a8" };

export function partColor(part: number, dark: boolean): string {
  if (part < 0) return dark ? kNoPart.dark : kNoPart.light;
  const list = dark ? kDark : kLight;
  return list[part % list.length];
}

// Classes beside parts: shades of one grey blue, never a part's colour.
export function classShade(index: number, count: number, dark: boolean): string {
  const step = count > 1 ? index / (count - 1) : 0;
  const light = dark ? 38 + 40 * step : 42 + 42 * step;
  return `hsl(212 16% ${Math.round(light)}%)`;
}

export function partColors(count: number, dark: boolean): string[] {
  return Array.from({ length: count }, (_, part) => partColor(part, dark));
}

export function rgbOf(hex: string): [number, number, number] {
  const value = parseInt(hex.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

function luminance(hex: string): number {
  const [r, g, b] = rgbOf(hex).map((v) => {
    const c = v / 255;
    return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

// Contrast as the web's accessibility rules count it: 1 (none) to 21.
export function contrast(a: string, b: string): number {
  const [high, low] = [luminance(a), luminance(b)].sort((p, q) => q - p);
  return (high + 0.05) / (low + 0.05);
}

// Black or white, whichever is easier to read on the colour.
export function inkOn(hex: string): string {
  return contrast(hex, "#ffffff") >= contrast(hex, "#000000") ? "#ffffff" : "#000000";
}

function hexOf(rgb: number[]): string {
  return "#" + rgb.map((v) => Math.round(v).toString(16).padStart(2, "0")).join("");
}

// Points of the cividis scale: even in lightness and the same for all kinds of sight.
const kScale = ["#00204c", "#213d6b", "#555b6c", "#7b7a77", "#a59c74", "#d3c064", "#ffe945"];

// `t` in [0, 1].
export function scaleColor(t: number): string {
  const place = Math.min(1, Math.max(0, Number.isFinite(t) ? t : 0)) * (kScale.length - 1);
  const low = Math.min(kScale.length - 2, Math.floor(place));
  const a = rgbOf(kScale[low]);
  const b = rgbOf(kScale[low + 1]);
  return hexOf(a.map((v, i) => v + (b[i] - v) * (place - low)));
}

export function scaleColors(count: number): string[] {
  return Array.from({ length: count }, (_, i) => scaleColor(count > 1 ? i / (count - 1) : 0.5));
}
