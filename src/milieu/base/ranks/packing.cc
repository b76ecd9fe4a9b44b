// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/ranks/packing.h"

#include <fmt/format.h>

namespace milieu::internal {
namespace {

[[noreturn]] void refuse(const std::string& reason) {
  throw DataError(
      fmt::format("a message between ranks {}: are all ranks of the same version?", reason));
}

}  // namespace

void Unpacker::bytes(void* data, size_t size) {
  if (message_.size() - place_ < size) refuse("is too short");
  if (size > 0) std::memcpy(data, message_.data() + place_, size);
  place_ += size;
}

void Unpacker::finish() const {
  if (place_ != message_.size()) refuse("is too long");
}

int64_t Unpacker::size(size_t bytes_each) {
  int64_t count = 0;
  fill(count);
  const auto left = static_cast<int64_t>(message_.size() - place_);
  if (count < 0 || (bytes_each > 0 && count > left / static_cast<int64_t>(bytes_each)))
    refuse("holds a wrong size");
  return count;
}

void Unpacker::check_size(int64_t found, int64_t expected) {
  if (found != expected)
    refuse(fmt::format("holds {} numbers where {} are expected", found, expected));
}

}  // namespace milieu::internal
