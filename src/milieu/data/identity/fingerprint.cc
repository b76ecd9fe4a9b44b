// SPDX-License-Identifier: Apache-2.0
// Arrays may have many gigabytes, so eight independent lanes take eight bytes each at a time. Every
// step is one-to-one in the bytes for a given lane and in the lane for given bytes, so that one
// changed value always shows.
#include "milieu/data/identity/fingerprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include "milieu/base/error.h"
#include "milieu/base/hash.h"
#include "milieu/base/parallel.h"
#include "milieu/base/summary.h"
#include "milieu/data/mapped_file.h"

namespace milieu {

namespace {

namespace fs = std::filesystem;

constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;  // odd
constexpr int64_t kBytesPerBlock = 1 << 20;

uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * kFactor;
  return hash ^ (hash >> 32);
}

uint64_t lanes_of(const void* data, size_t count) {
  constexpr size_t kLanes = 8;
  const auto* bytes = static_cast<const unsigned char*>(data);
  std::array<uint64_t, kLanes> lanes, chunk;
  for (size_t l = 0; l < kLanes; ++l) lanes[l] = l + 1;
  const size_t whole = count / sizeof(chunk) * sizeof(chunk);
  for (size_t i = 0; i < whole; i += sizeof(chunk)) {
    std::memcpy(chunk.data(), bytes + i, sizeof(chunk));
    for (size_t l = 0; l < kLanes; ++l) lanes[l] = mix(lanes[l], chunk[l]);
  }
  chunk.fill(0);
  if (whole < count) std::memcpy(chunk.data(), bytes + whole, count - whole);
  uint64_t hash = count;
  for (size_t l = 0; l < kLanes; ++l) hash = mix(hash, mix(lanes[l], chunk[l]));
  return hash;
}

// Files of a folder, sorted by their relative path; hidden files and folders are left out.
std::vector<std::string> files_in(const fs::path& folder) try {
  std::vector<std::string> names;
  const auto all = fs::directory_options::follow_directory_symlink;
  for (auto at = fs::recursive_directory_iterator(folder, all);
       at != fs::recursive_directory_iterator(); ++at) {
    const bool is_hidden = at->path().filename().string().starts_with('.');
    if (is_hidden && at->is_directory()) at.disable_recursion_pending();
    if (!is_hidden && at->is_regular_file())
      names.push_back(at->path().lexically_relative(folder).string());
  }
  std::sort(names.begin(), names.end());
  return names;
} catch (const fs::filesystem_error& error) {
  throw IoError(fmt::format("{} cannot be read: {}", folder.string(), error.code().message()));
}

}  // namespace

Fingerprint& Fingerprint::bytes(const void* data, size_t count) {
  value_ = mix(value_, lanes_of(data, count));
  return *this;
}

Fingerprint& Fingerprint::version() { return text(milieu::version()); }

Fingerprint& Fingerprint::number(int64_t value) {
  value_ = mix(value_, static_cast<uint64_t>(value));
  return *this;
}

Fingerprint& Fingerprint::text(std::string_view text) { return bytes(text.data(), text.size()); }

// Blocks of rows by themselves, so that the number of threads does not matter.
Fingerprint& Fingerprint::table(const Table& table, int num_threads) {
  number(table.rows).number(table.cols);
  if (table.rows == 0 || table.cols == 0) return *this;
  const auto row_bytes = static_cast<int64_t>(static_cast<size_t>(table.cols) * table.item);
  const auto step = static_cast<int64_t>(static_cast<size_t>(table.stride) * table.item);
  const int64_t block_size = std::max<int64_t>(1, kBytesPerBlock / row_bytes);
  std::vector<uint64_t> blocks(num_blocks(table.rows, block_size));
  parallel_for(table.rows, block_size, num_threads, [&](const Block& block) {
    const char* first = table.data + block.begin * step;
    std::vector<char> packed;
    if (step != row_bytes) {
      packed.resize(static_cast<size_t>(block.size() * row_bytes));
      for (int64_t i = 0; i < block.size(); ++i)
        std::memcpy(packed.data() + i * row_bytes, first + i * step,
                    static_cast<size_t>(row_bytes));
      first = packed.data();
    }
    blocks[block.index] = lanes_of(first, static_cast<size_t>(block.size() * row_bytes));
  });
  return values(std::span<const uint64_t>(blocks));
}

Fingerprint& Fingerprint::labels(const Labels& labels) {
  number(static_cast<int64_t>(labels.names.size()));
  for (const std::string& name : labels.names) text(name);
  return values(std::span<const int>(labels.indices));
}

Fingerprint& Fingerprint::options(const std::vector<Field>& fields) {
  for (const Field& field : fields)
    if (field.name != "num_threads") text(field.name).text(to_text(field.get()));
  return *this;
}

Fingerprint& Fingerprint::path(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return file(path);
  const std::vector<std::string> names = files_in(path);
  number(static_cast<int64_t>(names.size()));
  for (const std::string& name : names) text(name).file(path + "/" + name);
  return *this;
}

Fingerprint& Fingerprint::file(const std::string& path) {
  constexpr int64_t kPiece = 4096;
  const auto mapped = MappedFile::open(path);
  const std::string_view content = mapped->text();
  const int64_t num_pieces = std::ssize(content) / kPiece;
  table({content.data(), num_pieces, kPiece, kPiece, 1}, 0);
  return text(content.substr(static_cast<size_t>(num_pieces * kPiece)));
}

std::string Fingerprint::hex() const { return milieu::hex(value_); }

}  // namespace milieu
