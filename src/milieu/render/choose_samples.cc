// SPDX-License-Identifier: Apache-2.0
// Which samples show a cluster best: those nearest to its mean, and those for which another
// cluster's mean is nearest compared with their own. Squared Euclidean distances in double; of
// large clusters only some members, evenly spaced, are considered.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/render/contact_sheet.h"

namespace milieu {
namespace {

// The means of this many clusters, the largest ones, compete in "least sure".
constexpr size_t kMaxRivals = 64;
// ... and of each cluster this many members are compared with them, fewer where rows are long.
constexpr int64_t kMaxCompared = 400, kMinCompared = 50;
// Numbers read of one cluster for its mean, and for the comparison: both bound the time.
constexpr int64_t kMaxMeanValues = 4000000, kMaxComparedValues = 20000000;
constexpr int64_t kMinMembers = 100;

struct Cluster {
  int label = 0;
  std::vector<int64_t> rows;     // all members
  std::vector<int64_t> members;  // those considered
  std::vector<double> mean;      // of those
};

struct Scored {
  double score = 0;
  int64_t row = 0;

  friend bool operator<(const Scored& a, const Scored& b) {
    return a.score != b.score ? a.score < b.score : a.row < b.row;
  }
};

template <class T>
std::vector<T> evenly_spaced(const std::vector<T>& values, int64_t max_count) {
  const auto n = static_cast<int64_t>(values.size());
  if (n <= max_count) return values;
  std::vector<T> chosen;
  for (int64_t i = 0; i < max_count; ++i) chosen.push_back(values[i * n / max_count]);
  return chosen;
}

std::vector<double> mean_of(FloatView points, const std::vector<int64_t>& rows) {
  std::vector<double> mean(points.cols(), 0.0);
  for (int64_t row : rows)
    for (int64_t j = 0; j < points.cols(); ++j) mean[j] += points(row, j);
  for (double& value : mean) value /= static_cast<double>(rows.size());
  return mean;
}

// Infinite when a value is not finite, so that distances can be ordered.
double squared_distance(std::span<const float> point, const std::vector<double>& mean) {
  double sum = 0;
  for (size_t j = 0; j < mean.size(); ++j) sum += (point[j] - mean[j]) * (point[j] - mean[j]);
  return std::isfinite(sum) ? sum : INFINITY;
}

// Largest first, ties by label.
std::vector<Cluster> collect_clusters(std::span<const int> labels) {
  std::vector<Cluster> clusters;
  const int highest = labels.empty() ? -1 : *std::max_element(labels.begin(), labels.end());
  clusters.resize(highest + 1);
  for (int label = 0; label <= highest; ++label) clusters[label].label = label;
  for (size_t i = 0; i < labels.size(); ++i)
    if (labels[i] >= 0) clusters[labels[i]].rows.push_back(i);
  std::erase_if(clusters, [](const Cluster& cluster) { return cluster.rows.empty(); });
  std::stable_sort(clusters.begin(), clusters.end(), [](const Cluster& a, const Cluster& b) {
    return a.rows.size() > b.rows.size();
  });
  return clusters;
}

// Members by distance to their mean.
std::vector<Scored> rank_by_distance(FloatView points, const Cluster& cluster) {
  std::vector<Scored> ranked;
  for (int64_t row : cluster.members)
    ranked.push_back({squared_distance(points.row_span(row), cluster.mean), row});
  std::sort(ranked.begin(), ranked.end());
  return ranked;
}

// The members beyond the typical ones, by (distance to the nearest rival mean) - (own distance).
std::vector<Scored> rank_by_margin(FloatView points, const std::vector<Cluster>& clusters,
                                   size_t own, std::span<const Scored> candidates) {
  const auto num_rivals = static_cast<int64_t>(std::min(clusters.size(), kMaxRivals));
  const int64_t values = num_rivals * std::max<int64_t>(1, points.cols());
  const int64_t limit = std::clamp(kMaxComparedValues / values, kMinCompared, kMaxCompared);
  const std::vector<Scored> compared =
      evenly_spaced(std::vector<Scored>(candidates.begin(), candidates.end()), limit);
  std::vector<Scored> ranked;
  for (const Scored& candidate : compared) {
    double nearest = INFINITY;
    for (size_t c = 0; c < static_cast<size_t>(num_rivals); ++c)
      if (c != own)
        nearest =
            std::min(nearest, squared_distance(points.row_span(candidate.row), clusters[c].mean));
    const double margin = nearest - candidate.score;
    ranked.push_back({std::isnan(margin) ? INFINITY : margin, candidate.row});
  }
  std::sort(ranked.begin(), ranked.end());
  return ranked;
}

std::vector<int64_t> first_rows(std::span<const Scored> ranked, int count) {
  std::vector<int64_t> rows;
  for (const Scored& scored : ranked.first(std::min<size_t>(count, ranked.size())))
    rows.push_back(scored.row);
  return rows;
}

}  // namespace

std::vector<ClusterSamples> choose_samples(FloatView points, std::span<const int> labels,
                                           const SampleChoice& choice) {
  require(static_cast<int64_t>(labels.size()) == points.rows(), [&] {
    return fmt::format("labels has {}, points has {}: they must match",
                       counted(labels.size(), "entry", "entries"), counted(points.rows(), "row"));
  });
  std::vector<Cluster> clusters = collect_clusters(labels);
  const size_t num_shown = std::min<size_t>(clusters.size(), choice.max_clusters);
  const size_t num_means = std::min(clusters.size(), std::max(num_shown, kMaxRivals));
  const int64_t max_members =
      std::min(choice.max_members,
               std::max(kMinMembers, kMaxMeanValues / std::max<int64_t>(1, points.cols())));
  parallel_for(num_means, 1, 0, [&](const Block& block) {
    Cluster& cluster = clusters[block.index];
    cluster.members = evenly_spaced(cluster.rows, max_members);
    cluster.mean = mean_of(points, cluster.members);
  });

  std::vector<ClusterSamples> samples(num_shown);
  parallel_for(num_shown, 1, 0, [&](const Block& block) {
    const Cluster& cluster = clusters[block.index];
    ClusterSamples& s = samples[block.index];
    s.cluster = cluster.label;
    s.size = static_cast<int64_t>(cluster.rows.size());
    const std::vector<Scored> ranked = rank_by_distance(points, cluster);
    s.typical = first_rows(ranked, choice.num_typical);
    if (clusters.size() > 1)
      s.least_sure = first_rows(rank_by_margin(points, clusters, block.index,
                                               std::span(ranked).subspan(s.typical.size())),
                                choice.num_least_sure);
  });
  std::sort(samples.begin(), samples.end(),
            [](const ClusterSamples& a, const ClusterSamples& b) { return a.cluster < b.cluster; });
  return samples;
}

std::vector<ClusterSamples> choose_samples_by_margin(std::span<const int> labels,
                                                     std::span<const float> margins,
                                                     const SampleChoice& choice) {
  require(labels.size() == margins.size(), [&] {
    return fmt::format("labels has {}, margins has {}: they must match",
                       counted(labels.size(), "entry", "entries"), margins.size());
  });
  std::vector<Cluster> clusters = collect_clusters(labels);
  clusters.resize(std::min<size_t>(clusters.size(), choice.max_clusters));
  std::vector<ClusterSamples> samples;
  for (const Cluster& cluster : clusters) {
    std::vector<Scored> ranked;  // surest first
    for (const int64_t row : cluster.rows) {
      const double margin = margins[row];
      ranked.push_back({std::isnan(margin) ? INFINITY : -margin, row});
    }
    std::sort(ranked.begin(), ranked.end());
    ClusterSamples s;
    s.cluster = cluster.label;
    s.size = static_cast<int64_t>(cluster.rows.size());
    s.typical = first_rows(ranked, choice.num_typical);
    std::vector<Scored> rest(ranked.begin() + static_cast<int64_t>(s.typical.size()), ranked.end());
    for (Scored& scored : rest) scored.score = -scored.score;
    std::sort(rest.begin(), rest.end());
    s.least_sure = first_rows(rest, choice.num_least_sure);
    samples.push_back(std::move(s));
  }
  std::sort(samples.begin(), samples.end(),
            [](const ClusterSamples& a, const ClusterSamples& b) { return a.cluster < b.cluster; });
  return samples;
}

}  // namespace milieu
