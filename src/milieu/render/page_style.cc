// SPDX-License-Identifier: Apache-2.0
// One style sheet, in parts: theme, text, layout, components, plots, print. Only system fonts; two
// themes by custom properties; no colour but the accent, the warning's and the clusters'.
#include <fmt/format.h>

#include "milieu/render/page_style_internal.h"

namespace milieu::internal {
namespace {

constexpr const char* kTheme = R"css(
:root {
  color-scheme: light dark;
  --page: #f5f5f2; --card: #ffffff; --ink: #1c1f24; --soft: #565c66; --faint: #727883;
  --rule: #e3e3de; --stripe: #f7f7f4; --accent: #2a66a5; --track: #eeeeea;
  --warn-page: #fdf4e3; --warn-rule: #da942c; --warn-ink: #6b4300;
  --ok: #0b7a71; --heat: 48, 113, 181;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #0e1013; --card: #16181d; --ink: #e7e8ea; --soft: #a9afb9; --faint: #8a919c;
    --rule: #2a2e35; --stripe: #1b1e24; --accent: #7db1e8; --track: #23272e;
    --warn-page: #2b2212; --warn-rule: #b07a26; --warn-ink: #f0cd92;
    --ok: #3fc7b4; --heat: 90, 150, 215;
  }
}
)css";

constexpr const char* kText = R"css(
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans",
    "DejaVu Sans", Arial, sans-serif;
  font-variant-numeric: tabular-nums;
}
h1 { font-size: 1.9rem; line-height: 1.2; font-weight: 650; letter-spacing: -0.015em; margin: 0; }
h2 { font-size: 1.06rem; line-height: 1.3; font-weight: 650; margin: 0; }
h3 { font-size: 0.92rem; line-height: 1.3; font-weight: 600; margin: 0; }
p { margin: 0; }
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: 2px; }
code, pre, .code {
  font-family: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono",
    monospace;
  font-size: 0.86em;
}
.lead { font-size: 1.08rem; color: var(--soft); max-width: 46em; margin-top: 0.6rem; }
.lead strong { color: var(--ink); font-weight: 600; }
.small { font-size: 0.84rem; line-height: 1.45; color: var(--faint); }
.of { color: var(--faint); font-weight: 450; }
)css";

constexpr const char* kLayout = R"css(
main { max-width: 1120px; margin: 0 auto; padding: 1.6rem 1.25rem 2.5rem; }
header { margin: 0 0 1.5rem; }
h1 { overflow-wrap: anywhere; }
.masthead { display: flex; align-items: center; gap: 0.5rem; margin: 0 0 1.3rem;
  font-size: 0.86rem; color: var(--faint); }
.masthead svg { width: 26px; height: 26px; }
.masthead b { color: var(--ink); font-weight: 650; font-size: 1rem; letter-spacing: -0.01em; }
.grid { display: grid; grid-template-columns: repeat(12, minmax(0, 1fr)); gap: 1.1rem; }
.card { background: var(--card); border: 1px solid var(--rule); border-radius: 10px;
  padding: 1.15rem 1.3rem 1.25rem; min-width: 0; }
.card > .small { margin-top: 0.2rem; }
.card > h2 + *, .card > .small + * { margin-top: 0.9rem; }
.narrow { grid-column: span 5; } .half { grid-column: span 6; }
.wide { grid-column: span 7; } .full { grid-column: span 12; }
.stack { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.1rem;
  grid-template-rows: max-content 1fr; }
.stack > .card { grid-column: 1; }
.card p + p { margin-top: 0.5rem; }
.section { margin-top: 1.4rem; }
.section h2 { font-size: 1.4rem; letter-spacing: -0.01em; }
.step { margin-bottom: 0.35rem; }
pre.command + .step { margin-top: 1rem; }
.section .lead { font-size: 1rem; margin-top: 0.3rem; }
footer { margin-top: 1.6rem; color: var(--faint); font-size: 0.84rem; }
@media screen and (max-width: 860px) {
  .grid > .narrow, .grid > .half, .grid > .wide, .grid > .full { grid-column: span 12; }
  main { padding: 1.1rem 0.8rem 2rem; }
  .card { padding: 1rem; }
  h1 { font-size: 1.5rem; }
}
)css";

constexpr const char* kFurniture = R"css(
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: 1px;
  background: var(--card); border: 1px solid var(--rule); border-radius: 10px; overflow: hidden;
  margin: 0 0 1.1rem; }
.tile { box-shadow: 0 0 0 1px var(--rule); padding: 0.8rem 1.1rem 0.85rem; }
.tile dt { font-size: 0.82rem; color: var(--faint); }
.tile dd { margin: 0; }
.tile .value { font-size: 1.5rem; line-height: 1.3; font-weight: 600; letter-spacing: -0.015em; }
.tile .note { font-size: 0.82rem; color: var(--soft); line-height: 1.35; }
.warnings { background: var(--warn-page); border: 1px solid var(--warn-rule);
  border-left-width: 5px; color: var(--warn-ink); border-radius: 8px; padding: 0.8rem 1.1rem;
  margin: 0 0 1.1rem; }
.warnings ul { margin: 0.3rem 0 0; padding-left: 1.1rem; }
.warnings li { overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; line-height: 1.4; }
caption { position: absolute; width: 1px; height: 1px; overflow: hidden;
  clip-path: inset(50%); white-space: nowrap; }
th, td { text-align: left; padding: 0.36rem 0.9rem 0.36rem 0; vertical-align: baseline;
  border-bottom: 1px solid var(--rule); overflow-wrap: break-word; }
th:last-child, td:last-child { padding-right: 0; }
thead th { font-weight: 500; font-size: 0.82rem; color: var(--faint); white-space: nowrap; }
tbody th { font-weight: 500; }
tbody tr:last-child > * { border-bottom: 0; }
.number { text-align: right; white-space: nowrap; }
tr.best > * { background: var(--stripe); font-weight: 600; }
td.soft { color: var(--soft); }
th.code, td.code { white-space: nowrap; }
.swatch { display: inline-block; width: 0.72em; height: 0.72em; border-radius: 50%;
  margin-right: 0.45em; vertical-align: -0.02em; }
.swatch.square { border-radius: 1px; }
.sizes td, .sizes th { padding-top: 0.24rem; padding-bottom: 0.24rem; border-bottom: 0; }
.sizes thead th { padding-bottom: 0.4rem; }
.sizes tbody th { white-space: nowrap; width: 1%; }
.sizes .number { width: 1%; }
.bar, .track { display: block; height: 0.72rem; border-radius: 3px; }
.track { background: var(--track); min-width: 3rem; }
.meter { display: block; height: 0.3rem; border-radius: 2px; background: var(--track);
  min-width: 3.5rem; }
.meter span { display: block; height: 100%; border-radius: 2px; background: var(--accent); }
.heat td { text-align: right; border: 1px solid var(--card); padding: 0.3rem 0.5rem; }
.heat th { padding: 0.3rem 0.7rem 0.3rem 0; border-bottom: 0; white-space: nowrap; }
.heat thead th { text-align: right; padding-right: 0.5rem; }
.heat thead th:first-child { text-align: left; }
pre.command { background: var(--stripe); border: 1px solid var(--rule); border-radius: 7px;
  padding: 0.7rem 0.9rem; margin: 0; overflow-x: auto; user-select: all; white-space: pre-wrap;
  overflow-wrap: anywhere; }
pre.command + pre.command { margin-top: 0.6rem; }
.sheets { display: grid; grid-template-columns: repeat(auto-fill, minmax(14rem, 1fr));
  gap: 1.4rem 1.5rem; }
.sheets figure { margin: 0; }
.sheets .of { float: right; font-size: 0.84rem; }
.sheets figure p { margin: 0.45rem 0 0.2rem; }
.sheet { display: block; width: 100%; height: auto; border-radius: 2px; }
@media screen and (prefers-color-scheme: dark) { .sheet { background: var(--rule); } }
)css";

constexpr const char* kPlots = R"css(
figure { margin: 0; }
figcaption { font-size: 0.84rem; line-height: 1.45; color: var(--faint); margin-top: 0.5rem; }
.plot { display: block; width: 100%; height: auto; overflow: visible; margin: 0 auto; }
.plot text { font-size: 12px; fill: var(--soft); }
.plot .axis-title { fill: var(--faint); }
.plot .x-axis .axis-title { text-anchor: middle; }
.plot .x-axis .tick { text-anchor: middle; }
.plot .y-axis .tick { text-anchor: end; }
.plot .axis-line { stroke: var(--faint); stroke-opacity: 0.6; fill: none; stroke-width: 1; }
.plot .grid { stroke: var(--rule); fill: none; stroke-width: 1; }
.plot .line:not(.own) { stroke: var(--accent); }
.plot .line { stroke-width: 2; fill: none; stroke-linejoin: round;
  stroke-linecap: round; }
.plot .markers circle { fill: var(--card); stroke: var(--accent); stroke-width: 2; }
.plot .markers circle:hover { fill: var(--accent); }
.plot .hover-markers circle { fill: var(--accent); fill-opacity: 0; }
.plot .hover-markers circle:hover { fill-opacity: 0.25; }
.plot .bars rect:hover { fill-opacity: 0.75; }
.plot .dots { fill: none; stroke-opacity: 0.85; transition: stroke-opacity 0.12s; }
.plot .label { font-size: 14px; font-weight: 700; fill: var(--ink); text-anchor: middle;
  stroke: var(--card); stroke-width: 4px; stroke-linejoin: round; paint-order: stroke;
  pointer-events: none; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 0.15rem 0.35rem; padding: 0;
  margin: 0.5rem 0 0; font-size: 0.86rem; color: var(--soft); }
.legend li { padding: 0.08rem 0.55rem; border-radius: 1rem; cursor: default;
  overflow-wrap: anywhere; }
.legend li:hover { background: var(--track); color: var(--ink); }
@media screen and (max-width: 560px) {
  .plot text { font-size: 15px; }
  .plot .label { font-size: 17px; }
}
)css";

constexpr const char* kPrint = R"css(
@media print {
  html { font-size: 12px; }
  body { font-size: 1rem; background: none; }
  main { max-width: none; padding: 0; }
  .card, .tiles, .warnings, .sheets figure, tr { break-inside: avoid; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
)css";

}  // namespace

std::string page_style() {
  std::string style = std::string(kTheme) + kText + kLayout + kFurniture + kPlots;
  for (int i = 0; i < kMaxLegendEntries; ++i)
    style += fmt::format(".map:has(.e{0}:hover) .dots:not(.k{0}){{stroke-opacity:.07}}\n", i);
  return style + kPrint;
}

}  // namespace milieu::internal
