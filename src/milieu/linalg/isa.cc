// SPDX-License-Identifier: Apache-2.0
#include "milieu/linalg/isa.h"

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "milieu/base/error.h"

namespace milieu {

Isa best_isa() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool has_v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool has_v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  if (has_v3 && has_v4) return Isa::V4;
  if (has_v3) return Isa::V3;
#endif
  return Isa::Baseline;
}

namespace {

// An unknown value is ignored: an environment variable must not make a method fail.
Isa initial_isa() {
  const Isa best = best_isa();
  const char* requested = std::getenv("MILIEU_ISA");
  if (!requested) return best;
  if (std::string_view(requested) == "baseline") return Isa::Baseline;
  if (std::string_view(requested) == "v3" && best >= Isa::V3) return Isa::V3;
  return best;
}

std::atomic<Isa>& current_isa() {
  static std::atomic<Isa> isa{initial_isa()};
  return isa;
}

}  // namespace

Isa active_isa() { return current_isa().load(std::memory_order_relaxed); }

const char* to_string(Isa isa) {
#if defined(__x86_64__)
  return isa == Isa::V4 ? "x86-64-v4" : isa == Isa::V3 ? "x86-64-v3" : "x86-64";
#else
  (void)isa;
  return "generic";
#endif
}

ScopedIsa::ScopedIsa(Isa isa) : previous_(active_isa()) {
  require(isa <= best_isa(), "ScopedIsa: this CPU lacks the requested instruction set");
  current_isa().store(isa, std::memory_order_relaxed);
}

ScopedIsa::~ScopedIsa() { current_isa().store(previous_, std::memory_order_relaxed); }

}  // namespace milieu
