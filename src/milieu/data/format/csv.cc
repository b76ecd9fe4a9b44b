// SPDX-License-Identifier: Apache-2.0
// Two passes over the text. The first counts lines in blocks that are cut at line ends, so that
// every block knows its first row; the second parses all blocks in parallel, straight into the
// result. A block stops at its first fault, and the fault of the lowest block is thrown: the first
// one of the file, whatever the threads did.
#include "milieu/data/format/csv.h"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "milieu/base/assert.h"
#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/data/format/csv_cells.h"
#include "milieu/data/format/csv_layout.h"
#include "milieu/data/format/numbers.h"
#include "milieu/data/printable.h"

namespace milieu {
namespace {

using namespace internal;

// One piece of the body and what was found in it.
struct TextBlock {
  std::string_view text;
  int64_t first_row = 0;
  int64_t num_rows = 0;
  TextPool classes;   // distinct labels of this block
  std::string fault;  // message of the first fault; empty: none
};

// Where rows go. `numbers` stays unallocated when the text is too short to fill it: then some line
// must be faulty, and parsing only looks for it.
struct Sink {
  Matrix<float> numbers;
  bool stores_numbers = false;
  std::vector<int> label_ids;  // of the block's own pool
  std::vector<std::string> row_names;
};

std::vector<TextBlock> cut_blocks(std::string_view body, int64_t block_bytes) {
  std::vector<TextBlock> blocks;
  const size_t step = static_cast<size_t>(std::max<int64_t>(1, block_bytes));
  for (size_t begin = 0; begin < body.size();) {
    size_t end = body.find('\n', std::min(body.size(), begin + step - 1));
    end = end == std::string_view::npos ? body.size() : end + 1;
    blocks.emplace_back().text = body.substr(begin, end - begin);
    begin = end;
  }
  return blocks;
}

// Sets num_rows and first_row of every block and returns the number of rows.
int64_t count_rows(std::vector<TextBlock>& blocks, int num_threads) {
  const int64_t count = static_cast<int64_t>(blocks.size());
  parallel_for(count, 1, num_threads, [&](const Block& part) {
    TextBlock& block = blocks[static_cast<size_t>(part.index)];
    block.num_rows = std::count(block.text.begin(), block.text.end(), '\n');
    if (!block.text.ends_with('\n')) ++block.num_rows;
  });
  int64_t rows = 0;
  for (TextBlock& block : blocks) block.first_row = std::exchange(rows, rows + block.num_rows);
  return rows;
}

// Parses the lines of one block.
class LineParser {
 public:
  LineParser(const CsvLayout& layout, const std::string& source, bool allow_non_finite,
             TextBlock& block, Sink& sink)
      : layout_(layout),
        source_(source),
        allow_non_finite_(allow_non_finite),
        block_(block),
        sink_(sink) {}

  void parse_block() {
    std::string_view rest = block_.text;
    std::vector<float> scratch(sink_.stores_numbers ? 0 : layout_.roles.size());
    for (int64_t row = block_.first_row; !rest.empty(); ++row) {
      row_ = row;
      line_ = take_line(rest);
      to_ = sink_.stores_numbers ? sink_.numbers.row(row) : scratch.data();
      parse_line();
    }
  }

 private:
  [[noreturn]] void fail(int64_t column, const std::string& fault) const {
    throw DataError(cell_place(layout_, source_, line_number(), column) + ": " + fault);
  }
  int64_t line_number() const { return layout_.first_line + row_; }

  void parse_line() {
    const int64_t columns = layout_.num_columns();
    size_t at = 0;
    for (int64_t j = 0; j < columns; ++j) {
      const bool is_last = j + 1 == columns;
      const ColumnRole role = layout_.roles[static_cast<size_t>(j)];
      if (role == ColumnRole::Number && read_plain_number(at, is_last)) continue;
      Cell cell;
      const CellEnd end = read_cell(line_, at, layout_.delimiter, cell);
      check_end(end, j, is_last);
      take_cell(cell, role, j);
    }
  }

  // The fast path, taken by nearly all cells: an unquoted finite number and its delimiter, without
  // looking twice. False (and nothing moved) for anything else.
  bool read_plain_number(size_t& at, bool is_last) {
    const char delimiter = layout_.delimiter;
    const char* begin = line_.data() + at;
    const char* const line_end = line_.data() + line_.size();
    while (begin < line_end && is_blank(*begin, delimiter)) ++begin;
    const auto [number_end, error] = fast_float::from_chars(begin, line_end, *to_);
    if (error != std::errc() || !std::isfinite(*to_)) return false;
    const char* end = number_end;
    while (end < line_end && is_blank(*end, delimiter)) ++end;
    if (is_last != (end == line_end)) return false;
    if (!is_last) {
      if (delimiter == kBlanksDelimiter ? end == number_end : *end != delimiter) return false;
      if (delimiter != kBlanksDelimiter) ++end;
    }
    at = static_cast<size_t>(end - line_.data());
    ++to_;
    return true;
  }

  void check_end(CellEnd end, int64_t column, bool is_last) const {
    if (end == CellEnd::QuoteNeverClosed)
      fail(column, "the quote is not closed on this line; line breaks inside cells are not read");
    if (end == CellEnd::TextAfterQuote) fail(column, "text after the closing quote");
    if (is_last == (end == CellEnd::LineEnd)) return;
    if (trim(line_).empty())
      throw DataError(fmt::format("{}, line {} is blank; blank lines are allowed only at the end",
                                  source_, line_number()));
    const auto cells = static_cast<int64_t>(split_line(line_, layout_.delimiter).size());
    throw DataError(fmt::format(
        "{}, line {} has {}, the lines before have {}: every line must have the same number",
        source_, line_number(), counted(cells, "cell"), layout_.num_columns()));
  }

  void take_cell(const Cell& cell, ColumnRole role, int64_t column) {
    switch (role) {
      case ColumnRole::Number:
        *to_++ = to_number(cell, column);
        return;
      case ColumnRole::Label:
        if (cell.text.empty()) fail(column, "empty cell, must hold a label (-1 means none)");
        sink_.label_ids[static_cast<size_t>(row_)] =
            cell.has_doubled ? block_.classes.intern(cell.str()) : block_.classes.intern(cell.text);
        return;
      case ColumnRole::RowName:
        if (!is_utf8(cell.text)) fail(column, "the row name is not UTF-8 text");
        sink_.row_names[static_cast<size_t>(row_)] = cell.str();
        return;
      case ColumnRole::Ignored:
        return;
    }
  }

  float to_number(const Cell& cell, int64_t column) const {
    if (cell.text.empty()) {
      if (trim(line_).empty()) check_end(CellEnd::Delimiter, column, true);
      fail(column, "empty cell, must be a number");
    }
    const auto number = parse_float(cell.text);
    if (!number) fail_text(cell, column);
    if (std::isfinite(*number) || allow_non_finite_) return *number;
    const auto wide = parse_double(cell.text);
    if (std::isfinite(*wide) || cell.text.find_first_of("0123456789") != std::string_view::npos)
      fail(column, fmt::format("{} is too large for a 32-bit float", printable(cell.text)));
    fail(column, fmt::format("{}, must be a finite number", std::isnan(*number) ? "NaN" : "Inf"));
  }

  [[noreturn]] void fail_text(const Cell& cell, int64_t column) const {
    const std::string text = printable(cell.text);
    if (layout_.delimiter != ',' && cell.text.find(',') != std::string_view::npos &&
        cell.text.find_first_not_of("+-0123456789,eE") == std::string_view::npos)
      fail(column, fmt::format("\"{}\" has a decimal comma, must have a decimal point", text));
    const std::string name = layout_.names.empty()
                                 ? std::to_string(column + 1)
                                 : printable(layout_.names[static_cast<size_t>(column)]);
    fail(column, fmt::format("\"{}\" is not a number; if this column holds the classes, set "
                             "label_column to \"{}\"",
                             text, name));
  }

  const CsvLayout& layout_;
  const std::string& source_;
  const bool allow_non_finite_;
  TextBlock& block_;
  Sink& sink_;
  std::string_view line_;
  int64_t row_ = 0;
  float* to_ = nullptr;  // where the line's next number goes
};

// Every number takes a character and a delimiter: a text shorter than that cannot fill the matrix,
// and the matrix is never larger than a few times the text.
void make_room(const CsvLayout& layout, int64_t rows, Sink& sink) {
  const int64_t columns = std::count(layout.roles.begin(), layout.roles.end(), ColumnRole::Number);
  int64_t least_bytes = 0;
  const bool overflows = __builtin_mul_overflow(rows, 2 * columns - 1, &least_bytes);
  const int64_t has_bytes = static_cast<int64_t>(layout.body.size()) + 1;
  sink.stores_numbers = columns > 0 && !overflows && least_bytes <= has_bytes;
  if (sink.stores_numbers) sink.numbers = Matrix<float>(rows, columns);
  if (layout.has(ColumnRole::Label)) sink.label_ids.resize(static_cast<size_t>(rows));
  if (layout.has(ColumnRole::RowName)) sink.row_names.resize(static_cast<size_t>(rows));
}

void parse_blocks(const CsvLayout& layout, const std::string& source, const CsvOptions& options,
                  std::vector<TextBlock>& blocks, Sink& sink) {
  const int64_t count = static_cast<int64_t>(blocks.size());
  parallel_for(count, 1, options.num_threads, [&](const Block& part) {
    TextBlock& block = blocks[static_cast<size_t>(part.index)];
    try {
      LineParser(layout, source, options.allow_non_finite, block, sink).parse_block();
    } catch (const DataError& error) {
      block.fault = error.what();
    }
  });
  for (const TextBlock& block : blocks)
    if (!block.fault.empty()) throw DataError(block.fault);
}

// One pool for the whole file, filled in file order.
Labels merge_labels(const CsvLayout& layout, const std::string& source,
                    const std::vector<TextBlock>& blocks, std::vector<int> ids) {
  TextPool classes;
  for (const TextBlock& block : blocks) {
    std::vector<int> file_from_block;
    for (const std::string& text : block.classes.texts())
      file_from_block.push_back(classes.intern(text));
    for (int64_t row = block.first_row; row < block.first_row + block.num_rows; ++row) {
      int& id = ids[static_cast<size_t>(row)];
      id = file_from_block[static_cast<size_t>(id)];
    }
  }
  const int64_t column =
      std::find(layout.roles.begin(), layout.roles.end(), ColumnRole::Label) - layout.roles.begin();
  return labels_from_pool(std::move(ids), classes.texts(), [&](int64_t row) {
    return cell_place(layout, source, layout.first_line + row, column);
  });
}

CsvTable parse_body(const CsvLayout& layout, const std::string& source, const CsvOptions& options) {
  std::vector<TextBlock> blocks = cut_blocks(layout.body, options.block_bytes);
  const int64_t rows = count_rows(blocks, options.num_threads);
  Sink sink;
  make_room(layout, rows, sink);
  parse_blocks(layout, source, options, blocks, sink);
  MILIEU_ASSERT(sink.stores_numbers || !layout.has(ColumnRole::Number));
  CsvTable table;
  if (layout.has(ColumnRole::Label))
    table.labels = merge_labels(layout, source, blocks, std::move(sink.label_ids));
  for (size_t j = 0; j < layout.names.size(); ++j)
    if (layout.roles[j] == ColumnRole::Number) table.column_names.push_back(layout.names[j]);
  table.numbers = std::move(sink.numbers);
  table.row_names = std::move(sink.row_names);
  return table;
}

}  // namespace

CsvTable parse_csv(std::string_view text, const std::string& source, const CsvOptions& options) {
  return parse_body(find_table_layout(text, source, options), source, options);
}

Labels parse_text_labels(std::string_view text, const std::string& source, int num_threads) {
  CsvOptions options;
  options.num_threads = num_threads;
  return parse_body(find_label_layout(text, source), source, options).labels;
}

}  // namespace milieu
