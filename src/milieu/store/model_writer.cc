// SPDX-License-Identifier: Apache-2.0
// Writing of model files. docs/format.md describes the layout.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "milieu/base/assert.h"
#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/summary.h"
#include "milieu/data/atomic_file.h"
#include "milieu/store/json_internal.h"
#include "milieu/store/model_file.h"
#include "milieu/store/model_format_internal.h"

namespace milieu {

namespace {

using internal::OrderedJson;
using NamedArray = std::pair<std::string, StoredArray>;

void check_array(const std::string& name, const StoredArray& array, std::set<std::string>& names) {
  require(name != internal::kMetadataKey && names.insert(name).second, [&] {
    return fmt::format("array name '{}' is taken: each must occur once and not be {}", name,
                       internal::kMetadataKey);
  });
  require(internal::element_size(array.dtype) > 0, [&] {
    return fmt::format("array '{}' has dtype '{}', must be one of {}", name, array.dtype,
                       internal::known_dtypes());
  });
  const int64_t needed = internal::array_bytes(array.dtype, array.shape);
  require(needed == static_cast<int64_t>(array.bytes.size()), [&] {
    return fmt::format("array '{}' has {}, but {} of shape {} needs {}", name,
                       counted(array.bytes.size(), "byte"), array.dtype,
                       internal::shape_text(array.shape), needed);
  });
}

std::vector<const NamedArray*> arrays_in_file_order(const ModelFile& file) {
  std::vector<const NamedArray*> arrays;
  for (const NamedArray& array : file.arrays) arrays.push_back(&array);
  std::stable_sort(arrays.begin(), arrays.end(), [](const NamedArray* a, const NamedArray* b) {
    return internal::element_size(a->second.dtype) > internal::element_size(b->second.dtype);
  });
  return arrays;
}

OrderedJson metadata_of(const ModelFile& file) {
  OrderedJson metadata;
  metadata[internal::kChecksumKey] =
      fmt::format("{}{}", internal::kChecksumPrefix, internal::kChecksumZeros);
  metadata[internal::kKindKey] = file.kind;
  metadata[internal::kFormatVersionKey] = fmt::format("{}", file.format_version);
  metadata[internal::kMilieuVersionKey] =
      file.milieu_version.empty() ? version() : file.milieu_version;
  if (!file.options_json.empty()) metadata[internal::kOptionsKey] = file.options_json;
  if (!file.scalars.empty()) {
    OrderedJson scalars;
    for (const auto& [name, text] : file.scalars) {
      require(!scalars.contains(name), [&name = name] {
        return fmt::format("scalar name '{}' is taken: each must occur once", name);
      });
      scalars[name] = text;
    }
    metadata[internal::kScalarsKey] = internal::to_line(scalars);
  }
  return metadata;
}

// The header with zeros for the checksum's digits, padded with spaces.
std::string header_of(const ModelFile& file, const std::vector<const NamedArray*>& arrays) {
  OrderedJson header;
  header[internal::kMetadataKey] = metadata_of(file);
  int64_t offset = 0;
  for (const NamedArray* named : arrays) {
    const auto& [name, array] = *named;
    const int64_t end = offset + static_cast<int64_t>(array.bytes.size());
    header[name] = {
        {"dtype", array.dtype}, {"shape", array.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = internal::to_line(header);
  text.resize(
      (text.size() + internal::kAlignment - 1) / internal::kAlignment * internal::kAlignment, ' ');
  return text;
}

// Calls add(data, size) for the pieces of the file, in order.
template <class Add>
void add_pieces(const ModelFile& file, Add&& add) {
  require(!file.kind.empty(), "a model file needs a kind: it is empty");
  std::set<std::string> names;
  for (const auto& [name, array] : file.arrays) check_array(name, array, names);
  const std::vector<const NamedArray*> arrays = arrays_in_file_order(file);
  std::string header = header_of(file, arrays);

  const uint64_t length = header.size();
  internal::Checksum checksum;
  checksum.add(&length, sizeof(length));
  checksum.add(header.data(), header.size());
  for (const NamedArray* array : arrays)
    checksum.add(array->second.bytes.data(), array->second.bytes.size());
  const size_t digits = header.find(internal::kChecksumPrefix) + internal::kChecksumPrefix.size();
  header.replace(digits, internal::kChecksumZeros.size(), checksum.digits());

  add(&length, sizeof(length));
  add(header.data(), header.size());
  for (const NamedArray* array : arrays)
    add(array->second.bytes.data(), array->second.bytes.size());
}

}  // namespace

void write_model_file(const std::string& path, const ModelFile& file) {
  std::optional<AtomicFile> out;  // opened once the model has been checked
  add_pieces(file, [&](const void* data, size_t size) {
    if (!out) out.emplace(path);
    out->write(data, size);
  });
  out->commit();
}

std::string model_file_bytes(const ModelFile& file) {
  std::string bytes;
  add_pieces(file, [&](const void* data, size_t size) {
    bytes.append(static_cast<const char*>(data), size);
  });
  return bytes;
}

}  // namespace milieu
