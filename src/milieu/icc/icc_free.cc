// SPDX-License-Identifier: Apache-2.0
// Climbing without a grid. A step is Newton's where the field is concave and Newton is short, else
// the mean shift of the class, gradient / density; it is halved until the field rises.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "milieu/base/parallel.h"
#include "milieu/icc/icc_free_internal.h"

namespace milieu::internal {

namespace {

constexpr int64_t kPlacesPerChunk = 1024;
constexpr int64_t kPlacesPerBlock = 32;
constexpr int64_t kPairsPerChunk = int64_t{1} << 21;  // of a place and a sample
constexpr int kMaxRounds = 300;
constexpr int kMaxNewtonDims = 16;
constexpr double kShortStep = 1e-3;  // in units of the kernel: a climb that moves less has ended
constexpr double kMinScale = 1e-3;

struct ClimbState {
  FieldPoint at;
  double scale = 1;  // of the mean shift; halved by every step that does not rise
  bool tries_newton = true;
  bool is_done = false;
};

// Newton's step if the curvature is negative definite and the step is at most one kernel long.
bool newton_step(const FieldPoint& at, std::vector<double>& step) {
  if (at.curvature.empty()) return false;
  const auto p = static_cast<Eigen::Index>(at.gradient.size());
  const Eigen::Map<const Eigen::MatrixXd> curvature(at.curvature.data(), p, p);
  const Eigen::Map<const Eigen::VectorXd> gradient(at.gradient.data(), p);
  const Eigen::LLT<Eigen::MatrixXd> factor(-curvature);
  if (factor.info() != Eigen::Success) return false;
  const Eigen::VectorXd move = factor.solve(gradient);
  if (!(move.norm() <= 1)) return false;
  step.assign(move.data(), move.data() + p);
  return true;
}

// The proposed move; its length.
double propose(const ClimbState& state, std::vector<double>& step) {
  if (!state.tries_newton || !newton_step(state.at, step)) {
    step = state.at.gradient;
    const double mass = std::max(state.at.mass, std::abs(state.at.value));
    for (double& entry : step) entry *= mass > 0 ? state.scale / mass : 0;
  }
  double squares = 0;
  for (const double entry : step) squares += entry * entry;
  const double length = std::sqrt(squares);
  if (length > 1)
    for (double& entry : step) entry /= length;
  return std::min(length, 1.0);
}

}  // namespace

DensityField::DensityField(FloatView samples, std::span<const int> classes, int num_classes,
                           double reach, IccWeight weight)
    : samples_(samples),
      classes_(classes),
      num_classes_(num_classes),
      counts_(num_classes + 1, 0.0),
      reach_(reach),
      weight_(weight),
      index_(samples) {
  for (const int c : classes)
    if (c >= 0) {
      ++counts_[c];
      ++n_;
    }
}

double DensityField::weight_of(int sample_class, int own_class) const {
  if (sample_class < 0) return 0;
  const bool is_density = weight_ == IccWeight::Density;
  if (sample_class == own_class) return is_density ? 1 / counts_[own_class] : 1;
  return is_density ? -1 / (n_ - counts_[own_class]) : -1;
}

RadiusNeighbors DensityField::neighbors(FloatView places, int num_threads) const {
  NeighborOptions options;
  options.num_threads = num_threads;
  options.is_sorted = false;
  return index_.within(places, reach_, options);
}

int64_t DensityField::chunk_size() const {
  return std::clamp<int64_t>(kPairsPerChunk / std::max<int64_t>(1, samples_.rows()),
                             kPlacesPerBlock, kPlacesPerChunk);
}

std::vector<FieldPoint> DensityField::evaluate(FloatView places, std::span<const int> of,
                                               int num_threads, const Monitor& monitor) const {
  std::vector<FieldPoint> points(places.rows());
  for (FieldPoint& at : points) at.gradient.assign(samples_.cols(), 0);
  for (int64_t begin = 0; begin < places.rows() && !monitor.should_stop(); begin += chunk_size()) {
    const int64_t end = std::min(places.rows(), begin + chunk_size());
    add_chunk(places.rows_between(begin, end), of.subspan(begin, end - begin), num_threads,
              std::span(points).subspan(begin, end - begin));
  }
  return points;
}

void DensityField::add_chunk(FloatView places, std::span<const int> of, int num_threads,
                             std::span<FieldPoint> points) const {
  const RadiusNeighbors near = neighbors(places, num_threads);
  const int64_t p = samples_.cols();
  const double edge = std::exp(-reach_ * reach_ / 2);
  parallel_for(places.rows(), kPlacesPerBlock, num_threads, [&](const Block& block) {
    std::vector<double> away(p);
    for (int64_t i = block.begin; i < block.end; ++i) {
      FieldPoint& at = points[i];
      if (p <= kMaxNewtonDims) at.curvature.assign(p * p, 0);
      for (int64_t e = near.offsets[i]; e < near.offsets[i + 1]; ++e) {
        const int sample = near.indices[e];
        const double weight = weight_of(classes_[sample], of[i]);
        const double g = weight * std::exp(-near.squared_distances[e] / 2);
        at.value += g - weight * edge;
        if (weight > 0) at.mass += g;
        for (int64_t j = 0; j < p; ++j) {
          away[j] = static_cast<double>(samples_(sample, j)) - places(i, j);
          at.gradient[j] += g * away[j];
        }
        if (at.curvature.empty()) continue;
        for (int64_t j = 0; j < p; ++j) {
          const double scaled = g * away[j];
          for (int64_t k = 0; k <= j; ++k) at.curvature[j * p + k] += scaled * away[k];
          at.curvature[j * p + j] -= g;
        }
      }
      for (int64_t j = 0; j < p && !at.curvature.empty(); ++j)
        for (int64_t k = 0; k < j; ++k) at.curvature[k * p + j] = at.curvature[j * p + k];
    }
  });
}

std::vector<double> DensityField::values(FloatView places, std::span<const int> of, int num_threads,
                                         const Monitor& monitor) const {
  std::vector<double> values(places.rows(), 0);
  const double edge = std::exp(-reach_ * reach_ / 2);
  for (int64_t begin = 0; begin < places.rows() && !monitor.should_stop(); begin += chunk_size()) {
    const int64_t end = std::min(places.rows(), begin + chunk_size());
    const RadiusNeighbors near = neighbors(places.rows_between(begin, end), num_threads);
    parallel_for(end - begin, kPlacesPerBlock, num_threads, [&](const Block& block) {
      for (int64_t i = block.begin; i < block.end; ++i)
        for (int64_t e = near.offsets[i]; e < near.offsets[i + 1]; ++e)
          values[begin + i] += weight_of(classes_[near.indices[e]], of[begin + i]) *
                               (std::exp(-near.squared_distances[e] / 2) - edge);
    });
  }
  return values;
}

std::vector<int> DensityField::best_classes(FloatView places, int num_threads,
                                            const Monitor& monitor) const {
  std::vector<int> best(places.rows(), 0);
  for (int64_t begin = 0; begin < places.rows() && !monitor.should_stop(); begin += chunk_size()) {
    const int64_t end = std::min(places.rows(), begin + chunk_size());
    const FloatView chunk = places.rows_between(begin, end);
    const RadiusNeighbors near = neighbors(chunk, num_threads);
    for (int64_t i = 0; i < chunk.rows(); ++i) {
      std::vector<double> masses(counts_.size(), 0.0);
      double total = 0;
      for (int64_t e = near.offsets[i]; e < near.offsets[i + 1]; ++e)
        if (classes_[near.indices[e]] >= 0) {
          const double g = std::exp(-near.squared_distances[e] / 2);
          masses[classes_[near.indices[e]]] += g;
          total += g;
        }
      double highest = -std::numeric_limits<double>::infinity();
      for (int c = 0; c < num_classes(); ++c) {
        const double context = total - masses[c];
        const double value = weight_ == IccWeight::Density
                                 ? masses[c] / counts_[c] - context / std::max(1.0, n_ - counts_[c])
                                 : masses[c] - context;
        if (value > highest) {
          highest = value;
          best[begin + i] = c;
        }
      }
    }
  }
  return best;
}

bool DensityField::climb(Matrix<float>& places, std::span<const int> of, int num_threads,
                         Monitor& monitor) const {
  for (int64_t begin = 0; begin < places.rows(); begin += kPlacesPerChunk) {
    monitor.on_progress("climbing", begin, places.rows());
    const int64_t end = std::min(places.rows(), begin + kPlacesPerChunk);
    if (!climb_chunk(places.view().rows_between(begin, end), of.subspan(begin, end - begin),
                     num_threads, monitor))
      return false;
  }
  return true;
}

// All places of a chunk move together, so that neighbours are searched for at once; each moves as
// if it were alone.
bool DensityField::climb_chunk(MatrixView<float> places, std::span<const int> of, int num_threads,
                               Monitor& monitor) const {
  const int64_t p = places.cols();
  std::vector<ClimbState> states(places.rows());
  {
    std::vector<FieldPoint> first = evaluate(places, of, num_threads, monitor);
    for (size_t i = 0; i < states.size(); ++i) states[i].at = std::move(first[i]);
  }
  std::vector<double> step;
  for (int round = 0; round < kMaxRounds; ++round) {
    if (monitor.should_stop()) return false;
    std::vector<int64_t> active;
    std::vector<int> active_classes;
    std::vector<float> proposed;
    for (int64_t i = 0; i < places.rows(); ++i) {
      ClimbState& state = states[i];
      if (state.is_done) continue;
      const double length = propose(state, step);
      if (length < kShortStep || state.scale < kMinScale) {
        state.is_done = true;
        continue;
      }
      active.push_back(i);
      active_classes.push_back(of[i]);
      for (int64_t j = 0; j < p; ++j)
        proposed.push_back(static_cast<float>(places(i, j) + step[j]));
    }
    if (active.empty()) return true;
    const FloatView next(proposed.data(), static_cast<int64_t>(active.size()), p);
    std::vector<FieldPoint> there = evaluate(next, active_classes, num_threads, monitor);
    if (monitor.should_stop()) return false;
    for (size_t a = 0; a < active.size(); ++a) {
      ClimbState& state = states[active[a]];
      if (there[a].value > state.at.value) {
        std::copy_n(next.row(static_cast<int64_t>(a)), p, places.row(active[a]));
        state = {std::move(there[a]), std::min(1.0, 2 * state.scale), true, false};
      } else if (state.tries_newton) {
        state.tries_newton = false;
      } else {
        state.scale /= 2;
      }
    }
  }
  return true;
}

}  // namespace milieu::internal
