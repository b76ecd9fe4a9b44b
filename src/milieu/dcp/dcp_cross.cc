// SPDX-License-Identifier: Apache-2.0
// Crossing: a plane of one restart beside the planes of another. Two minima often share one good
// plane and differ in the other; all pairs are tried in a single pass, because the losses of the
// context belong to the planes alone and those of the samples need the largest value only.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "milieu/base/parallel.h"
#include "milieu/dcp/dcp_search_internal.h"
#include "milieu/linalg/gemm.h"

namespace milieu::internal {
namespace {

constexpr float kLowest = std::numeric_limits<float>::lowest();

// Restart `base` with its part `part` replaced by plane `plane` of all planes together.
struct Crossing {
  int base = 0;
  int part = 0;
  int64_t plane = 0;
  double objective = 0;
};

std::vector<Crossing> list_crossings(const DcpProblem& problem, const std::vector<Found>& found,
                                     int num_bases) {
  std::vector<int> order(found.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return found[a].objective < found[b].objective; });
  order.resize(std::min<size_t>(order.size(), num_bases));
  std::vector<Crossing> crossings;
  for (const int base : order)
    for (int part = 0; part < problem.num_parts; ++part)
      for (int64_t plane = 0; plane < static_cast<int64_t>(found.size()) * problem.num_parts;
           ++plane)
        if (plane / problem.num_parts != base) crossings.push_back({base, part, plane, 0});
  return crossings;
}

// What the losses of a block of rows add: of the context to every plane, of the samples to every
// crossing.
struct CrossSums {
  std::vector<double> planes, crossings;
  template <class Visitor>
  void visit_arrays(Visitor&& v) {
    v(planes, crossings);
  }
};

class CrossPass {
 public:
  CrossPass(const DcpProblem& problem, const std::vector<Crossing>& crossings,
            const Matrix<float>& planes)
      : problem_(problem), crossings_(crossings), planes_(planes) {}

  void add(const Block& block, CrossSums& sums) const {
    Matrix<float> f(planes_.rows(), block.size());
    gemm_nt(1, planes_, problem_.rows.view().rows_between(block.begin, block.end), 0, f);
    const int64_t num_samples = std::clamp<int64_t>(problem_.n - block.begin, 0, block.size());
    for (int64_t p = 0; p < f.rows(); ++p)
      for (int64_t i = num_samples; i < block.size(); ++i)
        sums.planes[p] += charge(block.begin + i, 1 + f(p, i));
    if (num_samples == 0) return;
    std::vector<float> others(num_samples);  // largest value of the parts that stay
    for (size_t c = 0; c < crossings_.size(); ++c) {
      const Crossing& crossing = crossings_[c];
      if (c == 0 || crossing.base != crossings_[c - 1].base ||
          crossing.part != crossings_[c - 1].part)
        fill_others(f, crossing, others);
      const float* own = f.row(crossing.plane);
      double sum = 0;
      for (int64_t i = 0; i < num_samples; ++i)
        sum += charge(block.begin + i, 1 - std::max(own[i], others[i]));
      sums.crossings[c] += sum;
    }
  }

 private:
  double charge(int64_t row, float violation) const {
    return problem_.weight(row) * problem_.loss.value(violation);
  }
  void fill_others(const Matrix<float>& f, const Crossing& crossing,
                   std::vector<float>& others) const {
    std::fill(others.begin(), others.end(), kLowest);
    for (int part = 0; part < problem_.num_parts; ++part) {
      if (part == crossing.part) continue;
      const float* values = f.row(int64_t{crossing.base} * problem_.num_parts + part);
      for (size_t i = 0; i < others.size(); ++i) others[i] = std::max(others[i], values[i]);
    }
  }

  const DcpProblem& problem_;
  const std::vector<Crossing>& crossings_;
  const Matrix<float>& planes_;
};

// J of every crossing, from one pass over the data.
void evaluate_crossings(const DcpProblem& problem, const Matrix<float>& planes,
                        const Monitor& monitor, std::vector<Crossing>& crossings) {
  const CrossPass pass(problem, crossings, planes);
  const CrossSums zero{std::vector<double>(planes.rows()), std::vector<double>(crossings.size())};
  const CrossSums sums = problem.team->parallel_reduce(
      problem.num_rows(), problem.block_size(), problem.num_threads, zero,
      [&](const Block& block, CrossSums& part) {
        if (!monitor.should_stop()) pass.add(block, part);
      },
      [](CrossSums& total, const CrossSums& part) {
        for (size_t i = 0; i < total.planes.size(); ++i) total.planes[i] += part.planes[i];
        for (size_t i = 0; i < total.crossings.size(); ++i) total.crossings[i] += part.crossings[i];
      });
  std::vector<double> fixed(planes.rows());  // what a plane costs whatever the others are
  for (int64_t p = 0; p < planes.rows(); ++p) {
    for (const float value : planes.row_span(p)) fixed[p] += 0.5 * value * value;
    fixed[p] += problem.cost * sums.planes[p];
  }
  for (size_t c = 0; c < crossings.size(); ++c) {
    Crossing& crossing = crossings[c];
    crossing.objective = problem.cost * sums.crossings[c] + fixed[crossing.plane];
    for (int part = 0; part < problem.num_parts; ++part)
      if (part != crossing.part)
        crossing.objective += fixed[int64_t{crossing.base} * problem.num_parts + part];
  }
}

}  // namespace

std::vector<CrossedStart> cross_restarts(const DcpProblem& problem, const std::vector<Found>& found,
                                         int max_num_crossings, const Monitor& monitor) {
  if (found.size() < 2 || problem.num_parts < 2) return {};
  Matrix<float> planes(static_cast<int64_t>(found.size()) * problem.num_parts, problem.d);
  for (size_t i = 0; i < found.size(); ++i)
    std::transform(found[i].planes.begin(), found[i].planes.end(),
                   planes.row(static_cast<int64_t>(i) * problem.num_parts),
                   [](double value) { return static_cast<float>(value); });
  std::vector<Crossing> crossings = list_crossings(problem, found, max_num_crossings);
  evaluate_crossings(problem, planes, monitor, crossings);
  std::stable_sort(crossings.begin(), crossings.end(),
                   [](const Crossing& a, const Crossing& b) { return a.objective < b.objective; });
  std::vector<CrossedStart> starts;
  double last = -1;
  for (const Crossing& crossing : crossings) {
    if (static_cast<int>(starts.size()) == max_num_crossings) break;
    // The same two planes come from either restart, and equal minima have equal planes.
    if (std::abs(crossing.objective - last) <= 1e-4 * std::abs(last)) continue;
    last = crossing.objective;
    CrossedStart start{crossing.base, found[crossing.base].planes, crossing.objective};
    std::copy_n(planes.row(crossing.plane), problem.d,
                start.planes.begin() + crossing.part * problem.d);
    starts.push_back(std::move(start));
  }
  return starts;
}

}  // namespace milieu::internal
