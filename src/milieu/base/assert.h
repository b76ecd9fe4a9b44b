// SPDX-License-Identifier: Apache-2.0
// MILIEU_ASSERT: "if this fails, Milieu itself is wrong". On in debug and sanitizer builds, free in
// release builds. Never use it for what a user can cause: that is an exception (error.h).
#pragma once

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

// Prints the place to stderr and aborts; the only function of the library that may do so.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace milieu

#ifdef MILIEU_ENABLE_ASSERT
#define MILIEU_ASSERT(condition) \
  ((condition) ? void(0) : ::milieu::assertion_failed(#condition, __FILE__, __LINE__))
#else
#define MILIEU_ASSERT(condition) \
  void(sizeof(!(condition)))  // not evaluated, but variables are used
#endif
