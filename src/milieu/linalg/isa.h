// SPDX-License-Identifier: Apache-2.0
// Which instruction set our own hot loops use. Sources listed as ISA_SOURCES are compiled once for
// each set, into milieu::internal::baseline, ::v3 and ::v4; at run time the best one that this CPU
// has is called. The environment variable MILIEU_ISA=baseline|v3|v4 asks for a lower set (a set
// that the CPU lacks is never used: the best available one is).
//
// How such a loop is written and called:
//   x_loops.h   MILIEU_DECLARE_ISA(void scale(float* values, int64_t count, float factor);)
//   x_loops.cc  namespace milieu::internal::MILIEU_ISA { void scale(...) {...} }   (an ISA source)
//   x.cc        MILIEU_SELECT_ISA(scale)(values, count, 2.0f);               (an ordinary source)
#pragma once

#include <cstdint>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

// x86-64, x86-64-v3 (AVX2 and FMA), x86-64-v4 (AVX-512 F, BW, CD, DQ, VL).
enum class Isa { Baseline, V3, V4 };

// The set in use: decided at the first call, then constant (see ScopedIsa for tests).
Isa active_isa();

// The best set that this CPU and operating system can run; every lower one runs as well.
Isa best_isa();

// "x86-64", "x86-64-v3", "x86-64-v4"; "generic" for Baseline on other processors.
const char* to_string(Isa isa);

// For tests: makes `isa` (at most best_isa()) the active one while the object lives. Not to be
// used while another thread runs a method.
class ScopedIsa {
 public:
  explicit ScopedIsa(Isa isa);
  ~ScopedIsa();
  ScopedIsa(const ScopedIsa&) = delete;
  ScopedIsa& operator=(const ScopedIsa&) = delete;

 private:
  Isa previous_;
};

namespace internal {

template <class Function>
Function* select_isa(Function* baseline, Function* v3, Function* v4) {
  const Isa isa = active_isa();
  return isa == Isa::V4 ? v4 : isa == Isa::V3 ? v3 : baseline;
}

}  // namespace internal
}  // namespace milieu

#if defined(__x86_64__)
#define MILIEU_DECLARE_ISA(...)          \
  namespace milieu::internal::baseline { \
  __VA_ARGS__                            \
  }                                      \
  namespace milieu::internal::v3 {       \
  __VA_ARGS__                            \
  }                                      \
  namespace milieu::internal::v4 {       \
  __VA_ARGS__                            \
  }
#define MILIEU_SELECT_ISA(name)                                       \
  ::milieu::internal::select_isa(&::milieu::internal::baseline::name, \
                                 &::milieu::internal::v3::name, &::milieu::internal::v4::name)
#else
#define MILIEU_DECLARE_ISA(...)          \
  namespace milieu::internal::baseline { \
  __VA_ARGS__                            \
  }
#define MILIEU_SELECT_ISA(name) (&::milieu::internal::baseline::name)
#endif
