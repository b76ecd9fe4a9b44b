// SPDX-License-Identifier: Apache-2.0
// Tells ThreadSanitizer what it cannot see: Debian's libtbb is not compiled for it, so the order
// that oneTBB's loops give to memory must be written down. Nothing in other builds.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define MILIEU_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MILIEU_TSAN 1
#endif
#endif

#ifdef MILIEU_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace milieu::internal {

// What was written before release() is seen after acquire() of the same object on any thread.
class MemoryOrder {
 public:
  void release() {
#ifdef MILIEU_TSAN
    __tsan_release(this);
#endif
  }
  void acquire() {
#ifdef MILIEU_TSAN
    __tsan_acquire(this);
#endif
  }
};

}  // namespace milieu::internal
