// SPDX-License-Identifier: Apache-2.0
// A reader seen by a fuzzer: any bytes in, and either a result whose promises hold or an exception
// of milieu::Error. The same targets run over the seed corpora in the ordinary tests
// (corpus_test.cc).
//
// A target is one file fuzz_NAME.cc that registers itself:
//
//   const RegisterFuzzTarget kRegistered("npy", [](std::span<const std::byte> input) { ... });
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace milieu {

struct FuzzTarget {
  const char* name;
  void (*run)(std::span<const std::byte> input);
};

struct RegisterFuzzTarget {
  RegisterFuzzTarget(const char* name, void (*run)(std::span<const std::byte> input));
};

// In the order of registration.
const std::vector<FuzzTarget>& fuzz_targets();

// Runs a target; exceptions of milieu::Error are an answer, anything else is left to fly.
void run_fuzz_target(const FuzzTarget& target, std::span<const std::byte> input);

// Aborts with `promise` when it does not hold, also in release builds.
void check_promise(bool holds, const char* promise);

// The bytes of a model, column or state file with the checksum that they should have: no fuzzer
// guesses one.
std::string with_right_checksum(std::span<const std::byte> input);

inline std::string_view as_text(std::span<const std::byte> input) {
  return {reinterpret_cast<const char*>(input.data()), input.size()};
}

}  // namespace milieu
