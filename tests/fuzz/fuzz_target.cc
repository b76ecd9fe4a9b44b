// SPDX-License-Identifier: Apache-2.0
#include "fuzz_target.h"

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

}  // namespace milieu
