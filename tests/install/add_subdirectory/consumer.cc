// SPDX-License-Identifier: Apache-2.0
// Uses the base module of a source tree.
#include <milieu/base/random.h>
#include <milieu/base/summary.h>

#include <cstdio>

int main() {
  milieu::Random random(1);
  std::printf("%s\n", milieu::version());
  return random.uniform() < 1 ? 0 : 1;
}
