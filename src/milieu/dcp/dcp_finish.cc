// SPDX-License-Identifier: Apache-2.0
#include "milieu/dcp/dcp_finish_internal.h"

#include <algorithm>

#include "milieu/base/error.h"

namespace milieu::internal {
namespace {

constexpr double kRelGap = 1e-8;
// In problems of this many features in total, rounds end when J falls by less than this fraction:
// at a million samples a few always change sides.
constexpr int64_t kLargeProblem = int64_t{1} << 24;
constexpr double kSmallFall = 1e-7;

bool has_settled(const DcpProblem& problem, const std::vector<double>& trace) {
  if (problem.num_rows() * problem.d < kLargeProblem || trace.size() < 2) return false;
  return trace[trace.size() - 2] - trace.back() <= kSmallFall * trace.back();
}

// f_k of all samples: n x K.
Matrix<double> exact_values(const DcpProblem& problem, const ExactRows& rows,
                            const Matrix<double>& planes) {
  Matrix<double> values(problem.n, problem.num_parts);
  for (int k = 0; k < problem.num_parts; ++k) {
    const std::vector<double> f = rows.products(planes.row_span(k));
    for (int64_t i = 0; i < problem.n; ++i) values(i, k) = f[i];
  }
  return values;
}

// The split that costs least under the planes [Lampert08, Eq. 7]; equal losses go to the larger f_k
// [Lampert08, Eq. 9], equal f_k to the lowest part.
std::vector<int> best_labels(const DcpProblem& problem, const Matrix<double>& values,
                             const Constraints& constraints) {
  std::vector<int> labels(problem.n);
  if (constraints.empty()) {
    for (int64_t i = 0; i < problem.n; ++i) {
      const auto f = values.row_span(i);
      labels[i] = static_cast<int>(std::max_element(f.begin(), f.end()) - f.begin());
    }
    return labels;
  }
  Matrix<double> costs(problem.n, problem.num_parts);
  for (int64_t i = 0; i < problem.n; ++i)
    for (int k = 0; k < problem.num_parts; ++k)
      costs(i, k) = problem.weight(i) * problem.cost *
                    (problem.loss.value(1 - values(i, k)) - 1e-10 * values(i, k));
  const auto found = constraints.assign(costs);
  require(found.has_value(),
          "no split that obeys all constraints was found within the limits of the search: drop "
          "some of them");
  return *found;
}

double sample_loss(const DcpProblem& problem, const Matrix<double>& values,
                   const std::vector<int>& labels) {
  double sum = 0;
  for (int64_t i = 0; i < problem.n; ++i)
    sum += problem.weight(i) * problem.cost * problem.loss.value(1 - values(i, labels[i]));
  return sum;
}

}  // namespace

void train_planes(const DcpProblem& problem, const ExactRows& rows, Solution& solution,
                  const Monitor& monitor) {
  if (solution.planes.empty()) solution.planes = Matrix<double>(problem.num_parts, problem.d);
  solution.objective = solution.gap = 0;
  std::vector<double> charges(problem.num_rows());
  for (int k = 0; k < problem.num_parts; ++k) {
    for (int64_t i = 0; i < problem.num_rows(); ++i)
      charges[i] = i < problem.n && solution.labels[i] != k ? 0 : problem.cost * problem.weight(i);
    const Classifier found =
        solve_classifier(rows, problem, charges, solution.planes.row_span(k), kRelGap, monitor);
    std::copy(found.plane.begin(), found.plane.end(), solution.planes.row(k));
    solution.objective += found.objective;
    solution.gap += found.gap;
  }
}

void alternate(const DcpProblem& problem, const ExactRows& rows, const Constraints& constraints,
               int max_rounds, const Monitor& monitor, const RoundReport& report,
               Solution& solution) {
  for (int round = 1; round <= max_rounds && !monitor.should_stop(); ++round) {
    const Solution before = solution;
    train_planes(problem, rows, solution, monitor);
    // A stop in the middle, or rounding, leaves nothing gained: the last round is kept.
    const bool is_rounding = !before.trace.empty() && !(solution.objective <= before.objective);
    if (monitor.should_stop() || is_rounding) {
      solution = before;
      solution.is_settled = is_rounding && !monitor.should_stop();
      return;
    }
    solution.trace.push_back(solution.objective);
    report(round, solution.objective);
    const Matrix<double> values = exact_values(problem, rows, solution.planes);
    if (monitor.should_stop()) return;
    std::vector<int> labels = best_labels(problem, values, constraints);
    if (labels == solution.labels || has_settled(problem, solution.trace)) {
      solution.is_settled = true;
      return;
    }
    const double change =
        sample_loss(problem, values, labels) - sample_loss(problem, values, solution.labels);
    if (!(change <= 0)) {  // only a cut search can do that
      solution.is_settled = true;
      return;
    }
    solution.labels = std::move(labels);
    solution.objective += change;
  }
}

void improve_by_moves(const DcpProblem& problem, const ExactRows& rows, int max_rounds,
                      const Monitor& monitor, Solution& solution) {
  const auto no_report = [](int, double) {};
  const Constraints none;
  bool is_better = true;
  for (int round = 0; round < max_rounds && is_better; ++round) {
    is_better = false;
    for (int64_t i = 0; i < problem.n; ++i) {
      for (int k = 0; k < problem.num_parts; ++k) {
        if (monitor.should_stop()) return;
        if (k == solution.labels[i]) continue;
        Solution moved;
        moved.labels = solution.labels;
        moved.planes = solution.planes;
        moved.labels[i] = k;
        alternate(problem, rows, none, max_rounds, monitor, no_report, moved);
        if (monitor.should_stop() || !(moved.objective < solution.objective * (1 - 1e-9))) continue;
        moved.trace = solution.trace;
        moved.trace.push_back(moved.objective);
        solution = std::move(moved);
        is_better = true;
      }
    }
  }
}

}  // namespace milieu::internal
