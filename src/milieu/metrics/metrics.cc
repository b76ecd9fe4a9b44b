// SPDX-License-Identifier: Apache-2.0
// All figures come from one table n_ij: samples of cluster i and class j, with row sums a_i
// (cluster sizes), column sums b_j (class sizes) and total n. Formulas: docs/metrics.md.
//
// Conventions
//   truth -1           the sample is left out everywhere.
//   label -1           the sample has no cluster. It is wrong in accuracy, error, balanced_error,
//                      purity and f, and it is paired with no other sample in the pairwise figures
//                      and B-cubed. NMI and ARI compare partitions of all samples: there such
//                      samples form one more cluster, which is what scikit-learn computes from the
//                      same labels.
//   equal matchings    among matchings with the same accuracy the one with the smallest mean error
//                      of the classes is taken, so that no figure depends on how clusters are
//                      named. balanced_error has a matching of its own, the best for it.
//   identical          one cluster and one class, and partitions equal up to names, give exactly 1.
//   no information     NMI is exactly 0 when one side has a single part and the other has several.
//   no pairs           0/0 in the pairwise figures is 1 when neither side puts a pair together,
//   else 0.
#include "milieu/metrics/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/metrics/assignment_internal.h"
#include "milieu/metrics/contingency_internal.h"
#include "milieu/metrics/rand_index.h"

namespace milieu {

namespace {

using internal::Parts;
using internal::Table;
using internal::Wide;

void check_values(std::span<const int> values, const char* name) {
  for (size_t i = 0; i < values.size(); ++i)
    require(values[i] >= -1, [&] {
      return fmt::format("{}[{}] is {}, must be -1 (none) or at least 0", name, i, values[i]);
    });
}

// Weights that rank matchings by accuracy first and balanced accuracy second. A matched cell (i, j)
// is worth n_ij * (first + 2^s / b_j) with `first` above the largest sum of second parts
// n_ij 2^s / b_j <= 2^s, of which there are at most num_classes.
std::vector<Wide> matching_weights(const Table& table) {
  constexpr int kSecondBits = 60;
  const int class_bits = std::bit_width(static_cast<unsigned>(table.num_classes));
  const Wide first = Wide{1} << (kSecondBits + class_bits);
  std::vector<Wide> weights(table.num_classes);
  for (int j = 0; j < table.num_classes; ++j)
    weights[j] = first + (Wide{1} << kSecondBits) / table.col_sums[j];
  return weights;
}

// How many labels from 0 on have a place in sizes and class_from_cluster.
size_t num_places(const Parts& clusters) {
  constexpr int kMaxPlaces = 100'000'000;
  if (clusters.values.empty() || clusters.values.back() >= kMaxPlaces) return 0;
  return static_cast<size_t>(clusters.values.back()) + 1;
}

void set_sizes(const Table& table, const Parts& clusters, Metrics& metrics) {
  metrics.sizes.assign(num_places(clusters), 0);
  for (int i = 0; i < table.num_clusters && !metrics.sizes.empty(); ++i)
    metrics.sizes[clusters.values[i]] = table.row_sums[i];
}

// 1 - the mean over classes of the share that their cluster holds, under the matching that is best
// for it: that of the accuracy can be worse than its reverse where classes are unequal.
double best_balanced_error(const Table& table) {
  constexpr int kBits = 60;
  std::vector<Wide> weights(table.num_classes);
  for (int j = 0; j < table.num_classes; ++j) weights[j] = (Wide{1} << kBits) / table.col_sums[j];
  const size_t cells = static_cast<size_t>(table.num_clusters) * table.num_classes;
  const std::vector<int> match = internal::weighted_assignment(
      std::span(table.counts).first(cells), table.num_clusters, table.num_classes, weights);
  double recall_sum = 0;
  for (int i = 0; i < table.num_clusters; ++i)
    if (match[i] >= 0)
      recall_sum +=
          static_cast<double>(table(i, match[i])) / static_cast<double>(table.col_sums[match[i]]);
  return std::max(0.0, 1 - recall_sum / table.num_classes);
}

// accuracy, error, balanced_error, class_from_cluster.
void set_matched(const Table& table, const Parts& clusters, const Parts& classes,
                 Metrics& metrics) {
  const size_t cells = static_cast<size_t>(table.num_clusters) * table.num_classes;
  const std::vector<int> match =
      internal::weighted_assignment(std::span(table.counts).first(cells), table.num_clusters,
                                    table.num_classes, matching_weights(table));
  int64_t num_matched = 0;
  metrics.class_from_cluster.assign(num_places(clusters), -1);
  for (int i = 0; i < table.num_clusters; ++i) {
    if (match[i] < 0 || table(i, match[i]) == 0) continue;
    const int64_t count = table(i, match[i]);
    num_matched += count;
    if (!metrics.class_from_cluster.empty())
      metrics.class_from_cluster[clusters.values[i]] = classes.values[match[i]];
  }
  const auto n = static_cast<double>(table.n);
  metrics.accuracy = static_cast<double>(num_matched) / n;
  metrics.error = static_cast<double>(table.n - num_matched) / n;
  metrics.balanced_error = best_balanced_error(table);
}

// -sum p ln p over the first `count` parts.
double entropy(const std::vector<int64_t>& sums, int count, int64_t n) {
  long double sum = 0;
  for (int i = 0; i < count; ++i)
    if (sums[i] > 0) {
      const long double p = static_cast<long double>(sums[i]) / static_cast<long double>(n);
      sum -= p * std::log(p);
    }
  return static_cast<double>(sum);
}

double mutual_information(const Table& table) {
  const auto n = static_cast<long double>(table.n);
  long double sum = 0;
  for (int i = 0; i < table.num_parts(); ++i)
    for (int j = 0; j < table.num_classes; ++j)
      if (table(i, j) > 0) {
        const auto count = static_cast<long double>(table(i, j));
        const long double expected = static_cast<long double>(table.row_sums[i]) *
                                     static_cast<long double>(table.col_sums[j]);
        sum += count / n * std::log(count * n / expected);
      }
  return static_cast<double>(sum);
}

// Every cluster is one class and every class one cluster.
bool is_identical(const Table& table) {
  if (table.num_parts() != table.num_classes) return false;
  for (int i = 0; i < table.num_parts(); ++i)
    for (int j = 0; j < table.num_classes; ++j)
      if (table(i, j) != 0 &&
          (table(i, j) != table.row_sums[i] || table(i, j) != table.col_sums[j]))
        return false;
  return true;
}

void set_information(const Table& table, Metrics& metrics) {
  if (is_identical(table)) {
    metrics.nmi = metrics.nmi_sqrt = metrics.nmi_max = 1;
    return;
  }
  const double information = mutual_information(table);
  if (information <= std::numeric_limits<double>::epsilon()) return;  // all three are 0
  const double clusters = entropy(table.row_sums, table.num_parts(), table.n);
  const double classes = entropy(table.col_sums, table.num_classes, table.n);
  metrics.nmi = std::min(1.0, information / ((clusters + classes) / 2));
  metrics.nmi_sqrt = std::min(1.0, information / std::sqrt(clusters * classes));
  metrics.nmi_max = std::min(1.0, information / std::max(clusters, classes));
}

// Pairs inside the parts; exact while n <= 4 * 10^9.
int64_t num_pairs(std::span<const int64_t> counts) {
  int64_t pairs = 0;
  for (int64_t count : counts)
    pairs += count % 2 == 0 ? count / 2 * (count - 1) : (count - 1) / 2 * count;
  return pairs;
}

double ratio(int64_t part, int64_t whole, bool is_perfect) {
  if (whole == 0) return is_perfect ? 1 : 0;
  return static_cast<double>(part) / static_cast<double>(whole);
}

void set_pairwise(const Table& table, Metrics& metrics) {
  const size_t cells = static_cast<size_t>(table.num_clusters) * table.num_classes;
  const int64_t both = num_pairs(std::span(table.counts).first(cells));
  const int64_t together = num_pairs(std::span(table.row_sums).first(table.num_clusters));
  const int64_t same_class = num_pairs(table.col_sums);
  const bool is_perfect = together == 0 && same_class == 0;
  metrics.precision_pairwise = ratio(both, together, is_perfect);
  metrics.recall_pairwise = ratio(both, same_class, is_perfect);
  metrics.f_pairwise = is_perfect
                           ? 1
                           : 2 * static_cast<double>(both) /
                                 (static_cast<double>(together) + static_cast<double>(same_class));
}

// B-cubed: each sample counts itself; one without a cluster is alone.
void set_bcubed(const Table& table, Metrics& metrics) {
  long double precision = 0, recall = 0;
  for (int j = 0; j < table.num_classes; ++j) {
    const auto size = static_cast<long double>(table.col_sums[j]);
    int64_t alone = table.col_sums[j];
    for (int i = 0; i < table.num_clusters; ++i) {
      const auto count = static_cast<long double>(table(i, j));
      precision += count * count / static_cast<long double>(table.row_sums[i]);
      recall += count * count / size;
      alone -= table(i, j);
    }
    precision += static_cast<long double>(alone);
    recall += static_cast<long double>(alone) / size;
  }
  const auto n = static_cast<long double>(table.n);
  metrics.precision_bcubed = static_cast<double>(precision / n);
  metrics.recall_bcubed = static_cast<double>(recall / n);
  metrics.f_bcubed =
      static_cast<double>(2 * (precision / n) * (recall / n) / (precision / n + recall / n));
}

void set_best_match(const Table& table, Metrics& metrics) {
  int64_t majority = 0;
  std::vector<double> best_f(table.num_classes, 0);
  for (int i = 0; i < table.num_clusters; ++i) {
    int64_t largest = 0;
    for (int j = 0; j < table.num_classes; ++j) {
      largest = std::max(largest, table(i, j));
      const double f = 2 * static_cast<double>(table(i, j)) /
                       static_cast<double>(table.row_sums[i] + table.col_sums[j]);
      best_f[j] = std::max(best_f[j], f);
    }
    majority += largest;
  }
  const auto n = static_cast<double>(table.n);
  double weighted = 0;
  for (int j = 0; j < table.num_classes; ++j)
    weighted += static_cast<double>(table.col_sums[j]) * best_f[j];
  metrics.purity = static_cast<double>(majority) / n;
  metrics.f = weighted / n;
}

}  // namespace

Metrics compute_metrics(std::span<const int> labels, std::span<const int> truth) {
  require(labels.size() == truth.size(), [&] {
    return fmt::format("labels has {}, truth has {}: they must match",
                       counted(labels.size(), "entry", "entries"), truth.size());
  });
  check_values(labels, "labels");
  check_values(truth, "truth");
  std::vector<int> kept_labels, kept_truth;
  for (size_t i = 0; i < truth.size(); ++i)
    if (truth[i] >= 0) {
      kept_labels.push_back(labels[i]);
      kept_truth.push_back(truth[i]);
    }
  require(!kept_truth.empty(), [&] {
    return fmt::format("truth has {}, none of them a class: there is nothing to compare",
                       counted(truth.size(), "entry", "entries"));
  });
  const Parts clusters = internal::compact(std::move(kept_labels));
  const Parts classes = internal::compact(std::move(kept_truth));
  const Table table = internal::make_table(clusters, classes);

  Metrics metrics;
  metrics.n = table.n;
  metrics.num_clusters = table.num_clusters;
  metrics.num_classes = table.num_classes;
  set_sizes(table, clusters, metrics);
  set_matched(table, clusters, classes, metrics);
  set_information(table, metrics);
  set_pairwise(table, metrics);
  set_bcubed(table, metrics);
  metrics.ari = adjusted_rand_index(table.counts, table.num_clusters + 1, table.num_classes);
  set_best_match(table, metrics);
  return metrics;
}

}  // namespace milieu
