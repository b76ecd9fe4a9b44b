// SPDX-License-Identifier: Apache-2.0
// What libmilieu.so shows to its users. Everything is compiled with hidden visibility; a public
// header opens its namespace with this macro, `namespace MILIEU_API milieu {`, and what it declares
// there is exported. What a .cc file declares for itself, and private headers, stay hidden.
// scripts/audit checks the headers, docs/versioning.md has the policy.
#pragma once

#if defined(__GNUC__)
#define MILIEU_API [[gnu::visibility("default")]]
#else
#define MILIEU_API
#endif
