// SPDX-License-Identifier: Apache-2.0
// Synthetic data for tests, benchmarks and the demo. Deterministic: the same options give the same
// bits on every platform and for any number of threads (only Lcg::normal uses libm, as its golden
// cases do).
#pragma once

#include <cstdint>
#include <vector>

#include "milieu/linalg/matrix.h"

namespace milieu {

// Samples as rows with the part each was drawn from.
struct LabelledPoints {
  Matrix<float> points;     // n x d
  std::vector<int> labels;  // n, in [0, number of parts)
};

// Round normal clusters of equal size (up to one), in random order.
struct BlobOptions {
  int64_t n = 300;
  int64_t d = 2;
  int num_clusters = 3;
  double separation = 8;  // least distance between two centres, in units of `noise`
  double noise = 1;       // standard deviation in every direction
  double offset = 0;      // added to every coordinate: data far from the origin
  uint64_t seed = 1;
};
LabelledPoints make_blobs(const BlobOptions& options = {});

// Rings around the origin of radius 1, 2, ..., num_rings in the plane, equally many points on each:
// connected parts that no straight line separates.
struct RingOptions {
  int64_t n = 300;
  int num_rings = 2;
  double noise = 0.05;  // standard deviation of each coordinate
  uint64_t seed = 1;
};
LabelledPoints make_rings(const RingOptions& options = {});

// Two half circles of radius 1 that reach into each other: part 0 is the upper half around (0, 0),
// part 1 the lower half around (1, 0.5).
struct MoonOptions {
  int64_t n = 300;
  double noise = 0.05;
  uint64_t seed = 1;
};
LabelledPoints make_moons(const MoonOptions& options = {});

// Whole numbers in [0, 255], many of them 0, rows of length about 512, clustered: what SIFT
// descriptors look like to a clustering method.
struct SiftLikeOptions {
  int64_t n = 10000;
  int64_t d = 128;
  int num_clusters = 256;
  double noise = 0.6;  // relative to the spread of the centres; larger overlaps more
  uint64_t seed = 1;
};
LabelledPoints make_sift_like(const SiftLikeOptions& options = {});

// Vectors of 0 and 1 around random prototypes; each entry is flipped with a given probability.
struct BinaryBlobOptions {
  int64_t n = 300;
  int64_t d = 64;
  int num_clusters = 3;
  double flip_probability = 0.05;
  uint64_t seed = 1;
};
LabelledPoints make_binary_blobs(const BinaryBlobOptions& options = {});

// Counts of words: a cluster uses its own words about `contrast` times as often as the others.
// Needs at least as many words as clusters.
struct CountBlobOptions {
  int64_t n = 300;
  int64_t d = 24;  // words
  int num_clusters = 3;
  int total = 200;  // counts per row
  double contrast = 20;
  uint64_t seed = 1;
};
LabelledPoints make_count_blobs(const CountBlobOptions& options = {});

// The small generator on which the golden cases of the methods' notes rest:
// x <- 16807 x mod 2147483647, u = x / 2147483647, normal = sqrt(-2 ln u1) cos(2 pi u2).
class Lcg {
 public:
  explicit Lcg(int64_t x0 = 1) : x_(x0) {}

  double uniform() {
    x_ = 16807 * x_ % 2147483647;
    return static_cast<double>(x_) / 2147483647.0;
  }
  double normal();  // takes two uniforms, u1 first

 private:
  int64_t x_;
};

}  // namespace milieu
