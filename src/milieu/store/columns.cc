// SPDX-License-Identifier: Apache-2.0
#include "milieu/store/columns.h"

#include <fmt/format.h>

#include <cstring>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/store/model_file.h"

namespace milieu {

namespace {

constexpr const char* kKind = "columns";
constexpr int kVersion = 1;

template <class T>
StoredArray store(const std::vector<T>& values, int64_t width, const char* dtype) {
  StoredArray array{dtype, {static_cast<int64_t>(values.size()) / width, width}, {}};
  array.bytes.resize(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

template <class T>
std::vector<T> load(const StoredArray& array) {
  std::vector<T> values(array.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

template <class T>
const std::vector<T>* find(const std::vector<Column>& columns, std::string_view name) {
  for (const Column& column : columns)
    if (column.name == name) return std::get_if<std::vector<T>>(&column.values);
  return nullptr;
}

template <class View>
std::vector<float> flatten(View values) {
  std::vector<float> flat;
  flat.reserve(static_cast<size_t>(values.rows() * values.cols()));
  for (int64_t i = 0; i < values.rows(); ++i)
    for (const auto value : values.row_span(i)) flat.push_back(static_cast<float>(value));
  return flat;
}

}  // namespace

int64_t Column::num_rows() const {
  const size_t size = std::visit([](const auto& list) { return list.size(); }, values);
  return width > 0 ? static_cast<int64_t>(size) / width : 0;
}

Column real_column(std::string name, std::vector<float> values, int64_t width) {
  return {std::move(name), width, std::move(values)};
}

Column real_column(std::string name, FloatView values) {
  return {std::move(name), values.cols(), flatten(values)};
}

Column real_column(std::string name, DoubleView values) {
  return {std::move(name), values.cols(), flatten(values)};
}

Column whole_column(std::string name, std::vector<int32_t> values, int64_t width) {
  return {std::move(name), width, std::move(values)};
}

const std::vector<float>* find_reals(const std::vector<Column>& columns, std::string_view name) {
  return find<float>(columns, name);
}

const std::vector<int32_t>* find_wholes(const std::vector<Column>& columns, std::string_view name) {
  return find<int32_t>(columns, name);
}

void write_columns(const std::string& path, const std::vector<Column>& columns) {
  ModelFile file;
  file.kind = kKind;
  file.format_version = kVersion;
  for (const Column& column : columns) {
    if (column.width < 1) continue;  // a matrix without columns holds nothing
    const auto* reals = std::get_if<std::vector<float>>(&column.values);
    file.arrays.emplace_back(
        column.name,
        reals ? store(*reals, column.width, "F32")
              : store(std::get<std::vector<int32_t>>(column.values), column.width, "I32"));
  }
  write_model_file(path, file);
}

std::vector<Column> read_columns(const std::string& path) {
  const ModelFile file = read_model_file(path);
  internal::check_model_kind(file, kKind, kVersion, path);
  std::vector<Column> columns;
  for (const auto& [name, array] : file.arrays) {
    if (array.shape.size() != 2 || (array.dtype != "F32" && array.dtype != "I32"))
      throw DataError(fmt::format("{}: column '{}' is {} with {}, must be F32 or I32 with 2", path,
                                  name, array.dtype, counted(array.shape.size(), "extent")));
    if (array.dtype == "F32")
      columns.push_back(real_column(name, load<float>(array), array.shape[1]));
    else
      columns.push_back(whole_column(name, load<int32_t>(array), array.shape[1]));
  }
  return columns;
}

}  // namespace milieu
