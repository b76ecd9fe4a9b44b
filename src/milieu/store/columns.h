// SPDX-License-Identifier: Apache-2.0
// Named columns of a run: what it found out about every sample beside the labels. A run folder
// keeps them as columns.safetensors, and reports and the explorer read them from there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

struct Column {
  std::string name;   // "margins"; names are listed in docs/format.md
  int64_t width = 1;  // numbers per row
  std::variant<std::vector<float>, std::vector<int32_t>> values;  // row after row

  int64_t num_rows() const;
};

// Columns of floats; a matrix gives one column as wide as it is.
Column real_column(std::string name, std::vector<float> values, int64_t width = 1);
Column real_column(std::string name, FloatView values);
Column real_column(std::string name, DoubleView values);
Column whole_column(std::string name, std::vector<int32_t> values, int64_t width = 1);

// Null when there is no such column, or it is of the other kind.
const std::vector<float>* find_reals(const std::vector<Column>& columns, std::string_view name);
const std::vector<int32_t>* find_wholes(const std::vector<Column>& columns, std::string_view name);

inline constexpr const char* kColumnsName = "columns.safetensors";

// Atomic; the layout of model files with the kind "columns".
void write_columns(const std::string& path, const std::vector<Column>& columns);
// Throws IoError or DataError.
std::vector<Column> read_columns(const std::string& path);

}  // namespace milieu
