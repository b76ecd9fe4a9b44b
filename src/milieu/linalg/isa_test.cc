// SPDX-License-Identifier: Apache-2.0
#include "milieu/linalg/isa.h"

#include <gtest/gtest.h>

#include "milieu/base/error.h"

namespace milieu {
namespace {

TEST(Isa, ActiveSetNeverExceedsWhatTheCpuHas) { EXPECT_LE(active_isa(), best_isa()); }

TEST(Isa, ScopedIsaIsUndoneAtTheEnd) {
  const Isa before = active_isa();
  {
    const ScopedIsa scoped(Isa::Baseline);
    EXPECT_EQ(active_isa(), Isa::Baseline);
  }
  EXPECT_EQ(active_isa(), before);
}

TEST(Isa, ScopedIsaRefusesWhatTheCpuLacks) {
  if (best_isa() == Isa::V4) GTEST_SKIP() << "this CPU has every set";
  EXPECT_THROW(ScopedIsa(Isa::V4), InvalidArgument);
}

TEST(Isa, SelectPicksTheFunctionOfTheActiveSet) {
  struct Sets {
    static int baseline() { return 0; }
    static int v3() { return 1; }
    static int v4() { return 2; }
  };
  for (const Isa isa : {Isa::Baseline, Isa::V3, Isa::V4}) {
    if (isa > best_isa()) continue;
    const ScopedIsa scoped(isa);
    EXPECT_EQ(internal::select_isa(&Sets::baseline, &Sets::v3, &Sets::v4)(), static_cast<int>(isa));
  }
}

}  // namespace
}  // namespace milieu
