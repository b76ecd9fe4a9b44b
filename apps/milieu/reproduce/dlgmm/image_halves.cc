// SPDX-License-Identifier: Apache-2.0
#include "reproduce/dlgmm/image_halves.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "milieu/base/random.h"

namespace milieu::cli {

namespace {

namespace fs = std::filesystem;

constexpr size_t kStateSize = 624, kShift = 397;  // of the Mersenne twister

std::vector<fs::path> sorted_entries(const fs::path& folder, bool wants_folders) {
  std::vector<fs::path> entries;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.is_directory() == wants_folders) entries.push_back(entry.path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

}  // namespace

HalfOf::HalfOf() : state_(kStateSize), at_(kStateSize) {
  constexpr uint32_t kSeed = 7;
  state_[0] = kSeed;
  for (size_t i = 1; i < kStateSize; ++i)
    state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + static_cast<uint32_t>(i);
}

uint32_t HalfOf::next_bits() {
  if (at_ == kStateSize) {
    for (size_t i = 0; i < kStateSize; ++i) {
      const uint32_t y = (state_[i] & 0x80000000u) | (state_[(i + 1) % kStateSize] & 0x7fffffffu);
      state_[i] = state_[(i + kShift) % kStateSize] ^ (y >> 1) ^ ((y & 1u) ? 0x9908b0dfu : 0u);
    }
    at_ = 0;
  }
  uint32_t y = state_[at_++];
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ (y >> 18);
}

std::vector<int> HalfOf::next_class(int n) {
  std::vector<int> order(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) order[static_cast<size_t>(i)] = i;
  for (int i = n - 1; i > 0; --i) {
    uint32_t mask = static_cast<uint32_t>(i);
    for (const int shift : {1, 2, 4, 8, 16}) mask |= mask >> shift;
    uint32_t j = next_bits() & mask;
    while (j > static_cast<uint32_t>(i)) j = next_bits() & mask;
    std::swap(order[static_cast<size_t>(i)], order[j]);
  }
  order.erase(order.begin(), order.begin() + n / 2);
  std::sort(order.begin(), order.end());
  return order;
}

void link_draws(const std::vector<ImageDraw>& draws, uint64_t seed, const std::string& place) {
  fs::remove_all(place);
  uint64_t stream = 0;
  for (const ImageDraw& draw : draws) {
    HalfOf halves;
    for (const fs::path& folder : sorted_entries(draw.path, true)) {
      std::vector<fs::path> files = sorted_entries(folder, false);
      const std::vector<int> second = halves.next_class(static_cast<int>(files.size()));
      std::vector<fs::path> kept;
      for (int i = 0; i < static_cast<int>(files.size()); ++i)
        if (draw.half < 0 || std::ranges::binary_search(second, i) == (draw.half == 1))
          kept.push_back(files[static_cast<size_t>(i)]);
      Random(seed).child(stream++).shuffle(std::span<fs::path>(kept));
      if (kept.size() > static_cast<size_t>(draw.most_per_class))
        kept.resize(static_cast<size_t>(draw.most_per_class));
      const fs::path to = fs::path(place) / (draw.set + "-" + folder.filename().string());
      fs::create_directories(to);
      for (const fs::path& file : kept)
        fs::create_symlink(fs::canonical(file), to / file.filename());
    }
  }
}

}  // namespace milieu::cli
