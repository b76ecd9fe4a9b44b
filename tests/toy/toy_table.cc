// SPDX-License-Identifier: Apache-2.0
// The table of methods with one method less (cac) and one more in its line.
#include "milieu/run/methods/entries.h"
#include "toy.h"

#define cac_method toy_method
#include "milieu/run/methods.cc"
