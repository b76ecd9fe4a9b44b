// SPDX-License-Identifier: Apache-2.0
// Rows are drawn in fixed blocks with one random stream each, so that large sets are made on all
// cores and still do not depend on their number.
#include "milieu/testing/synthetic.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <utility>

#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/base/random.h"

namespace milieu {

namespace {

// Children of the root stream: 0 and 1 for what the whole set shares, the rest one for each block.
constexpr uint64_t kCenterStream = 0;
constexpr uint64_t kLabelStream = 1;
constexpr uint64_t kFirstBlockStream = 2;
constexpr int64_t kBlockSize = 1024;

void check_shape(int64_t n, int64_t d, int num_parts) {
  require(n >= 0, "synthetic data: n must be at least 0");
  require(d >= 1, "synthetic data: d must be at least 1");
  require(num_parts >= 1, "synthetic data: the number of parts must be at least 1");
}

// Labels 0, 1, ..., num_parts - 1, 0, 1, ... in random order.
std::vector<int> draw_labels(int64_t n, int num_parts, const Random& root) {
  std::vector<int> labels(n);
  for (int64_t i = 0; i < n; ++i) labels[i] = static_cast<int>(i % num_parts);
  root.child(kLabelStream).shuffle(std::span<int>(labels));
  return labels;
}

using DrawRow = std::function<void(Random&, int label, std::span<float> row)>;

LabelledPoints draw_rows(int64_t n, int64_t d, int num_parts, const Random& root,
                         const DrawRow& draw_row) {
  LabelledPoints made{Matrix<float>(n, d), draw_labels(n, num_parts, root)};
  parallel_for(n, kBlockSize, 0, [&](const Block& block) {
    Random random = root.child(kFirstBlockStream + static_cast<uint64_t>(block.index));
    for (int64_t i = block.begin; i < block.end; ++i)
      draw_row(random, made.labels[i], made.points.row_span(i));
  });
  return made;
}

double squared_distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (size_t j = 0; j < a.size(); ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
  return sum;
}

bool is_far_from_earlier(const Matrix<double>& centers, int64_t c, double distance) {
  for (int64_t other = 0; other < c; ++other)
    if (squared_distance(centers.row_span(c), centers.row_span(other)) < distance * distance)
      return false;
  return true;
}

// Uniform in a box around the origin, no two nearer than `distance`; the box grows until they fit.
Matrix<double> draw_separated_centers(int num_centers, int64_t d, double distance, Random random) {
  Matrix<double> centers(num_centers, d);
  double half_side = distance;
  for (int64_t c = 0; c < num_centers; ++c) {
    int tries = 0;
    do {
      if (++tries % 100 == 0) half_side *= 1.2;
      for (double& x : centers.row_span(c)) x = random.uniform(-half_side, half_side);
    } while (!is_far_from_earlier(centers, c, distance));
  }
  return centers;
}

// A point of the unit circle, by rejection: no trigonometry, so the same bits everywhere.
std::pair<double, double> draw_direction(Random& random) {
  while (true) {
    const double x = random.uniform(-1, 1);
    const double y = random.uniform(-1, 1);
    const double r2 = x * x + y * y;
    if (r2 > 0.01 && r2 <= 1) return {x / std::sqrt(r2), y / std::sqrt(r2)};
  }
}

double draw_exponential(Random& random) { return -portable_log(1 - random.uniform()); }

}  // namespace

LabelledPoints make_blobs(const BlobOptions& options) {
  check_shape(options.n, options.d, options.num_clusters);
  require(options.separation >= 0 && options.noise >= 0,
          "make_blobs: separation and noise must be at least 0");
  const Random root(options.seed);
  const double distance = options.separation * (options.noise > 0 ? options.noise : 1);
  const Matrix<double> centers =
      draw_separated_centers(options.num_clusters, options.d, distance, root.child(kCenterStream));
  return draw_rows(
      options.n, options.d, options.num_clusters, root,
      [&](Random& random, int label, std::span<float> row) {
        const double* center = centers.row(label);
        for (size_t j = 0; j < row.size(); ++j)
          row[j] = static_cast<float>(options.offset + center[j] + options.noise * random.normal());
      });
}

LabelledPoints make_rings(const RingOptions& options) {
  check_shape(options.n, 2, options.num_rings);
  return draw_rows(options.n, 2, options.num_rings, Random(options.seed),
                   [&](Random& random, int label, std::span<float> row) {
                     const auto [x, y] = draw_direction(random);
                     const double radius = label + 1;
                     row[0] = static_cast<float>(radius * x + options.noise * random.normal());
                     row[1] = static_cast<float>(radius * y + options.noise * random.normal());
                   });
}

LabelledPoints make_moons(const MoonOptions& options) {
  check_shape(options.n, 2, 2);
  return draw_rows(options.n, 2, 2, Random(options.seed),
                   [&](Random& random, int label, std::span<float> row) {
                     const auto [x, y] = draw_direction(random);
                     const double moon_x = label == 0 ? x : 1 + x;
                     const double moon_y = label == 0 ? std::abs(y) : 0.5 - std::abs(y);
                     row[0] = static_cast<float>(moon_x + options.noise * random.normal());
                     row[1] = static_cast<float>(moon_y + options.noise * random.normal());
                   });
}

LabelledPoints make_sift_like(const SiftLikeOptions& options) {
  check_shape(options.n, options.d, options.num_clusters);
  require(options.noise >= 0, "make_sift_like: noise must be at least 0");
  const Random root(options.seed);
  Random center_random = root.child(kCenterStream);
  Matrix<double> centers(options.num_clusters, options.d);
  for (int64_t c = 0; c < centers.rows(); ++c)
    for (double& x : centers.row_span(c)) x = draw_exponential(center_random) - 0.3;
  return draw_rows(options.n, options.d, options.num_clusters, root,
                   [&](Random& random, int label, std::span<float> row) {
                     const double* center = centers.row(label);
                     double norm2 = 0;
                     for (size_t j = 0; j < row.size(); ++j) {
                       const double x = std::max(0.0, center[j] + options.noise * random.normal());
                       row[j] = static_cast<float>(x);
                       norm2 += x * x;
                     }
                     const double scale = norm2 > 0 ? 512 / std::sqrt(norm2) : 0;
                     for (float& x : row)
                       x = static_cast<float>(std::min(255.0, std::floor(scale * x + 0.5)));
                   });
}

LabelledPoints make_binary_blobs(const BinaryBlobOptions& options) {
  check_shape(options.n, options.d, options.num_clusters);
  require(options.flip_probability >= 0 && options.flip_probability <= 1,
          "make_binary_blobs: flip_probability must be between 0 and 1");
  const Random root(options.seed);
  Random prototype_random = root.child(kCenterStream);
  Matrix<double> prototypes(options.num_clusters, options.d);
  // Prototypes differ in a third of the entries where that is possible; the demand is lowered when
  // many of them crowd in few dimensions.
  double min_distance2 = static_cast<double>(options.d) / 3;
  for (int64_t c = 0; c < prototypes.rows(); ++c) {
    int tries = 0;
    do {
      if (++tries % 100 == 0) min_distance2 = min_distance2 > 1 ? 0.8 * min_distance2 : 0;
      for (double& x : prototypes.row_span(c)) x = prototype_random.bernoulli(0.5) ? 1 : 0;
    } while (!is_far_from_earlier(prototypes, c, std::sqrt(min_distance2)));
  }
  return draw_rows(options.n, options.d, options.num_clusters, root,
                   [&](Random& random, int label, std::span<float> row) {
                     const double* prototype = prototypes.row(label);
                     for (size_t j = 0; j < row.size(); ++j) {
                       const bool flip = random.bernoulli(options.flip_probability);
                       row[j] = static_cast<float>(flip ? 1 - prototype[j] : prototype[j]);
                     }
                   });
}

LabelledPoints make_count_blobs(const CountBlobOptions& options) {
  check_shape(options.n, options.d, options.num_clusters);
  require(options.d >= options.num_clusters,
          "make_count_blobs: there are fewer words than clusters");
  return draw_rows(options.n, options.d, options.num_clusters, Random(options.seed),
                   [&](Random& random, int label, std::span<float> row) {
                     std::vector<int64_t> words;  // own words occur `contrast` times in the list
                     for (int64_t w = 0; w < options.d; ++w)
                       words.insert(words.end(),
                                    w % options.num_clusters == label
                                        ? static_cast<size_t>(options.contrast)
                                        : size_t{1},
                                    w);
                     std::fill(row.begin(), row.end(), 0.0f);
                     for (int i = 0; i < options.total; ++i)
                       ++row[static_cast<size_t>(words[static_cast<size_t>(
                           random.uniform_index(static_cast<int64_t>(words.size())))])];
                   });
}

double Lcg::normal() {
  const double u1 = uniform();
  const double u2 = uniform();
  return std::sqrt(-2 * std::log(u1)) * std::cos(2 * std::numbers::pi * u2);
}

}  // namespace milieu
