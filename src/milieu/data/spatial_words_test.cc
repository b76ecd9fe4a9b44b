// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/spatial_words.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace milieu {
namespace {

// The figures that the reference printed for the same set.
TEST(SpatialWords, FirstSetHasTheKnownSizesAndSum) {
  const SpatialWords data = make_spatial_words(1);
  ASSERT_EQ(data.features.rows(), 554);
  const int64_t sizes[] = {98, 129, 105, 101, 121};
  for (int word = 0; word < 5; ++word)
    EXPECT_EQ(std::count(data.words.begin(), data.words.end(), word), sizes[word]);
  double sum = 0;
  for (int64_t i = 0; i < data.features.size(); ++i) sum += data.features.data()[i];
  EXPECT_NEAR(sum, 188974.135608, 1e-3);  // features are rounded to float
}

}  // namespace
}  // namespace milieu
