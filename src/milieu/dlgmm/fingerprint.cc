// SPDX-License-Identifier: Apache-2.0
// The fingerprint of a run: options and input, every byte. Patches may be many gigabytes, so eight
// independent lanes take eight bytes each at a time. Every step is one-to-one in the bytes for a
// given lane and in the lane for given bytes, so that one changed value always shows.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "milieu/base/parallel.h"
#include "milieu/dlgmm/dlgmm_run_internal.h"

namespace milieu::internal {

namespace {

constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;  // odd
constexpr int64_t kBytesPerBlock = 1 << 20;

uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * kFactor;
  return hash ^ (hash >> 32);
}

uint64_t hash_bytes(const void* data, size_t count) {
  constexpr size_t kLanes = 8;
  const auto* bytes = static_cast<const unsigned char*>(data);
  std::array<uint64_t, kLanes> lanes, words;
  for (size_t l = 0; l < kLanes; ++l) lanes[l] = l + 1;
  const size_t whole = count / sizeof(words) * sizeof(words);
  for (size_t i = 0; i < whole; i += sizeof(words)) {
    std::memcpy(words.data(), bytes + i, sizeof(words));
    for (size_t l = 0; l < kLanes; ++l) lanes[l] = mix(lanes[l], words[l]);
  }
  words.fill(0);
  if (whole < count) std::memcpy(words.data(), bytes + whole, count - whole);
  uint64_t hash = count;
  for (size_t l = 0; l < kLanes; ++l) hash = mix(hash, mix(lanes[l], words[l]));
  return hash;
}

// Hashes one value after the other.
class Hash {
 public:
  void add(uint64_t value) { value_ = mix(value_, value); }
  void add(const void* data, size_t count) { add(hash_bytes(data, count)); }
  void add(std::string_view text) { add(text.data(), text.size()); }
  template <class T>
  void add(std::span<T> values) {
    add(values.data(), values.size_bytes());
  }
  template <class T>
  void add(MatrixView<T> rows, int num_threads);
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 1;
};

// Blocks of rows by themselves, so that the number of threads does not matter.
template <class T>
void Hash::add(MatrixView<T> rows, int num_threads) {
  add(static_cast<uint64_t>(rows.rows()));
  add(static_cast<uint64_t>(rows.cols()));
  if (rows.empty()) return;
  const int64_t row_bytes = rows.cols() * static_cast<int64_t>(sizeof(T));
  const int64_t block_size = std::max<int64_t>(1, kBytesPerBlock / row_bytes);
  std::vector<uint64_t> blocks(num_blocks(rows.rows(), block_size));
  parallel_for(rows.rows(), block_size, num_threads, [&](const Block& block) {
    const MatrixView<T> part = rows.rows_between(block.begin, block.end);
    const auto bytes = static_cast<size_t>(block.size() * row_bytes);
    if (part.is_contiguous())
      blocks[block.index] = hash_bytes(part.data(), bytes);
    else
      blocks[block.index] = hash_bytes(Matrix<std::remove_const_t<T>>(part).data(), bytes);
  });
  add(std::span<const uint64_t>(blocks));
}

// Adds the arrays and scalars of a model.
struct ModelHasher {
  Hash& hash;
  void operator()(const char*, const Matrix<double>& value) { hash.add(value.view(), 1); }
  void operator()(const char*, const Matrix<float>& value) { hash.add(value.view(), 1); }
  void operator()(const char*, const std::vector<double>& value) { hash.add(std::span(value)); }
  void operator()(const char*, const std::string& value) { hash.add(std::string_view(value)); }
  void operator()(const char*, const double& value) { hash.add(&value, sizeof(value)); }
  void operator()(const char*, const int& value) { hash.add(&value, sizeof(value)); }
};

// The name that a field had when states were first written: those of earlier versions stay valid.
std::string first_name(const std::string& name) {
  if (name == "init") return "start";
  return name == "init_rounds" ? "start_rounds" : name;
}

}  // namespace

std::string fingerprint_of(const DlgmmInput& input, const DlgmmOptions& options) {
  Hash hash;
  DlgmmOptions copy = options;
  for (const Field& field : fields_of(copy))
    if (field.name != "num_threads" && field.name != "max_iterations")
      hash.add(std::string_view(first_name(field.name) + "=" + to_text(field.get()) + "\n"));
  hash.add(input.images.patches, options.num_threads);
  hash.add(input.images.offsets);
  hash.add(input.images.grid, 1);
  hash.add(input.images.bands);
  hash.add(input.initial_labels);
  hash.add(input.initial_words, 1);
  if (input.initial_model) visit_arrays(*input.initial_model, ModelHasher{hash});
  return fmt::format("{:016x}", hash.value());
}

}  // namespace milieu::internal
