// SPDX-License-Identifier: Apache-2.0
// The visitors that turn a model's arrays and scalars into a ModelFile and back.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <type_traits>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/summary.h"
#include "milieu/data/printable.h"
#include "milieu/store/model_file.h"
#include "milieu/store/model_format_internal.h"

namespace milieu::internal {

namespace {

template <class T>
constexpr const char* dtype_of() {
  if constexpr (std::is_same_v<T, float>) return "F32";
  if constexpr (std::is_same_v<T, double>) return "F64";
  if constexpr (std::is_same_v<T, int>) return "I32";
  if constexpr (std::is_same_v<T, int64_t>) return "I64";
  if constexpr (std::is_same_v<T, uint8_t>) return "U8";
}
static_assert(sizeof(int) == 4 && sizeof(float) == 4 && sizeof(double) == 8);

template <class T>
void store(ModelFile& file, const char* name, std::vector<int64_t> shape, const T* data,
           int64_t count) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  file.arrays.emplace_back(
      name, StoredArray{dtype_of<T>(), std::move(shape), {bytes, bytes + count * sizeof(T)}});
}

template <class T>
void store_matrix(ModelFile& file, const char* name, const Matrix<T>& value) {
  store(file, name, {value.rows(), value.cols()}, value.data(), value.size());
}

template <class T>
void store_vector(ModelFile& file, const char* name, const std::vector<T>& value) {
  const auto count = static_cast<int64_t>(value.size());
  store(file, name, {count}, value.data(), count);
}

const StoredArray& find_array(const ModelFile& file, const std::string& source, const char* name,
                              const char* dtype, size_t rank) {
  const auto entry = std::find_if(file.arrays.begin(), file.arrays.end(),
                                  [&](const auto& named) { return named.first == name; });
  if (entry == file.arrays.end())
    throw DataError(fmt::format("{}: array '{}' of the {} model is missing", source, name,
                                printable(file.kind)));
  const StoredArray& array = entry->second;
  if (array.dtype != dtype || array.shape.size() != rank)
    throw DataError(fmt::format("{}: array '{}' is {} of shape {}, must be {} with {}", source,
                                name, array.dtype, shape_text(array.shape), dtype,
                                counted(rank, "extent")));
  return array;
}

template <class T>
void load_matrix(const ModelFile& file, const std::string& source, const char* name,
                 Matrix<T>& value) {
  const StoredArray& array = find_array(file, source, name, dtype_of<T>(), 2);
  // Rows without columns take no bytes, so the file's size says nothing about their number.
  if (array.shape[0] > 0 && array.shape[1] == 0)
    throw DataError(fmt::format("{}: array '{}' of shape {} has rows without columns", source, name,
                                shape_text(array.shape)));
  value = Matrix<T>(array.shape[0], array.shape[1]);
  if (!array.bytes.empty()) std::memcpy(value.data(), array.bytes.data(), array.bytes.size());
}

template <class T>
void load_vector(const ModelFile& file, const std::string& source, const char* name,
                 std::vector<T>& value) {
  const StoredArray& array = find_array(file, source, name, dtype_of<T>(), 1);
  value.resize(array.shape[0]);
  if (!array.bytes.empty()) std::memcpy(value.data(), array.bytes.data(), array.bytes.size());
}

const std::string& find_scalar(const ModelFile& file, const std::string& source, const char* name) {
  const auto entry = std::find_if(file.scalars.begin(), file.scalars.end(),
                                  [&](const auto& named) { return named.first == name; });
  if (entry == file.scalars.end())
    throw DataError(fmt::format("{}: scalar '{}' of the {} model is missing", source, name,
                                printable(file.kind)));
  return entry->second;
}

template <class Number>
void load_number(const ModelFile& file, const std::string& source, const char* name,
                 const char* wanted, Number& value) {
  const std::string& text = find_scalar(file, source, name);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw DataError(
        fmt::format("{}: scalar '{}' is '{}', must be {}", source, name, printable(text), wanted));
}

}  // namespace

void ArrayWriter::operator()(const char* name, const Matrix<float>& value) {
  store_matrix(file_, name, value);
}
void ArrayWriter::operator()(const char* name, const Matrix<double>& value) {
  store_matrix(file_, name, value);
}
void ArrayWriter::operator()(const char* name, const std::vector<float>& value) {
  store_vector(file_, name, value);
}
void ArrayWriter::operator()(const char* name, const std::vector<double>& value) {
  store_vector(file_, name, value);
}
void ArrayWriter::operator()(const char* name, const std::vector<int>& value) {
  store_vector(file_, name, value);
}
void ArrayWriter::operator()(const char* name, const std::vector<int64_t>& value) {
  store_vector(file_, name, value);
}
void ArrayWriter::operator()(const char* name, const std::vector<uint8_t>& value) {
  store_vector(file_, name, value);
}
void ArrayWriter::operator()(const char* name, const int& value) {
  file_.scalars.emplace_back(name, fmt::format("{}", value));
}
void ArrayWriter::operator()(const char* name, const int64_t& value) {
  file_.scalars.emplace_back(name, fmt::format("{}", value));
}
void ArrayWriter::operator()(const char* name, const double& value) {
  file_.scalars.emplace_back(name, fmt::format("{}", value));  // shortest text of the same bits
}
void ArrayWriter::operator()(const char* name, const std::string& value) {
  file_.scalars.emplace_back(name, value);
}

bool ArrayReader::has(std::string_view name) const {
  const auto has_name = [&](const auto& named) { return named.first == name; };
  return std::any_of(file_.arrays.begin(), file_.arrays.end(), has_name) ||
         std::any_of(file_.scalars.begin(), file_.scalars.end(), has_name);
}

void ArrayReader::operator()(const char* name, Matrix<float>& value) {
  load_matrix(file_, source_, name, value);
}
void ArrayReader::operator()(const char* name, Matrix<double>& value) {
  load_matrix(file_, source_, name, value);
}
void ArrayReader::operator()(const char* name, std::vector<float>& value) {
  load_vector(file_, source_, name, value);
}
void ArrayReader::operator()(const char* name, std::vector<double>& value) {
  load_vector(file_, source_, name, value);
}
void ArrayReader::operator()(const char* name, std::vector<int>& value) {
  load_vector(file_, source_, name, value);
}
void ArrayReader::operator()(const char* name, std::vector<int64_t>& value) {
  load_vector(file_, source_, name, value);
}
void ArrayReader::operator()(const char* name, std::vector<uint8_t>& value) {
  load_vector(file_, source_, name, value);
}
void ArrayReader::operator()(const char* name, int& value) {
  load_number(file_, source_, name, "a whole number of 32 bits", value);
}
void ArrayReader::operator()(const char* name, int64_t& value) {
  load_number(file_, source_, name, "a whole number of 64 bits", value);
}
void ArrayReader::operator()(const char* name, double& value) {
  load_number(file_, source_, name, "a number", value);
}
void ArrayReader::operator()(const char* name, std::string& value) {
  value = find_scalar(file_, source_, name);
}

void check_model_kind(const ModelFile& file, std::string_view kind, int newest_version,
                      const std::string& source) {
  if (file.kind != kind)
    throw DataError(
        fmt::format("{} holds a model of kind {}, must be {}", source, printable(file.kind), kind));
  if (file.format_version > newest_version)
    throw DataError(
        fmt::format("{} has format version {} of {} models (written by Milieu {}), this Milieu {} "
                    "reads up to {}: install a newer one",
                    source, file.format_version, kind, printable(file.milieu_version), version(),
                    newest_version));
}

}  // namespace milieu::internal
