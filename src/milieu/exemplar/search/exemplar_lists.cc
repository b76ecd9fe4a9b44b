// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/memory.h"
#include "milieu/base/parallel.h"
#include "milieu/base/random.h"
#include "milieu/exemplar/search/exemplar_lists_internal.h"
#include "milieu/exemplar/search/nearest_exemplar_internal.h"
#include "milieu/exemplar/search/service_keys_internal.h"
#include "milieu/exemplar/search/stable_penalty_internal.h"
#include "milieu/neighbors/neighbors.h"

namespace milieu::internal {

namespace {

constexpr int kDefaultCutNeighbors = 40;
constexpr int64_t kMaxMedianPairs = 500'000;
constexpr int64_t kSampledRows = 200;

bool has_tree(Distance distance) {
  return distance == Distance::Euclidean || distance == Distance::SquaredEuclidean;
}

// Equal to its transpose to the last bit; in tiles, so that both stay in cache.
bool is_symmetric_matrix(FloatView costs) {
  constexpr int64_t kTile = 64;
  for (int64_t i = 0; i < costs.rows(); i += kTile)
    for (int64_t j = 0; j <= i; j += kTile)
      for (int64_t p = i; p < std::min(i + kTile, costs.rows()); ++p)
        for (int64_t q = j; q < std::min(j + kTile, p); ++q)
          if (costs(p, q) != costs(q, p)) return false;
  return true;
}

float from_squared(Distance distance, double squared) {
  return static_cast<float>(distance == Distance::Euclidean ? std::sqrt(squared) : squared);
}

}  // namespace

ListSource::ListSource(const ExemplarInput& input, const ExemplarOptions& options,
                       std::vector<std::string>& warnings, Monitor& monitor)
    : input_(input),
      options_(options),
      warnings_(warnings),
      monitor_(monitor),
      gamma_(distance_gamma(options.distance, input.points, options.num_threads)) {}

int64_t ListSource::num_samples() const {
  if (input_.lists) return input_.lists->n;
  return input_.costs.empty() ? input_.points.rows() : input_.costs.rows();
}

float ListSource::cost(int64_t p, int64_t q) const {
  if (!input_.costs.empty()) return input_.costs(p, q);
  float value = 0;
  pair_distances(options_.distance, input_.points.rows_between(p, p + 1),
                 input_.points.rows_between(q, q + 1), MatrixView<float>(&value, 1, 1), gamma_);
  return value;
}

double ListSource::asked_penalty() const {
  const int64_t n = num_samples();
  std::vector<float> values;
  const bool is_stable = options_.penalty == "stable";
  if (!is_stable && options_.penalty != "median") return penalty_from_text(options_.penalty, {});
  if (n < 2) return 1.0;
  if (n * (n - 1) <= kMaxMedianPairs) {
    for (int64_t p = 0; p < n; ++p)
      for (int64_t q = 0; q < n; ++q)
        if (p != q) values.push_back(cost(p, q));
  } else {
    Random random(options_.seed);
    while (static_cast<int64_t>(values.size()) < kMaxMedianPairs) {
      if (values.size() % 1024 == 1 && monitor_.should_stop()) break;
      const int64_t p = random.uniform_index(n), q = random.uniform_index(n);
      if (p != q) values.push_back(cost(p, q));
    }
  }
  const double median = penalty_from_text(options_.penalty, std::move(values));
  // A search for a number of exemplars only starts with it.
  if (!is_stable || options_.num_clusters > 0 || n < kMinStableSamples) return median;
  return stable_penalty(
      n, [this](int64_t p, int64_t q) { return cost(p, q); }, median, options_.seed,
      options_.num_threads, monitor_);
}

const ServiceLists& ListSource::lists_for(double penalty) {
  if (input_.lists) return *input_.lists;
  if (!input_.penalties.empty()) {
    if (!has_lists_) lists_ = build({input_.penalties.begin(), input_.penalties.end()}, 0);
    has_lists_ = true;
    return lists_;
  }
  if (!has_lists_ || penalty > highest_penalty_) {
    lists_ = {};  // free them before the larger ones are built
    lists_ = build(std::vector<double>(num_samples(), penalty), 0);
    highest_penalty_ = penalty;
    has_lists_ = true;
  }
  lists_.penalty.assign(num_samples(), penalty);  // what is listed beyond it is not used
  return lists_;
}

void ListSource::prepare_for_count(int num_exemplars) {
  const int64_t n = num_samples();
  highest_penalty_ = std::numeric_limits<float>::max();  // every pair of finite cost
  const int64_t wanted = std::max<int64_t>(kDefaultCutNeighbors, 4 * n / num_exemplars);
  lists_ = build(std::vector<double>(n, highest_penalty_), wanted);
  has_lists_ = true;
}

void ListSource::fill_rows(const Block& block, MatrixView<float> out) const {
  if (input_.costs.empty())
    return pair_distances(options_.distance, input_.points.rows_between(block.begin, block.end),
                          input_.points, out, gamma_);
  for (int64_t i = 0; i < block.size(); ++i)
    std::copy_n(input_.costs.row(block.begin + i), input_.costs.cols(), out.row(i));
}

// How many entries complete lists would have, from a few hundred rows.
double ListSource::estimate_num_entries(double highest_penalty) const {
  const int64_t n = num_samples();
  const int64_t stride = std::max<int64_t>(1, n / kSampledRows);
  Matrix<float> row(1, n);
  int64_t rows = 0, paying = 0;
  for (int64_t p = 0; p < n && !monitor_.should_stop(); p += stride, ++rows) {
    fill_rows(Block{0, p, p + 1}, row);
    for (int64_t q = 0; q < n; ++q) paying += q != p && row(0, q) < highest_penalty;
  }
  return static_cast<double>(paying) / static_cast<double>(std::max<int64_t>(rows, 1)) *
         static_cast<double>(n);
}

// All candidates that can pay when their lists fit (0), else the nearest few. `wanted`: how many
// those few should be; 0: chosen here.
int ListSource::choose_num_neighbors(double highest_penalty, bool is_symmetric, int64_t wanted) {
  const int64_t n = num_samples();
  const double budget = options_.max_memory_gb * 1e9;
  const auto bytes = [&](double entries, bool symmetric) {
    return static_cast<double>(estimate_list_bytes(n, static_cast<int64_t>(entries), symmetric));
  };
  const auto require_room = [&](double needed) {
    require_memory({needed, fmt::format("the lists of candidates of {} samples", n),
                    "keep fewer candidates (num_neighbors 40, say), or lower max_memory_gb"});
  };
  int64_t kept = options_.num_neighbors;
  if (kept == 0) {
    const double all = static_cast<double>(n) * static_cast<double>(n - 1);
    const double complete = bytes(all, is_symmetric) <= budget
                                ? bytes(all, is_symmetric)
                                : bytes(estimate_num_entries(highest_penalty), is_symmetric);
    if (complete <= budget) {
      require_room(complete);
      return 0;
    }
    kept = std::max<int64_t>(wanted, kDefaultCutNeighbors);
    while (kept > kDefaultCutNeighbors && bytes(static_cast<double>(n * kept), false) > budget)
      kept = std::max<int64_t>(kDefaultCutNeighbors, kept * 9 / 10);
    warnings_.push_back(fmt::format(
        "complete lists would take about {:.1f} GB, max_memory_gb is {}: each sample keeps its {} "
        "nearest candidates; the lower bound still holds for the full problem",
        complete / 1e9, options_.max_memory_gb, kept));
  }
  kept = std::min(kept, n - 1);
  require(bytes(static_cast<double>(n * kept), false) <= budget, [&] {
    return fmt::format(
        "lists of {} for each of {} take about {:.2g} GB, max_memory_gb is {}: "
        "raise it, or lower num_neighbors",
        counted(kept, "candidate"), counted(n, "sample"),
        bytes(static_cast<double>(n * kept), false) / 1e9, options_.max_memory_gb);
  });
  require_room(bytes(static_cast<double>(n * kept), false));
  return static_cast<int>(kept);
}

ServiceLists ListSource::build(std::vector<double> penalty, int64_t wanted) {
  const int64_t n = num_samples();
  require(static_cast<int64_t>(penalty.size()) == n, [&] {
    return fmt::format("penalty has {}, there are {}: they must match",
                       counted(penalty.size(), "value"), counted(n, "sample"));
  });
  const auto [lowest, highest] = std::minmax_element(penalty.begin(), penalty.end());
  const bool is_symmetric =
      *lowest == *highest && (input_.costs.empty() || is_symmetric_matrix(input_.costs));
  const int kept = n > 1 ? choose_num_neighbors(*highest, is_symmetric, wanted) : 0;
  if (kept > 0 && !input_.points.empty() && has_tree(options_.distance))
    return build_by_tree(std::move(penalty), kept);
  return lists_from_rows(
      n, penalty, kept, options_.num_threads, monitor_,
      [this](const Block& block, MatrixView<float> out) { fill_rows(block, out); }, is_symmetric);
}

// The nearest neighbours of every sample; the one after the last kept gives the cap.
ServiceLists ListSource::build_by_tree(std::vector<double> penalty, int kept) {
  const int64_t n = num_samples();
  NeighborOptions search;
  search.exclude_self = true;
  search.num_threads = options_.num_threads;
  const int k = static_cast<int>(std::min<int64_t>(kept + 1, n - 1));
  const NeighborLists found = nearest_neighbors(input_.points, input_.points, k, search, monitor_);
  if (!found.is_complete) return unknown_lists(n, penalty);
  ServiceLists lists;
  lists.n = n;
  lists.cap = penalty;
  lists.begin.assign(1, 0);
  for (int64_t p = 0; p < n; ++p) {
    if (p % 4096 == 0 && monitor_.should_stop()) return unknown_lists(n, penalty);
    for (int64_t j = 0; j < std::min(kept, k); ++j) {
      const float cost = from_squared(options_.distance, found.squared_distances(p, j));
      if (!(cost < penalty[p])) break;
      lists.server.push_back(found.indices(p, j));
      lists.cost.push_back(cost);
    }
    lists.begin.push_back(lists.num_entries());
    if (k > kept)
      lists.cap[p] = std::min<double>(
          penalty[p], from_squared(options_.distance, found.squared_distances(p, kept)));
  }
  lists.penalty = std::move(penalty);
  if (!build_columns(lists, options_.num_threads, monitor_)) return unknown_lists(n, lists.penalty);
  return lists;
}

}  // namespace milieu::internal
