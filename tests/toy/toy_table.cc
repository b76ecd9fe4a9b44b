// SPDX-License-Identifier: Apache-2.0
// The table of methods with one more line.
#include "toy.h"

#define MILIEU_MORE_METHODS toy_method(),
#include "milieu/run/methods.cc"
