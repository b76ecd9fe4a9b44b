// SPDX-License-Identifier: Apache-2.0
// libFuzzer's entry: an executable has exactly one target.
#include <cstddef>
#include <cstdint>
#include <span>

#include "fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  milieu::run_fuzz_target(milieu::fuzz_targets().front(), std::as_bytes(std::span(data, size)));
  return 0;
}
