// SPDX-License-Identifier: Apache-2.0
#include "milieu/render/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "milieu/base/summary.h"
#include "milieu/render/page_style_internal.h"

namespace milieu {
namespace {

constexpr size_t kMaxWarnings = 20;

const char* class_of(CardWidth width) {
  switch (width) {
    case CardWidth::Narrow:
      return "card narrow";
    case CardWidth::Half:
      return "card half";
    case CardWidth::Wide:
      return "card wide";
    case CardWidth::Full:
      return "card full";
  }
  return "card";
}

// The explorer's mark (web/src/app/top_bar.tsx): two sets and the line that separates them.
void add_mark(Markup& page) {
  struct Dot {
    const char *x, *y, *radius, *color, *opacity;
  };
  constexpr Dot kDots[] = {{"6.5", "7", "3", "#0b63b5", "1"},
                           {"6", "15.5", "2", "#0b63b5", ".55"},
                           {"16", "15", "3", "#d55e00", "1"},
                           {"16.5", "6.5", "2", "#d55e00", ".55"}};
  page.open("svg", {{"viewBox", "0 0 22 22"}, {"aria-hidden", "true"}});
  for (const Dot& dot : kDots)
    page.leaf("circle", {{"cx", dot.x},
                         {"cy", dot.y},
                         {"r", dot.radius},
                         {"fill", dot.color},
                         {"opacity", dot.opacity}});
  page.leaf("path", {{"d", "M11.5 2.5c-2 6 2 11 0 17"},
                     {"stroke", "currentColor"},
                     {"stroke-width", "1.6"},
                     {"fill", "none"},
                     {"stroke-linecap", "round"}});
  page.close("svg");
}

const char* cell_class(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::Text:
      return "";
    case ColumnKind::Number:
      return "number";
    case ColumnKind::Code:
      return "code";
  }
  return "";
}

void add_first_cell(Markup& page, const Table& table, size_t row) {
  page.open("th", {{"scope", "row"}, {"class", cell_class(table.columns[0].kind)}});
  const std::string& text = table.rows[row][0];
  const bool has_link = row < table.links.size() && !table.links[row].empty();
  if (has_link) page.element("a", {{"href", table.links[row]}}, text);
  if (!has_link) page.text(text);
  page.close("th");
}

}  // namespace

std::string render_page(std::string_view title, std::string_view body) {
  Markup page;
  page.raw("<!DOCTYPE html>\n").open("html", {{"lang", "en"}}).open("head");
  page.leaf("meta", {{"charset", "utf-8"}});
  page.leaf("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  page.leaf("meta", {{"name", "generator"}, {"content", fmt::format("Milieu {}", version())}});
  page.element("title", title);
  page.open("style").raw(internal::page_style()).close("style");
  page.close("head").open("body").open("main").raw(body);
  page.close("main").close("body").close("html");
  return std::move(page).finish();
}

void add_masthead(Markup& page, std::string_view text) {
  page.open("div", {{"class", "masthead"}});
  add_mark(page);
  page.element("b", "Milieu").element("span", text).close("div");
}

void add_footer(Markup& page, std::string_view note) {
  page.open("footer").text(fmt::format("Made by Milieu {}.", version()));
  if (!note.empty()) page.text(" ").text(note);
  page.close("footer");
}

void add_section(Markup& page, std::string_view title, std::string_view text) {
  page.open("div", {{"class", "section full"}}).element("h2", title);
  page.element("p", {{"class", "lead"}}, text).close("div");
}

void open_card(Markup& page, CardWidth width, std::string_view title, std::string_view subtitle) {
  page.open("section", {{"class", class_of(width)}}).element("h2", title);
  if (!subtitle.empty()) page.element("p", {{"class", "small"}}, subtitle);
}

void close_card(Markup& page) { page.close("section"); }

void add_tiles(Markup& page, std::span<const Tile> tiles) {
  page.open("dl", {{"class", "tiles"}});
  for (const Tile& tile : tiles) {
    page.open("div", {{"class", "tile"}}).element("dt", tile.label);
    page.element("dd", {{"class", "value"}, {"title", tile.exact}}, tile.value);
    if (!tile.note.empty()) page.element("dd", {{"class", "note"}}, tile.note);
    page.close("div");
  }
  page.close("dl");
}

void add_table(Markup& page, const Table& table) {
  page.open("div", {{"class", "scroll"}}).open("table").element("caption", table.caption);
  page.open("thead").open("tr");
  for (const TableColumn& column : table.columns)
    page.element("th", {{"scope", "col"}, {"class", cell_class(column.kind)}}, column.header);
  page.close("tr").close("thead").open("tbody");
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const bool is_best = static_cast<int>(row) == table.highlighted;
    page.open("tr", {{"class", is_best ? "best" : ""}});
    add_first_cell(page, table, row);
    for (size_t c = 1; c < table.columns.size(); ++c)
      page.element("td", {{"class", cell_class(table.columns[c].kind)}},
                   c < table.rows[row].size() ? table.rows[row][c] : "");
    page.close("tr");
  }
  page.close("tbody").close("table").close("div");
}

void add_swatch(Markup& page, int cluster) {
  page.element("span",
               {{"class", has_square_marker(cluster) ? "swatch square" : "swatch"},
                {"style", "background:" + to_hex(cluster_color(cluster))}},
               "");
}

void add_warnings(Markup& page, const std::vector<std::string>& warnings) {
  if (warnings.empty()) return;
  page.open("div", {{"class", "warnings"}, {"role", "note"}});
  page.element("strong", warnings.size() == 1 ? "Warning" : "Warnings").open("ul");
  const size_t shown = std::min(warnings.size(), kMaxWarnings);
  for (size_t i = 0; i < shown; ++i) page.element("li", warnings[i]);
  if (shown < warnings.size())
    page.element("li", fmt::format("... and {} more", warnings.size() - shown));
  page.close("ul").close("div");
}

void add_command(Markup& page, std::string_view command) {
  page.open("pre", {{"class", "command"}}).element("code", command).close("pre");
}

}  // namespace milieu
