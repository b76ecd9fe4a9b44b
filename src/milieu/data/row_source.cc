// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/row_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <optional>
#include <utility>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/data/format/csv.h"
#include "milieu/data/format/file_kind.h"
#include "milieu/data/format/idx.h"
#include "milieu/data/format/npy.h"
#include "milieu/data/format/npy_folder.h"
#include "milieu/data/mapped_file.h"
#include "milieu/data/selection.h"
#include "milieu/linalg/finite.h"

namespace milieu {

// One of the two holds the numbers: an array in a file, or points in memory.
struct RowSource::Content {
  std::optional<RawArray> array;
  Points points;
  Labels labels;
  std::vector<std::string> names;
  std::string source;
  LoadOptions options;

  int64_t num_rows() const { return array ? array->rows() : points.rows(); }
};

namespace {

// Rows to keep; nothing when all are kept.
using KeptRows = std::optional<std::vector<int64_t>>;

void require_not_empty(int64_t rows, int64_t cols, const std::string& source) {
  if (rows == 0) throw DataError(fmt::format("{} has no rows, must have at least one", source));
  if (cols == 0) throw DataError(fmt::format("{} has no columns, must have at least one", source));
}

// Classes from the label file, checked against the number of rows; without a label file `labels`
// stays what the data file itself says.
void join_labels(const LoadOptions& options, int64_t rows, const std::string& source,
                 Labels& labels) {
  if (options.labels_path.empty()) return;
  labels = load_labels(options.labels_path);
  const int64_t found = static_cast<int64_t>(labels.indices.size());
  if (found != rows)
    throw DataError(fmt::format("{} has {}, {} has {}: they must match", options.labels_path,
                                counted(found, "row"), source, rows));
}

// Rows that are kept by their class; nothing when all are.
KeptRows rows_of_classes(const std::string& select, const RowSource& source) {
  if (select.empty()) return std::nullopt;
  if (source.labels().empty())
    throw InvalidArgument(fmt::format("select is \"{}\", but {} has no classes: give a label file",
                                      select, source.source()));
  return kept_rows(source.labels(), kept_classes(select, source.labels(), source.labels_source()));
}

KeptRows choose_rows(const std::string& select, const std::vector<int64_t>& among,
                     const RowSource& source) {
  KeptRows rows = rows_of_classes(select, source);
  if (!among.empty()) {
    if (among.back() >= source.num_rows())
      throw DataError(fmt::format("rows names row {}, but {} has {} (counted from 0)", among.back(),
                                  source.source(), counted(source.num_rows(), "row")));
    std::vector<int64_t> both = among;
    if (rows) {
      both.clear();
      std::set_intersection(rows->begin(), rows->end(), among.begin(), among.end(),
                            std::back_inserter(both));
      if (both.empty())
        throw InvalidArgument(
            fmt::format("select is \"{}\", but none of the given rows of {} is of these classes",
                        select, source.source()));
    }
    rows = std::move(both);
  }
  if (!rows || static_cast<int64_t>(rows->size()) == source.num_rows()) return std::nullopt;
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

Dataset take_from_array(const RawArray& array, const KeptRows& kept, const LoadOptions& options) {
  Dataset dataset;
  dataset.points =
      kept ? to_points(array, *kept, options.num_threads) : to_points(array, options.num_threads);
  if (!options.allow_non_finite) {
    if (const auto bad = find_non_finite(dataset.points.view(), options.num_threads))
      fail_non_finite(array, kept ? (*kept)[static_cast<size_t>(bad->row)] : bad->row, bad->column);
  }
  dataset.sample_shape.assign(array.shape.begin() + 1, array.shape.end());
  if (dataset.sample_shape.empty()) dataset.sample_shape = {1};
  return dataset;
}

RowSource::Content open_array(RawArray array, const LoadOptions& options) {
  if (!options.label_column.empty())
    throw InvalidArgument(
        fmt::format("label_column is \"{}\", but {} has no named columns: give a "
                    "label file instead",
                    options.label_column, array.source));
  require_not_empty(array.rows(), array.cols(), array.source);
  RowSource::Content content;
  join_labels(options, array.rows(), array.source, content.labels);
  content.array = std::move(array);
  return content;
}

RowSource::Content read_text(std::string_view text, const std::string& source,
                             const LoadOptions& options) {
  CsvOptions csv;
  csv.label_column = options.label_column;
  csv.allow_non_finite = options.allow_non_finite;
  csv.num_threads = options.num_threads;
  if (std::filesystem::path(source).extension() == ".tsv") csv.delimiter = '\t';
  CsvTable table = parse_csv(text, source, csv);
  RowSource::Content content;
  content.points = Points(std::move(table.numbers));
  content.labels = std::move(table.labels);
  content.names = std::move(table.row_names);
  join_labels(options, content.points.rows(), source, content.labels);
  return content;
}

RowSource::Content open_folder(const std::string& path, const LoadOptions& options) {
  const NpyFolder folder = open_npy_folder(path);
  RowSource::Content content;
  join_labels(options, folder.num_rows, path, content.labels);
  content.points = load_rows(folder, 0, folder.num_rows, options.num_threads);
  if (options.allow_non_finite) return content;
  if (const auto bad = find_non_finite(content.points.view(), options.num_threads))
    throw DataError(fmt::format("{}: row {}, column {} (counted from 0) is not a finite number",
                                path, bad->row, bad->column));
  return content;
}

RowSource::Content open_file(const std::string& path, const LoadOptions& options) {
  std::error_code error;
  if (is_npy_folder(path)) return open_folder(path, options);
  if (std::filesystem::is_directory(path, error))
    throw InvalidArgument(
        fmt::format("{} is a folder, must be a file of numbers: turn images into "
                    "features first",
                    path));
  const auto file = MappedFile::open(path);
  const FileKind kind = file_kind(path, file->bytes());
  if (kind == FileKind::Npy) return open_array(open_npy(file, path), options);
  if (kind == FileKind::Idx) return open_array(open_idx(file, path), options);
  return read_text(file->text(), path, options);
}

}  // namespace

RowSource RowSource::open(const std::string& path, const LoadOptions& options) {
  auto content = std::make_shared<Content>(open_file(path, options));
  content->source = path;
  content->options = options;
  return RowSource(std::move(content));
}

RowSource RowSource::of(Points points, Labels labels, std::vector<std::string> names,
                        const std::string& source, const LoadOptions& options) {
  auto content = std::make_shared<Content>();
  content->labels = std::move(labels);
  join_labels(options, points.rows(), source, content->labels);
  content->points = std::move(points);
  content->names = std::move(names);
  content->source = source;
  content->options = options;
  return RowSource(std::move(content));
}

int64_t RowSource::num_rows() const { return content_->num_rows(); }
const Labels& RowSource::labels() const { return content_->labels; }
const std::string& RowSource::source() const { return content_->source; }

const std::string& RowSource::labels_source() const {
  return content_->options.labels_path.empty() ? content_->source : content_->options.labels_path;
}

Dataset RowSource::take(const std::string& select, const std::vector<int64_t>& rows) const {
  const Content& all = *content_;
  const KeptRows kept = choose_rows(select, rows, *this);
  Dataset dataset;
  if (all.array) {
    dataset = take_from_array(*all.array, kept, all.options);
  } else {
    dataset.points = kept ? all.points.gather(*kept, all.options.num_threads) : all.points;
    dataset.sample_shape = {dataset.points.cols()};
  }
  dataset.source = all.source;
  dataset.total_rows = all.num_rows();
  dataset.labels = kept && !all.labels.empty() ? gather_labels(all.labels, *kept) : all.labels;
  if (!kept) {
    dataset.sample_names = all.names;
    return dataset;
  }
  if (!all.names.empty())
    for (const int64_t row : *kept)
      dataset.sample_names.push_back(all.names[static_cast<size_t>(row)]);
  dataset.rows = *kept;
  return dataset;
}

}  // namespace milieu
