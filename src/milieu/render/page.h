// SPDX-License-Identifier: Apache-2.0
// The frame and the building blocks of our pages: one self-contained HTML file, light and dark,
// printable, from phone to desktop width; cards, tiles and tables in it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/render/color.h"
#include "milieu/render/html.h"

namespace MILIEU_API milieu {

// The whole file around `body` (markup). `title` is the window's title.
std::string render_page(std::string_view title, std::string_view body);

// Milieu's mark and a line of small text beside it: the top of every page.
void add_masthead(Markup& page, std::string_view text);

// The bottom of every page: which version made it, and `note` (may be empty).
void add_footer(Markup& page, std::string_view note);

// A heading between cards, with a paragraph below it.
void add_section(Markup& page, std::string_view title, std::string_view text);

// How many of the page's twelve columns a card takes on a wide screen.
enum class CardWidth { Narrow, Half, Wide, Full };

// A titled card; `subtitle` is a sentence in small print and may be empty. Close with close_card.
void open_card(Markup& page, CardWidth width, std::string_view title,
               std::string_view subtitle = {});
void close_card(Markup& page);

// A key figure. `note` is the small line below, `exact` the title attribute; both may be empty.
struct Tile {
  std::string label;
  std::string value;
  std::string note;
  std::string exact;
};
void add_tiles(Markup& page, std::span<const Tile> tiles);

enum class ColumnKind { Text, Number, Code };

struct TableColumn {
  std::string header;
  ColumnKind kind = ColumnKind::Text;
};

// Cells are text; rows shorter than the header are filled with empty cells. `highlighted` marks a
// row, -1 none. `caption` is for screen readers.
struct Table {
  std::string caption;
  std::vector<TableColumn> columns;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> links;  // where the first cell of each row leads; empty: nowhere
  int highlighted = -1;
};
void add_table(Markup& page, const Table& table);

// A small square (or round) patch of a cluster's colour.
void add_swatch(Markup& page, int cluster);

// A list of sentences in a box that cannot be missed; nothing when there are none.
void add_warnings(Markup& page, const std::vector<std::string>& warnings);

// Text to be copied: a command line.
void add_command(Markup& page, std::string_view command);

}  // namespace milieu
