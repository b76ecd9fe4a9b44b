// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/vectors/vector_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "milieu/base/error.h"
#include "milieu/data/dataset.h"
#include "milieu/data/format/npz.h"
#include "milieu/data/format/raw_array.h"
#include "milieu/data/mapped_file.h"
#include "milieu/data/printable.h"
#include "milieu/data/row_names.h"
#include "milieu/linalg/finite.h"

namespace milieu {
namespace {

using nlohmann::json;

constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the limit of safetensors
constexpr std::array kVectorNames = {"vectors", "embeddings", "features", "X", "arr_0"};
constexpr std::array kNameNames = {"names", "paths", "files", "filenames"};

// A file of named arrays, whatever its format.
struct ArrayFile {
  std::vector<NpzMember> arrays;
  std::vector<std::string> names;
};

const RawArray& chosen_matrix(const ArrayFile& file, const std::string& path) {
  std::vector<const NpzMember*> matrices;
  std::vector<std::string> found;
  for (const NpzMember& member : file.arrays) {
    if (member.array.is_text() || member.array.shape.size() != 2) continue;
    matrices.push_back(&member);
    found.push_back(member.name);
  }
  if (matrices.size() == 1) return matrices[0]->array;
  for (const char* name : kVectorNames)
    for (const NpzMember* member : matrices)
      if (member->name == name) return member->array;
  if (matrices.empty())
    throw DataError(fmt::format("{} has no matrix (rows x columns): save one array of it", path));
  throw DataError(fmt::format("{} has the matrices {}: call the one that is meant 'vectors'", path,
                              printable_list(found)));
}

std::vector<std::string> chosen_names(const ArrayFile& file) {
  for (const char* name : kNameNames)
    for (const NpzMember& member : file.arrays)
      if (member.name == name && member.array.is_text()) return to_texts(member.array);
  return file.names;
}

// An array as a safetensors header describes it.
NpzMember tensor_of(const std::string& name, const json& entry, std::span<const std::byte> data,
                    const std::string& path) {
  const auto refuse = [&](const std::string& what) -> DataError {
    return DataError(fmt::format("{}: array {} {}", path, printable(name), what));
  };
  static const std::map<std::string, ElementType> types = {
      {"F16", ElementType::Float16}, {"F32", ElementType::Float32}, {"F64", ElementType::Float64},
      {"U8", ElementType::Uint8},    {"I8", ElementType::Int8},     {"I32", ElementType::Int32},
      {"I64", ElementType::Int64}};
  const json dtype = entry.value("dtype", json()), shape = entry.value("shape", json()),
             offsets = entry.value("data_offsets", json());
  const auto type = types.find(dtype.is_string() ? dtype.get<std::string>() : "");
  if (type == types.end())
    throw refuse(
        fmt::format("has dtype {}, must be F16, F32, F64 or whole numbers: save it as "
                    "float32",
                    printable(dtype.dump())));
  const auto is_size = [](const json& n) { return n.is_number_unsigned() && n <= INT64_MAX; };
  if (!shape.is_array() || shape.empty() || !std::ranges::all_of(shape, is_size) ||
      !offsets.is_array() || offsets.size() != 2 || !std::ranges::all_of(offsets, is_size))
    throw refuse("is not described by shape and data_offsets");
  NpzMember member{name, {}};
  RawArray& array = member.array;
  array.type = type->second;
  array.item_bytes = element_bytes(array.type);
  array.shape = shape.get<std::vector<int64_t>>();
  array.source = fmt::format("{}, array {}", path, printable(name));
  const auto begin = offsets[0].get<uint64_t>(), end = offsets[1].get<uint64_t>();
  std::vector<int64_t> extents = array.shape;
  extents.push_back(array.item_bytes);
  if (begin > end || end > data.size() ||
      checked_product(extents) != static_cast<int64_t>(end - begin))
    throw refuse("is truncated, or its shape does not fit its bytes");
  auto owned = std::make_shared<std::vector<std::byte>>(data.begin() + static_cast<int64_t>(begin),
                                                        data.begin() + static_cast<int64_t>(end));
  array.data = *owned;
  array.owner = std::move(owned);
  return member;
}

ArrayFile parse_safetensors(std::span<const std::byte> bytes, const std::string& path) {
  uint64_t length = 0;
  if (bytes.size() >= sizeof(length)) std::memcpy(&length, bytes.data(), sizeof(length));
  if (length < 2 || length > kMaxHeaderBytes || length > bytes.size() - sizeof(length))
    throw DataError(fmt::format("{} is not a safetensors file, or it is truncated", path));
  const auto* text = reinterpret_cast<const char*>(bytes.data() + sizeof(length));
  const json header = json::parse(text, text + length, nullptr, false);
  if (!header.is_object())
    throw DataError(fmt::format("{} is not a safetensors file: its header is not JSON", path));
  const auto data = bytes.subspan(sizeof(length) + length);
  ArrayFile file;
  for (const auto& [name, entry] : header.items()) {
    if (name != "__metadata__" && entry.is_object())
      file.arrays.push_back(tensor_of(name, entry, data, path));
    else if (name == "__metadata__" && entry.is_object() && entry.contains("names") &&
             entry["names"].is_string())
      file.names = lines_of(entry["names"].get<std::string>());
  }
  return file;
}

VectorFile take_matrix(const ArrayFile& file, const std::string& path, int num_threads) {
  VectorFile out;
  out.points = to_points(chosen_matrix(file, path), num_threads);
  out.names = chosen_names(file);
  if (const auto bad = find_non_finite(out.points.view(), num_threads))
    throw DataError(fmt::format("{}: row {}, column {} (counted from 0) is not a finite number",
                                path, bad->row, bad->column));
  return out;
}

}  // namespace

VectorFile read_vector_file(const std::string& path, int num_threads) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending != ".npz" && ending != ".safetensors") {
    LoadOptions load;
    load.num_threads = num_threads;
    return {load_dataset(path, load).points, {}};
  }
  const auto file = MappedFile::open(path);
  const ArrayFile arrays = ending == ".npz" ? ArrayFile{parse_npz(file->bytes(), path), {}}
                                            : parse_safetensors(file->bytes(), path);
  return take_matrix(arrays, path, num_threads);
}

}  // namespace milieu
