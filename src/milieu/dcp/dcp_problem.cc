// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/counted.h"
#include "milieu/dcp/dcp_problem_internal.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/neighbors/check_points.h"

namespace milieu::internal {
namespace {

void check_weights(std::span<const double> weights, int64_t rows, const char* name,
                   const char* of) {
  if (weights.empty()) return;
  require(static_cast<int64_t>(weights.size()) == rows, [&] {
    return fmt::format("{} has {}, {} has {}: they must match", name,
                       counted(weights.size(), "entry", "entries"), of, counted(rows, "row"));
  });
  double sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    require(std::isfinite(weights[i]) && weights[i] >= 0, [&] {
      return fmt::format("{}[{}] is {}, must be finite and at least 0", name, i, weights[i]);
    });
    sum += weights[i];
  }
  require(sum > 0, [&] { return fmt::format("{} are all 0: one must be above 0", name); });
}

void check_labels(std::span<const int> labels, int64_t n, int low, int num_parts,
                  const char* name) {
  if (labels.empty()) return;
  require(static_cast<int64_t>(labels.size()) == n, [&] {
    return fmt::format("{} has {}, points has {}: they must match", name,
                       counted(labels.size(), "entry", "entries"), counted(n, "row"));
  });
  for (size_t i = 0; i < labels.size(); ++i)
    require(labels[i] >= low && labels[i] < num_parts, [&] {
      return fmt::format("{}[{}] is {}, must be between {} and {} (num_clusters is {})", name, i,
                         labels[i], low, num_parts - 1, num_parts);
    });
}

std::vector<float> join_weights(const DcpInput& input) {
  if (input.weights.empty() && input.context_weights.empty()) return {};
  const int64_t n = input.points.rows(), m = input.context.rows();
  std::vector<float> weights(n + m, 1.0f);
  std::transform(input.weights.begin(), input.weights.end(), weights.begin(),
                 [](double w) { return static_cast<float>(w); });
  std::transform(input.context_weights.begin(), input.context_weights.end(), weights.begin() + n,
                 [](double w) { return static_cast<float>(w); });
  return weights;
}

double total_weight(const DcpInput& input) {
  if (input.weights.empty()) return static_cast<double>(input.points.rows());
  return std::accumulate(input.weights.begin(), input.weights.end(), 0.0);
}

// The rounded copy, and the mean squared length of its rows.
void fill_rows(DcpProblem& problem) {
  const int64_t rows = problem.num_rows(), d = problem.d;
  problem.rows = Matrix<float>(rows, d);
  const double squared = parallel_reduce(
      rows, problem.block_size(), problem.num_threads, 0.0,
      [&](const Block& block, double& sum) {
        std::vector<double> exact(block.size() * d);
        problem.source->fill(block.begin, block.end, exact.data());
        float* out = problem.rows.row(block.begin);
        for (size_t i = 0; i < exact.size(); ++i) {
          out[i] = static_cast<float>(exact[i]);
          sum += exact[i] * exact[i];
        }
      },
      [](double& total, double part) { total += part; });
  problem.mean_square = squared / static_cast<double>(rows);
  require(std::isfinite(problem.mean_square) && problem.mean_square < 1e36, [&] {
    return fmt::format("the samples have a mean squared length of {}: set --scale true",
                       problem.mean_square);
  });
}

}  // namespace

void validate_dcp(const DcpInput& input, const DcpOptions& options) {
  validate_options(options);
  check_points(input.points, "points", options.num_threads);
  require(input.context.rows() > 0,
          "context has no rows: give the samples to separate the parts from");
  require(input.context.cols() == input.points.cols(), [&] {
    return fmt::format("context has {}, points has {}: they must match",
                       counted(input.context.cols(), "column"), input.points.cols());
  });
  check_points(input.context, "context", options.num_threads);
  const int64_t n = input.points.rows(), m = input.context.rows();
  require(options.num_clusters <= n, [&] {
    return fmt::format("num_clusters is {}, must be at most the number of samples, {}",
                       options.num_clusters, n);
  });
  if (options.kernel == DcpKernel::Precomputed)
    require(input.points.cols() == n + m, [&] {
      return fmt::format(
          "the precomputed kernel needs {} (similarities with {}, then with {} of "
          "the context), there are {}",
          counted(n + m, "column"), counted(n, "sample"), m, input.points.cols());
    });
  check_weights(input.weights, n, "weights", "points");
  check_weights(input.context_weights, m, "context_weights", "context");
  check_labels(input.initial_labels, n, 0, options.num_clusters, "initial_labels");
  check_labels(input.memberships, n, -1, options.num_clusters, "memberships");
  require(options.init != DcpInit::Axes || options.whiten != "none",
          "init is axes, whiten is none: axes are those of whitened features, choose another init");
}

int64_t DcpProblem::block_size() const {
  return std::clamp<int64_t>(65536 / std::max<int64_t>(d, 1), 32, 4096);
}

std::vector<double> parse_floors(const std::string& text) {
  std::vector<double> floors;
  if (text == "none") return floors;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    std::string_view item = std::string_view(text).substr(begin, end - begin);
    while (item.starts_with(' ')) item.remove_prefix(1);
    double floor = -1;
    const auto [last, error] = std::from_chars(item.data(), item.data() + item.size(), floor);
    require(error == std::errc() && last == item.data() + item.size() && std::isfinite(floor) &&
                floor >= 0,
            [&] {
              return fmt::format(
                  "whiten is '{}', must be none or numbers of at least 0, such as 1,0.3,0.1", text);
            });
    floors.push_back(floor);
    begin = end + 1;
  }
  return floors;
}

DcpProblems::DcpProblems(const DcpInput& input, const DcpOptions& options, Monitor& monitor)
    : input_(input), options_(options) {
  floors_ = parse_floors(options.whiten);
  DcpOptions inner = options;
  if (!floors_.empty()) inner.bias = 0;  // added to the components
  source_ = options.kernel == DcpKernel::Linear ? make_linear_features(input, inner)
                                                : make_kernel_features(input, inner, monitor);
  if (source_ != nullptr && !floors_.empty())
    principal_ = find_principal_rows(std::move(source_), joined_shares(input), options.num_threads,
                                     monitor, team_of(input));
}

DcpProblem DcpProblems::make(size_t which) {
  DcpProblem problem;
  problem.n = input_.points.rows();
  problem.m = input_.context.rows();
  problem.num_parts = options_.num_clusters;
  problem.loss = {options_.loss, options_.loss == DcpLoss::Huber ? options_.huber_width : 0};
  problem.cost = options_.cost;
  if (options_.cost_per == DcpCostPer::Set) problem.cost /= total_weight(input_);
  problem.num_threads = options_.num_threads;
  problem.team = &team_of(input_);
  problem.weights = join_weights(input_);
  if (principal_ != nullptr) {
    problem.floor = floors_[which];
    problem.source = make_whitened_features(principal_, problem.floor, options_.bias);
  } else {
    problem.source = std::move(source_);
  }
  if (problem.source == nullptr) return problem;
  problem.d = problem.source->cols();
  fill_rows(problem);
  return problem;
}

DcpProblem make_dcp_problem(const DcpInput& input, const DcpOptions& options, Monitor& monitor) {
  validate_dcp(input, options);
  return DcpProblems(input, options, monitor).make(0);
}

std::vector<double> joined_shares(const DcpInput& input) {
  if (input.weights.empty() && input.context_weights.empty()) return {};
  const auto n = static_cast<size_t>(input.points.rows()),
             m = static_cast<size_t>(input.context.rows());
  std::vector<double> shares(n + m, 1.0);
  std::ranges::copy(input.weights, shares.begin());
  std::ranges::copy(input.context_weights, shares.begin() + static_cast<int64_t>(n));
  const double total = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= total;
  return shares;
}

}  // namespace milieu::internal
