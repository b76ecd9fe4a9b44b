// SPDX-License-Identifier: Apache-2.0
// New centres for empty clusters: the points that lie farthest from theirs.
#include <algorithm>
#include <numeric>

#include "milieu/base/parallel.h"
#include "milieu/classic/kmeans/kmeans_centers.h"
#include "milieu/linalg/distance.h"

namespace milieu {
namespace {

// Points far from their centres: different ones, farthest first, ties by lowest index.
struct FarPoints {
  std::vector<double> distances;
  std::vector<int64_t> points;  // of all ranks
  std::vector<std::vector<float>> rows;
  template <class Visitor>
  void visit_arrays(Visitor&& v) {
    v(distances, points, rows);
  }
  // Equal rows have equal labels and distances, so only those need comparing.
  bool has(double distance, std::span<const float> row) const {
    for (size_t t = 0; t < rows.size(); ++t)
      if (distances[t] == distance && std::ranges::equal(rows[t], row)) return true;
    return false;
  }
};

// The `count` own points that are farthest from their centres. A heap, because only the first few
// of all points are wanted.
FarPoints farthest_own(const KMeansProblem& problem, std::span<const double> distances,
                       size_t count) {
  std::vector<uint32_t> heap;
  for (size_t i = 0; i < distances.size(); ++i)
    if (distances[i] > 0) heap.push_back(static_cast<uint32_t>(i));
  const auto is_nearer = [&](uint32_t a, uint32_t b) {
    return distances[a] != distances[b] ? distances[a] < distances[b] : a > b;
  };
  std::ranges::make_heap(heap, is_nearer);
  FarPoints found;
  std::vector<float> buffer;
  while (!heap.empty() && found.rows.size() < count) {
    std::ranges::pop_heap(heap, is_nearer);
    const uint32_t i = heap.back();
    heap.pop_back();
    const std::span<const float> row = problem.row(i, buffer);
    if (found.has(distances[i], row)) continue;
    found.distances.push_back(distances[i]);
    found.points.push_back(problem.rows.begin() + i);
    found.rows.emplace_back(row.begin(), row.end());
  }
  return found;
}

// Of all ranks. Each has as many as may be wanted from it.
FarPoints farthest_of_all(const Rows& rows, FarPoints own, size_t count) {
  if (!rows.is_shared()) return own;
  FarPoints all;
  for (const Message& message : rows.ranks().gather(pack(own))) {
    FarPoints part;
    unpack(message, part);
    for (size_t t = 0; t < part.rows.size(); ++t) {
      all.distances.push_back(part.distances[t]);
      all.points.push_back(part.points[t]);
      all.rows.push_back(std::move(part.rows[t]));
    }
  }
  std::vector<size_t> order(all.rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {  // parts come in the order of points
    return all.distances[a] > all.distances[b];
  });
  FarPoints found;
  for (const size_t t : order) {
    if (found.rows.size() == count) break;
    if (found.has(all.distances[t], all.rows[t])) continue;
    found.distances.push_back(all.distances[t]);
    found.points.push_back(all.points[t]);
    found.rows.push_back(std::move(all.rows[t]));
  }
  return found;
}

}  // namespace

void reseed_empty_clusters(const KMeansProblem& problem, std::span<const int> labels,
                           std::span<const int> empty_clusters, MatrixView<float> centers) {
  if (empty_clusters.empty()) return;
  std::vector<double> distances(problem.points.rows());
  parallel_for(
      problem.points.rows(), KMeansInput::kBlockRows, problem.num_threads, [&](const Block& block) {
        std::vector<float> buffer;
        for (int64_t i = block.begin; i < block.end; ++i)
          if (problem.weight(i) > 0)
            distances[i] =
                squared_distance(problem.row(i, buffer), FloatView(centers).row_span(labels[i]));
      });
  const FarPoints far = farthest_of_all(
      problem.rows, farthest_own(problem, distances, empty_clusters.size()), empty_clusters.size());
  for (size_t t = 0; t < far.rows.size(); ++t)
    std::ranges::copy(far.rows[t], centers.row(empty_clusters[t]));
}

}  // namespace milieu
