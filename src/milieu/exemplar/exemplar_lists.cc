// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/base/random.h"
#include "milieu/exemplar/exemplar_lists_internal.h"
#include "milieu/neighbors/neighbors.h"

namespace milieu::internal {

namespace {

constexpr int kDefaultCutNeighbors = 40;
constexpr int64_t kMaxMedianPairs = 500'000;
constexpr int64_t kSampledRows = 200;
constexpr int64_t kRowsPerBlock = 32;

// Costs from one sample to all, in the units of the distance.
void row_costs(Distance distance, FloatView points, int64_t p, MatrixView<float> out) {
  pair_distances(distance, points.rows_between(p, p + 1), points, out);
}

double median_of(std::vector<float>& values) {
  const size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + middle, values.end());
  if (values.size() % 2 == 1) return values[middle];
  const float below = *std::max_element(values.begin(), values.begin() + middle);
  return 0.5 * (static_cast<double>(below) + values[middle]);
}

bool is_number(const std::string& text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool has_tree(Distance distance) {
  return distance == Distance::Euclidean || distance == Distance::SquaredEuclidean;
}

float from_squared(Distance distance, double squared) {
  return static_cast<float>(distance == Distance::Euclidean ? std::sqrt(squared) : squared);
}

}  // namespace

ListSource::ListSource(const ExemplarInput& input, const ExemplarOptions& options,
                       std::vector<std::string>& warnings, Monitor& monitor)
    : input_(input), options_(options), warnings_(warnings), monitor_(monitor) {}

int64_t ListSource::num_samples() const {
  if (input_.lists) return input_.lists->n;
  return input_.costs.empty() ? input_.points.rows() : input_.costs.rows();
}

float ListSource::cost(int64_t p, int64_t q) const {
  if (!input_.costs.empty()) return input_.costs(p, q);
  float value = 0;
  pair_distances(options_.distance, input_.points.rows_between(p, p + 1),
                 input_.points.rows_between(q, q + 1), MatrixView<float>(&value, 1, 1));
  return value;
}

double ListSource::asked_penalty() const {
  double number = 0;
  if (is_number(options_.penalty, number)) {
    require(std::isfinite(number), "penalty must be a finite number or median");
    return number;
  }
  require(options_.penalty == "median", [&] {
    return fmt::format("penalty is '{}', must be a number or median", options_.penalty);
  });
  const int64_t n = num_samples();
  if (n < 2) return 1.0;
  std::vector<float> values;
  if (n * (n - 1) <= kMaxMedianPairs) {
    for (int64_t p = 0; p < n; ++p)
      for (int64_t q = 0; q < n; ++q)
        if (p != q) values.push_back(cost(p, q));
  } else {
    Random random(options_.seed);
    while (static_cast<int64_t>(values.size()) < kMaxMedianPairs) {
      const int64_t p = random.uniform_index(n), q = random.uniform_index(n);
      if (p != q) values.push_back(cost(p, q));
    }
  }
  std::erase_if(values, [](float value) { return !std::isfinite(value); });
  require(!values.empty(), "penalty is median, but no distance is finite: give a number");
  // Mostly duplicates: a penalty of 0 would make every sample an exemplar.
  const double median = median_of(values);
  if (median > 0) return median;
  double sum = 0;
  for (float value : values) sum += value;
  return sum > 0 ? sum / static_cast<double>(values.size()) : 1.0;
}

const ServiceLists& ListSource::lists_for(double penalty) {
  if (input_.lists) return *input_.lists;
  if (!input_.penalties.empty()) {
    if (!has_widest_) widest_ = build({input_.penalties.begin(), input_.penalties.end()});
    has_widest_ = true;
    return widest_;
  }
  const std::vector<double> penalties(num_samples(), penalty);
  if (has_widest_ && penalty == widest_penalty_) return widest_;
  if (has_widest_ && penalty < widest_penalty_) {
    cut_ = with_penalty(widest_, penalties);
    return cut_;
  }
  widest_ = {};  // free it before the larger one is built
  widest_ = build(penalties);
  widest_penalty_ = penalty;
  has_widest_ = true;
  return widest_;
}

ServiceLists ListSource::build(std::vector<double> penalty) {
  if (!input_.costs.empty())
    return lists_from_matrix(input_.costs, penalty, options_.num_threads, monitor_);
  return build_from_points(std::move(penalty));
}

// All candidates that can pay when their lists fit, else the nearest few.
int ListSource::choose_num_neighbors(double highest_penalty) {
  const int64_t n = num_samples();
  if (options_.num_neighbors > 0)
    return static_cast<int>(std::min<int64_t>(options_.num_neighbors, n - 1));
  const int64_t stride = std::max<int64_t>(1, n / kSampledRows);
  Matrix<float> row(1, n);
  int64_t rows = 0, paying = 0;
  for (int64_t p = 0; p < n; p += stride, ++rows) {
    row_costs(options_.distance, input_.points, p, row);
    for (int64_t q = 0; q < n; ++q) paying += q != p && row(0, q) < highest_penalty;
  }
  const double entries = static_cast<double>(paying) / rows * n;
  const double gigabytes =
      static_cast<double>(estimate_list_bytes(n, static_cast<int64_t>(entries))) / 1e9;
  if (gigabytes <= options_.max_memory_gb) return 0;
  const int kept = static_cast<int>(std::min<int64_t>(kDefaultCutNeighbors, n - 1));
  warnings_.push_back(fmt::format(
      "complete lists would take about {:.1f} GB, max_memory_gb is {}: each sample keeps its {} "
      "nearest candidates; the lower bound still holds for the full problem",
      gigabytes, options_.max_memory_gb, kept));
  return kept;
}

ServiceLists ListSource::build_from_points(std::vector<double> penalty) {
  const FloatView points = input_.points;
  const int64_t n = points.rows();
  const double highest = *std::max_element(penalty.begin(), penalty.end());
  const int kept = n > 1 ? choose_num_neighbors(highest) : 0;
  std::vector<ServiceEntry> entries;
  std::vector<double> cap = penalty;
  if (kept > 0 && has_tree(options_.distance)) {
    NeighborOptions search;
    search.exclude_self = true;
    search.num_threads = options_.num_threads;
    const int k = static_cast<int>(std::min<int64_t>(kept + 1, n - 1));
    const NeighborLists found = nearest_neighbors(points, points, k, search, monitor_);
    for (int64_t p = 0; p < n; ++p) {
      for (int j = 0; j < std::min(kept, k); ++j)
        if (found.indices(p, j) >= 0)
          entries.push_back({static_cast<int>(p), found.indices(p, j),
                             from_squared(options_.distance, found.squared_distances(p, j))});
      if (k > kept) cap[p] = from_squared(options_.distance, found.squared_distances(p, kept));
    }
    return lists_from_entries(n, std::move(entries), penalty, std::move(cap));
  }
  return lists_from_rows(n, penalty, kept, options_.num_threads, monitor_,
                         [&](const Block& block, MatrixView<float> out) {
                           pair_distances(options_.distance,
                                          points.rows_between(block.begin, block.end), points, out);
                         });
}

}  // namespace milieu::internal
