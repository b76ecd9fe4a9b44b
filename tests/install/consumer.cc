// SPDX-License-Identifier: Apache-2.0
// A user's program: two obvious clusters by k-means. Exit code 0 when they are found.
#include <milieu/base/summary.h>
#include <milieu/classic/kmeans/kmeans.h>
#include <milieu/linalg/matrix.h>

#include <cstdio>

int main() {
  milieu::Matrix<float> points(6, 2);
  for (int i = 0; i < 6; ++i) points(i, 0) = static_cast<float>(i < 3 ? i : 100 + i);
  milieu::KMeansOptions options;
  options.num_clusters = 2;
  const milieu::KMeansResult result = milieu::fit_kmeans({points, {}, {}}, options);
  std::printf("%s\n", result.summary.brief().c_str());
  for (int i = 0; i < 6; ++i)
    if ((result.labels[i] == result.labels[0]) != (i < 3)) return 1;
  return 0;
}
