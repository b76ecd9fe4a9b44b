// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <optional>
#include <utility>

#include "milieu/base/error.h"
#include "milieu/data/format/csv.h"
#include "milieu/data/format/file_kind.h"
#include "milieu/data/format/idx.h"
#include "milieu/data/mapped_file.h"
#include "milieu/data/format/npy.h"
#include "milieu/data/selection.h"
#include "milieu/linalg/finite.h"

namespace milieu {
namespace {

// Rows to keep; nothing when all are kept.
using KeptRows = std::optional<std::vector<int64_t>>;

void require_not_empty(int64_t rows, int64_t cols, const std::string& source) {
  if (rows == 0) throw DataError(fmt::format("{} has no rows, must have at least one", source));
  if (cols == 0) throw DataError(fmt::format("{} has no columns, must have at least one", source));
}

// Classes from the label file, checked against the number of rows; `labels` stays what the data
// file itself says when there is no label file.
void join_labels(const LoadOptions& options, int64_t rows, const std::string& source,
                 Labels& labels) {
  if (options.labels_path.empty()) return;
  labels = load_labels(options.labels_path);
  const int64_t found = static_cast<int64_t>(labels.indices.size());
  if (found != rows)
    throw DataError(fmt::format("{} has {} rows, {} has {}: they must match", options.labels_path,
                                found, source, rows));
}

// Rows that are kept by their class; nothing when all are.
KeptRows rows_of_classes(const LoadOptions& options, const std::string& source,
                         const Labels& labels) {
  if (options.select.empty()) return std::nullopt;
  if (labels.empty())
    throw InvalidArgument(fmt::format("select is \"{}\", but {} has no classes: name a label file",
                                      options.select, source));
  const std::string& labels_source = options.labels_path.empty() ? source : options.labels_path;
  return kept_rows(labels, kept_classes(options.select, labels, labels_source));
}

// Applies the selection to the labels and says which rows are kept.
KeptRows select_rows(const LoadOptions& options, int64_t num_rows, const std::string& source,
                     Labels& labels) {
  KeptRows rows = rows_of_classes(options, source, labels);
  if (!options.rows.empty()) {
    if (options.rows.back() >= num_rows)
      throw DataError(fmt::format("rows names row {}, but {} has {} rows (counted from 0)",
                                  options.rows.back(), source, num_rows));
    std::vector<int64_t> both = options.rows;
    if (rows) {
      both.clear();
      std::set_intersection(rows->begin(), rows->end(), options.rows.begin(), options.rows.end(),
                            std::back_inserter(both));
      if (both.empty())
        throw InvalidArgument(
            fmt::format("select is \"{}\", but none of the given rows of {} is of "
                        "these classes",
                        options.select, source));
    }
    rows = std::move(both);
  }
  if (!rows || static_cast<int64_t>(rows->size()) == num_rows) return std::nullopt;
  if (!labels.empty()) labels = gather_labels(labels, *rows);
  return rows;
}

[[noreturn]] void fail_non_finite(const RawArray& array, int64_t row, int64_t col) {
  const double value = element_at(array, row, col);
  const std::string place =
      fmt::format("{}: row {}, column {} (counted from 0)", array.source, row, col);
  if (std::isfinite(value))
    throw DataError(fmt::format("{} is {}, too large for a 32-bit float", place, value));
  throw DataError(
      fmt::format("{} is {}, must be a finite number", place, std::isnan(value) ? "NaN" : "Inf"));
}

Dataset from_array(const RawArray& array, const LoadOptions& options) {
  if (!options.label_column.empty())
    throw InvalidArgument(
        fmt::format("label_column is \"{}\", but {} has no named columns: name a "
                    "label file instead",
                    options.label_column, array.source));
  require_not_empty(array.rows(), array.cols(), array.source);
  Dataset dataset;
  dataset.total_rows = array.rows();
  join_labels(options, array.rows(), array.source, dataset.labels);
  const KeptRows kept = select_rows(options, array.rows(), array.source, dataset.labels);
  dataset.points =
      kept ? to_points(array, *kept, options.num_threads) : to_points(array, options.num_threads);
  if (!options.allow_non_finite) {
    if (const auto bad = find_non_finite(dataset.points.view(), options.num_threads))
      fail_non_finite(array, kept ? (*kept)[static_cast<size_t>(bad->row)] : bad->row, bad->column);
  }
  if (kept) dataset.rows = *kept;
  dataset.sample_shape.assign(array.shape.begin() + 1, array.shape.end());
  if (dataset.sample_shape.empty()) dataset.sample_shape = {1};
  return dataset;
}

Dataset from_text(std::string_view text, const std::string& source, const LoadOptions& options) {
  CsvOptions csv;
  csv.label_column = options.label_column;
  csv.allow_non_finite = options.allow_non_finite;
  csv.num_threads = options.num_threads;
  if (std::filesystem::path(source).extension() == ".tsv") csv.delimiter = '\t';
  CsvTable table = parse_csv(text, source, csv);
  return make_dataset(Points(std::move(table.numbers)), std::move(table.labels),
                      std::move(table.row_names), source, options);
}

Dataset from_file(const std::string& path, const LoadOptions& options) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw InvalidArgument(
        fmt::format("{} is a folder, must be a file of numbers: turn images into "
                    "features first",
                    path));
  const auto file = MappedFile::open(path);
  const FileKind kind = file_kind(path, file->bytes());
  if (kind == FileKind::Npy) return from_array(open_npy(file, path), options);
  if (kind == FileKind::Idx) return from_array(open_idx(file, path), options);
  return from_text(file->text(), path, options);
}

}  // namespace

Dataset make_dataset(Points points, Labels labels, std::vector<std::string> names,
                     const std::string& source, const LoadOptions& options) {
  Dataset dataset;
  dataset.source = source;
  dataset.total_rows = points.rows();
  dataset.labels = std::move(labels);
  dataset.sample_names = std::move(names);
  join_labels(options, points.rows(), source, dataset.labels);
  dataset.sample_shape = {points.cols()};
  dataset.points = std::move(points);
  KeptRows kept = select_rows(options, dataset.points.rows(), source, dataset.labels);
  if (!kept) return dataset;
  dataset.points = dataset.points.gather(*kept, options.num_threads);
  if (!dataset.sample_names.empty()) {
    std::vector<std::string> kept_names;
    for (const int64_t row : *kept)
      kept_names.push_back(std::move(dataset.sample_names[static_cast<size_t>(row)]));
    dataset.sample_names = std::move(kept_names);
  }
  dataset.rows = std::move(*kept);
  return dataset;
}

std::vector<int64_t> load_row_numbers(const std::string& path) {
  const Dataset file = load_dataset(path);
  const FloatView values = file.points.view();
  if (values.cols() != 1)
    throw DataError(
        fmt::format("{} has {} columns, must have one: row numbers", path, values.cols()));
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < values.rows(); ++i) {
    const float value = values(i, 0);
    // Whole numbers are exact in a float up to 2^24.
    if (!(value >= 0 && value <= (1 << 24)) || value != std::floor(value))
      throw DataError(fmt::format(
          "{} names row {} in entry {}, must be a whole number from 0 to 2^24", path, value, i));
    rows.push_back(static_cast<int64_t>(value));
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

Dataset load_dataset(const std::string& path, const LoadOptions& options) {
  Dataset dataset = from_file(path, options);
  dataset.source = path;
  return dataset;
}

}  // namespace milieu
