// SPDX-License-Identifier: Apache-2.0
// Descriptions of what users bring: arrays, tables, labels, groups, images.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/data/format/csv.h"
#include "milieu/data/format/csv_layout.h"
#include "milieu/data/format/file_kind.h"
#include "milieu/data/format/idx.h"
#include "milieu/data/format/npy.h"
#include "milieu/data/format/raw_array.h"
#include "milieu/data/groups.h"
#include "milieu/data/image_folder.h"
#include "milieu/data/labels.h"
#include "milieu/data/mapped_file.h"
#include "milieu/data/printable.h"
#include "milieu/linalg/finite.h"
#include "milieu/store/describe_internal.h"

namespace milieu::internal {

namespace {

std::string names_text(const std::vector<std::string>& names) {
  std::vector<std::string> safe;
  for (const std::string& name : names) safe.push_back(printable(name));
  return printable_list(safe);
}

void add_classes(const Labels& labels, Description& description) {
  description.add("classes", fmt::format("{} ({})", labels.names.size(), names_text(labels.names)));
  const auto num_none = std::count(labels.indices.begin(), labels.indices.end(), -1);
  if (num_none > 0) description.add("without a class", fmt::format("{}", num_none));
}

bool holds_whole_numbers(ElementType type) {
  return type != ElementType::Float16 && type != ElementType::Float32 &&
         type != ElementType::Float64;
}

// The classes that the array could hold: one column of whole numbers or of texts.
std::optional<Labels> labels_in(const RawArray& array, const std::string& path) {
  if (!holds_whole_numbers(array.type) || array.cols() != 1 || array.rows() == 0)
    return std::nullopt;
  return load_labels(path);
}

std::string describe_array(const RawArray& array, const std::string& path, const char* what) {
  Description description(path, what);
  const bool is_swapped = array.is_big_endian && array.item_bytes > 1;
  description.add("type", fmt::format("{}{}, {} order", element_name(array.type),
                                      is_swapped ? ", big-endian" : "",
                                      array.is_fortran_order ? "Fortran" : "C"));
  description.add("shape", milieu::shape_text(array.shape));
  if (!array.is_text())
    description.add("samples",
                    fmt::format("{} of {}", array.rows(), counted(array.cols(), "number")));
  if (const auto labels = labels_in(array, path)) add_classes(*labels, description);
  return description.text();
}

std::string describe_labels(const Labels& labels, const std::string& path) {
  Description description(path, "labels");
  description.add("samples", fmt::format("{}", labels.indices.size()));
  add_classes(labels, description);
  return description.text();
}

// `label_column` is set when the table can only be read with that column named.
std::string describe_table(const CsvTable& table, const std::string& path,
                           const std::string& label_column = "") {
  Description description(path, "text table");
  description.add("samples", fmt::format("{} of {}", table.numbers.rows(),
                                         counted(table.numbers.cols(), "number")));
  if (!table.column_names.empty()) description.add("columns", names_text(table.column_names));
  if (!table.labels.empty()) add_classes(table.labels, description);
  if (!label_column.empty())
    description.add("label column",
                    fmt::format("{0} (read it with --label-column {0})", label_column));
  if (const auto bad = find_non_finite(table.numbers.view()))
    description.add("not finite", fmt::format("first in row {}, column {} (counted from 0)",
                                              bad->row, bad->column));
  return description.text();
}

std::string describe_groups(const Groups& groups, const std::string& path) {
  Description description(path, "groups");
  description.add("groups", fmt::format("{}", groups.num_groups()));
  description.add("samples", fmt::format("{}", groups.num_samples));
  description.add("members", fmt::format("{}", groups.members.size()));
  return description.text();
}

// What `read` returns, or nothing when it finds the text to be of another kind.
template <class Read>
auto attempt(Read&& read) -> std::optional<decltype(read())> {
  try {
    return read();
  } catch (const Error&) {
    return std::nullopt;
  }
}

// A table whose only column of words has not been named as the column of classes.
std::optional<std::string> describe_table_with_words(std::string_view text, const std::string& path,
                                                     CsvOptions options) {
  const auto layout = attempt([&] { return find_table_layout(text, path, options); });
  if (!layout) return std::nullopt;
  for (int64_t column = layout->num_columns(); column >= 1; --column) {
    options.label_column = fmt::format("{}", column);
    const auto table = attempt([&] { return parse_csv(text, path, options); });
    if (!table || table->numbers.cols() == 0) continue;
    return describe_table(
        *table, path,
        layout->names.empty() ? options.label_column : printable(layout->names[column - 1]));
  }
  return std::nullopt;
}

// Text may be a table, labels or groups: the readers say which. A single column of whole numbers or
// words, and a run's labels.csv, are labels; what no reader takes gets the table reader's
// complaint.
std::string describe_text(std::string_view text, const std::string& path) {
  CsvOptions options;
  options.allow_non_finite = true;
  if (path.ends_with(".tsv")) options.delimiter = '\t';
  const auto table = attempt([&] { return parse_csv(text, path, options); });
  if (table && table->numbers.cols() > 1) return describe_table(*table, path);
  if (!table && !text.empty()) {
    if (const auto groups = attempt([&] { return parse_groups(text, path); }))
      return describe_groups(*groups, path);
  }
  if (const auto labels = attempt([&] { return parse_text_labels(text, path); }))
    return describe_labels(*labels, path);
  if (!table)
    if (const auto described = describe_table_with_words(text, path, options)) return *described;
  return describe_table(table ? *table : parse_csv(text, path, options), path);
}

}  // namespace

std::string describe_data_file(const std::string& path) {
  const auto file = MappedFile::open(path);
  switch (file_kind(path, file->bytes())) {
    case FileKind::Npy:
      return describe_array(open_npy(file, path), path, "numpy array");
    case FileKind::Idx:
      return describe_array(open_idx(file, path), path, "idx array");
    case FileKind::Text:
      break;
  }
  return describe_text(file->text(), path);
}

std::string describe_image_folder(const std::string& path) {
  const auto folder = attempt([&] { return list_image_folder(path); });
  if (!folder)
    throw DataError(path + " is a folder with neither a run (summary.json) nor images in it");
  Description description(path, "image folder");
  description.add("images", fmt::format("{}", folder->paths.size()));
  if (!folder->labels.empty()) add_classes(folder->labels, description);
  if (!folder->skipped.empty())
    description.add("skipped", fmt::format("{} (first: {}, {})", folder->skipped.size(),
                                           printable(folder->skipped[0].path),
                                           printable(folder->skipped[0].reason)));
  return description.text();
}

}  // namespace milieu::internal
