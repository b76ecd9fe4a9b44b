// SPDX-License-Identifier: Apache-2.0
// MILIEU_TSAN is defined in builds with ThreadSanitizer, and only there. It marks the few places
// that must declare what it cannot see. No code here: ISA sources include this file.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define MILIEU_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MILIEU_TSAN 1
#endif
#endif
