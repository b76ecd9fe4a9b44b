// SPDX-License-Identifier: Apache-2.0
#include "fuzz_target.h"

#include <zlib.h>

#include <cstdio>
#include <cstdlib>

#include "milieu/base/error.h"

namespace milieu {
namespace {

std::vector<FuzzTarget>& registry() {
  static std::vector<FuzzTarget> targets;
  return targets;
}

}  // namespace

RegisterFuzzTarget::RegisterFuzzTarget(const char* name, void (*run)(std::span<const std::byte>)) {
  registry().push_back({name, run});
}

const std::vector<FuzzTarget>& fuzz_targets() { return registry(); }

void run_fuzz_target(const FuzzTarget& target, std::span<const std::byte> input) {
  try {
    target.run(input);
  } catch (const Error&) {
  }
}

void check_promise(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

std::string with_right_checksum(std::span<const std::byte> input) {
  constexpr size_t kLengthBytes = 8;
  std::string bytes(as_text(input));
  const size_t place = bytes.find("crc32:", kLengthBytes);
  if (place == std::string::npos || place + 14 > bytes.size()) return bytes;
  bytes.replace(place + 6, 8, "00000000");
  const auto crc =
      ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()) & 0xffffffffu;
  char digits[9];
  std::snprintf(digits, sizeof(digits), "%08lx", static_cast<unsigned long>(crc));
  return bytes.replace(place + 6, 8, digits);
}

}  // namespace milieu
