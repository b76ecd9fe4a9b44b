// SPDX-License-Identifier: Apache-2.0
// Vectors of the extension that GCC and Clang share, from memory and back. Included by ISA sources
// only, each with its own namespace.
#pragma once

#include "milieu/linalg/isa.h"

namespace milieu::internal::MILIEU_ISA {
namespace {

template <class Vector, class T>
inline Vector load(const T* from) {
  Vector values;
  __builtin_memcpy(&values, from, sizeof(values));
  return values;
}

template <class Vector, class T>
inline void store(const Vector& values, T* to) {
  __builtin_memcpy(to, &values, sizeof(values));
}

}  // namespace
}  // namespace milieu::internal::MILIEU_ISA
