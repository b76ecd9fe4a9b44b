// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/format/npy_folder.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <memory>
#include <tuple>
#include <utility>

#include "milieu/base/error.h"
#include "milieu/base/hash.h"
#include "milieu/base/memory.h"
#include "milieu/data/format/npy.h"

namespace milieu {
namespace {

namespace fs = std::filesystem;

// rows-007.npy: what is before and behind the last digits, and their value.
struct ShardName {
  std::string name, before, after;
  int64_t number = -1;  // none
};

ShardName parse_name(std::string name) {
  ShardName shard{name, name, "", -1};
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const auto end = std::find_if(name.rbegin(), name.rend(), is_digit).base();
  auto begin = end;
  while (begin != name.begin() && is_digit(*std::prev(begin))) --begin;
  if (std::from_chars(&*begin, &*begin + (end - begin), shard.number).ec != std::errc())
    return shard;
  shard.before.assign(name.begin(), begin);
  shard.after.assign(end, name.end());
  return shard;
}

std::vector<ShardName> list_shards(const std::string& path) {
  std::vector<ShardName> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(path))
    if (entry.path().extension() == ".npy")
      names.push_back(parse_name(entry.path().filename().string()));
  std::ranges::sort(names, {}, [](const ShardName& s) { return std::tuple(s.number, s.name); });
  for (size_t i = 0; i < names.size(); ++i) {
    const ShardName &first = names[0], &own = names[i];
    if (own.number < 0 || own.before != first.before || own.after != first.after ||
        (i > 0 && own.number == names[i - 1].number))
      throw DataError(
          fmt::format("{}: {} and {} are not numbered parts of one array: name them rows-000.npy, "
                      "rows-001.npy, ...",
                      path, first.name, own.name));
    const int64_t expected = i == 0 ? std::min<int64_t>(own.number, 1) : names[i - 1].number + 1;
    if (own.number != expected)
      throw DataError(
          fmt::format("{}: shard {} is missing, the next one is {}", path, expected, own.name));
  }
  return names;
}

void check_shard(const RawArray& first, const RawArray& own) {
  if (own.is_text()) throw DataError(fmt::format("{} holds text, must hold numbers", own.source));
  if (own.type != first.type || own.is_big_endian != first.is_big_endian)
    throw DataError(fmt::format("{} holds {}, {} holds {}: shards must have one type", first.source,
                                element_name(first.type), own.source, element_name(own.type)));
  if (own.cols() != first.cols())
    throw DataError(fmt::format("{} has {} columns, {} has {}: shards must have one width",
                                first.source, first.cols(), own.source, own.cols()));
}

// The shape, and the bytes at both ends of the data.
uint64_t add_shard(const ShardName& name, const RawArray& shard, uint64_t hash) {
  hash = hash_text(name.name + shape_text(shard.shape), hash);
  const size_t row = std::min(
      shard.data.size(), static_cast<size_t>(shard.cols()) * static_cast<size_t>(shard.item_bytes));
  for (const auto part : {shard.data.first(row), shard.data.last(row)})
    hash = hash_text({reinterpret_cast<const char*>(part.data()), part.size()}, hash);
  return hash;
}

// Address space for numbers; pages take memory once they are written.
class ReservedNumbers {
 public:
  explicit ReservedNumbers(int64_t count)
      : bytes_(static_cast<size_t>(count) * sizeof(float)),
        data_(::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (data_ == MAP_FAILED)
      throw InvalidArgument(fmt::format("no room for {} bytes of rows", bytes_));
  }
  ~ReservedNumbers() { ::munmap(data_, bytes_); }
  ReservedNumbers(const ReservedNumbers&) = delete;
  ReservedNumbers& operator=(const ReservedNumbers&) = delete;
  float* data() const { return static_cast<float*>(data_); }

 private:
  size_t bytes_;
  void* data_;
};

}  // namespace

bool is_npy_folder(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return false;
  bool has_shards = false;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    if (entry.path().filename().string().starts_with('.')) continue;
    if (entry.path().extension() != ".npy") return false;
    has_shards = true;
  }
  return has_shards;
}

NpyFolder open_npy_folder(const std::string& path) {
  NpyFolder folder;
  folder.path = path;
  uint64_t hash = kHashStart;
  for (const ShardName& name : list_shards(path)) {
    RawArray shard = open_npy((fs::path(path) / name.name).string());
    check_shard(folder.shards.empty() ? shard : folder.shards[0], shard);
    hash = add_shard(name, shard, hash);
    folder.num_rows += shard.rows();
    folder.num_cols = shard.cols();
    folder.shards.push_back(std::move(shard));
  }
  if (folder.num_rows == 0 || folder.num_cols == 0)
    throw DataError(fmt::format("{} has no numbers, must have at least one", path));
  folder.manifest = hex(hash);
  return folder;
}

Points load_rows(const NpyFolder& folder, int64_t begin, int64_t end, int num_threads) {
  const int64_t cols = folder.num_cols;
  require_memory({4.0 * static_cast<double>((end - begin) * cols),
                  fmt::format("{} rows of {}", end - begin, folder.path),
                  "use more ranks, or one .npy file, which is mapped"});
  const auto owner = std::make_shared<const ReservedNumbers>(folder.num_rows * cols);
  int64_t first = 0;
  for (const RawArray& shard : folder.shards) {
    const int64_t from = std::max(begin, first), to = std::min(end, first + shard.rows());
    if (from < to) {
      const Points rows = to_points(shard, num_threads);
      std::copy_n(rows.view().row(from - first), (to - from) * cols, owner->data() + from * cols);
    }
    first += shard.rows();
  }
  return Points(FloatView(owner->data(), folder.num_rows, cols), owner);
}

}  // namespace milieu
