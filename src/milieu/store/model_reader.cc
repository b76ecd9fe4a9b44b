// SPDX-License-Identifier: Apache-2.0
// Reading of model files, without trust: whatever the bytes say, the answer is a ModelFile whose
// arrays have exactly the bytes their shapes ask for, or a DataError. Nothing is allocated by a
// size that the file claims before that size is known to be there. docs/format.md describes the
// layout.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <tuple>
#include <utility>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/data/mapped_file.h"
#include "milieu/data/printable.h"
#include "milieu/store/json_internal.h"
#include "milieu/store/model_file.h"
#include "milieu/store/model_format_internal.h"

namespace milieu {

namespace {

using internal::Json;

// An array as the header describes it.
struct Entry {
  std::string name;
  std::string dtype;
  std::vector<int64_t> shape;
  int64_t begin = 0;  // in the data section
  int64_t end = 0;
};

std::string bytes_text(uint64_t count) { return counted(static_cast<int64_t>(count), "byte"); }

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, const std::string& source)
      : bytes_(bytes), source_(source) {}

  ModelFile read() {
    split();
    const Json header = parse_header();
    ModelFile file;
    read_metadata(header, file);
    std::vector<Entry> entries;
    for (const auto& [name, value] : header.items())
      if (name != internal::kMetadataKey) entries.push_back(read_entry(name, value));
    check_layout(entries);
    check_checksum();
    for (const Entry& entry : entries) {
      const auto from = data_.subspan(entry.begin, entry.end - entry.begin);
      file.arrays.emplace_back(entry.name,
                               StoredArray{entry.dtype, entry.shape, {from.begin(), from.end()}});
    }
    return file;
  }

 private:
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    throw DataError(source_ + fmt::format(format, std::forward<Args>(args)...));
  }

  // Finds header and data by the length that comes first.
  void split() {
    if (bytes_.size() < internal::kLengthBytes)
      fail(" is {} long, too short for a model file", bytes_text(bytes_.size()));
    uint64_t length = 0;
    std::memcpy(&length, bytes_.data(), sizeof(length));
    const auto rest = bytes_.subspan(internal::kLengthBytes);
    if (length > internal::kMaxHeaderBytes)
      fail(
          " claims a header of {} bytes, at most {} are allowed: not a model file, or a damaged "
          "one",
          length, internal::kMaxHeaderBytes);
    if (length > rest.size())
      fail(" is truncated: its header takes {}, the file holds {}", bytes_text(length),
           rest.size());
    header_ = {reinterpret_cast<const char*>(rest.data()), static_cast<size_t>(length)};
    data_ = rest.subspan(length);
  }

  Json parse_header() const {
    if (!header_.starts_with('{'))
      fail(" is not a model file: its header does not begin with '{{'");
    internal::ParsedJson parsed = internal::parse_json(header_);
    if (!parsed.problem.empty()) fail(": the header {}", parsed.problem);
    return std::move(parsed.value);
  }

  void read_metadata(const Json& header, ModelFile& file) {
    const auto metadata = header.find(internal::kMetadataKey);
    if (metadata == header.end() || !metadata->is_object() ||
        !metadata->contains(internal::kKindKey))
      fail(" is a safetensors file, but not a Milieu model: it has no {}", internal::kKindKey);
    for (const auto& [key, value] : metadata->items())
      if (!value.is_string()) fail(": metadata '{}' is not text", printable(key));
    file.kind = text_of(*metadata, internal::kKindKey);
    if (file.kind.empty()) fail(": metadata '{}' is empty", internal::kKindKey);
    file.format_version = version_of(text_of(*metadata, internal::kFormatVersionKey));
    file.milieu_version = text_of(*metadata, internal::kMilieuVersionKey);
    file.options_json = metadata->value(std::string(internal::kOptionsKey), "");
    read_scalars(metadata->value(std::string(internal::kScalarsKey), "{}"), file);
    checksum_ = text_of(*metadata, internal::kChecksumKey);
  }

  std::string text_of(const Json& metadata, std::string_view key) const {
    const auto entry = metadata.find(key);
    if (entry == metadata.end()) fail(": metadata '{}' is missing", key);
    return entry->get<std::string>();
  }

  int version_of(const std::string& text) const {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 1)
      fail(": {} is '{}', must be a whole number of at least 1", internal::kFormatVersionKey,
           printable(text));
    return number;
  }

  void read_scalars(const std::string& text, ModelFile& file) const {
    const internal::ParsedJson parsed = internal::parse_json(text);
    if (!parsed.problem.empty()) fail(": metadata '{}' {}", internal::kScalarsKey, parsed.problem);
    if (!parsed.value.is_object()) fail(": metadata '{}' is not an object", internal::kScalarsKey);
    for (const auto& [name, value] : parsed.value.items()) {
      if (!value.is_string()) fail(": scalar '{}' is not text", printable(name));
      file.scalars.emplace_back(name, value.get<std::string>());
    }
  }

  Entry read_entry(const std::string& name, const Json& value) const {
    if (!value.is_object()) fail(": array '{}' is not described by an object", printable(name));
    Entry entry;
    entry.name = name;
    const auto dtype = value.find("dtype");
    if (dtype == value.end() || !dtype->is_string())
      fail(": array '{}' has no dtype", printable(name));
    entry.dtype = dtype->get<std::string>();
    if (internal::element_size(entry.dtype) == 0)
      fail(": array '{}' has dtype '{}', must be one of {}", printable(name),
           printable(entry.dtype), internal::known_dtypes());
    entry.shape = numbers_of(value, "shape", name);
    const std::vector<int64_t> offsets = numbers_of(value, "data_offsets", name);
    if (offsets.size() != 2 || offsets[0] > offsets[1])
      fail(": array '{}' has data_offsets {}, must be [begin, end]", printable(name),
           internal::shape_text(offsets));
    entry.begin = offsets[0];
    entry.end = offsets[1];
    check_size(entry);
    return entry;
  }

  // A list of whole numbers >= 0.
  std::vector<int64_t> numbers_of(const Json& value, const char* key,
                                  const std::string& name) const {
    const auto list = value.find(key);
    if (list == value.end() || !list->is_array())
      fail(": array '{}' has no {}", printable(name), key);
    std::vector<int64_t> numbers;
    for (const Json& item : *list) {
      if (!item.is_number_unsigned() || !std::in_range<int64_t>(item.get<uint64_t>()))
        fail(": array '{}' has {} in its {}, must be a whole number from 0 to 2^63 - 1",
             printable(name), printable(item.dump()), key);
      numbers.push_back(item.get<int64_t>());
    }
    return numbers;
  }

  void check_size(const Entry& entry) const {
    const int64_t needed = internal::array_bytes(entry.dtype, entry.shape);
    if (needed < 0)
      fail(": array '{}' of shape {} is too large for any memory", printable(entry.name),
           internal::shape_text(entry.shape));
    if (needed != entry.end - entry.begin)
      fail(": array '{}' has {}, but {} of shape {} needs {}", printable(entry.name),
           bytes_text(entry.end - entry.begin), entry.dtype, internal::shape_text(entry.shape),
           needed);
  }

  // Arrays lie one behind the other, without holes, and fill the data section.
  void check_layout(std::vector<Entry>& entries) const {
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
    });
    int64_t expected = 0;
    for (const Entry& entry : entries) {
      if (entry.begin < expected)
        fail(": array '{}' overlaps the one before it", printable(entry.name));
      if (entry.begin > expected)
        fail(": there is a hole of {} before array '{}'", bytes_text(entry.begin - expected),
             printable(entry.name));
      expected = entry.end;
    }
    const auto present = static_cast<int64_t>(data_.size());
    if (expected > present)
      fail(" is truncated: its arrays take {}, the file holds {}", bytes_text(expected), present);
    if (expected < present) fail(" has {} after its last array", bytes_text(present - expected));
  }

  void check_checksum() const {
    const std::string_view prefix = internal::kChecksumPrefix;
    if (!checksum_.starts_with(prefix))
      fail(": checksum '{}' is of an unknown kind, must begin with '{}'", printable(checksum_),
           prefix);
    const size_t begin = header_.find(prefix) + prefix.size();
    const size_t end = begin + internal::kChecksumZeros.size();
    internal::Checksum sum;
    sum.add(bytes_.data(), internal::kLengthBytes);
    if (end <= header_.size()) {
      sum.add(header_.data(), begin);
      sum.add(internal::kChecksumZeros.data(), internal::kChecksumZeros.size());
      sum.add(header_.data() + end, header_.size() - end);
    }
    sum.add(data_.data(), data_.size());
    const std::string found = fmt::format("{}{}", prefix, sum.digits());
    if (found != checksum_)
      fail(" is damaged: its checksum is {}, the file says {}", found, printable(checksum_));
  }

  std::span<const std::byte> bytes_;
  const std::string& source_;
  std::string_view header_;
  std::span<const std::byte> data_;
  std::string checksum_;
};

}  // namespace

ModelFile parse_model_file(std::span<const std::byte> bytes, const std::string& source) {
  return Reader(bytes, source).read();
}

ModelFile read_model_file(const std::string& path) {
  return parse_model_file(MappedFile::open(path)->bytes(), path);
}

}  // namespace milieu
